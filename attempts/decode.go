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

// decode reads the text of one line, which anyone may have written.
func (d *decoder) decode(text []byte, e *Event) (err error) {
	d.line.Event = Event{}
	if d.scan.Decode(text, &d.line) {
		*e = d.line.Event
	} else {
		*e = Event{}
		err = json.Unmarshal(text, e)
	}
	canonical(e)
	for i := range e.Steps {
		e.Steps[i].Rules = copied(e.Steps[i].Rules, func(r *Rules) { r.Jobs = min(max(r.Jobs, 0), MaxJobs) })
	}
	return err
}
