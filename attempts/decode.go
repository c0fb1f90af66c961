package attempts

import (
	"encoding/json"

	"relay/attempts/internal/jsonscan"
)

// decoder reads events. A run of 10,000 tasks leaves some 35,000 of them, which status has to read in a moment.
type decoder struct {
	scan jsonscan.Scanner
	line struct {
		Checksum string `json:"crc"`
		Event
	}
}

// decode reads the text of one line.
func (d *decoder) decode(text []byte, e *Event) error {
	d.line.Event = Event{}
	if d.scan.Decode(text, &d.line) {
		*e = d.line.Event
		return nil
	}
	*e = Event{}
	return json.Unmarshal(text, e)
}
