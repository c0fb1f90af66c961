package attempts

import (
	"bytes"
	"encoding/json"

	fast "github.com/segmentio/encoding/json"
)

// decode reads the text of one line, which anyone may have written. A run of 10,000 tasks leaves some 35,000 of them, which status has to
// read in a moment: encoding/json takes four times as long, and reads only the lines that the fast decoder refuses, and those that may be
// nested too deep. The fast decoder has no limit of depth, and would exhaust the stack.
func decode(text []byte, e *Event) (err error) {
	const deepest = 10_000 // for encoding/json
	*e = Event{}
	if bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > deepest || fast.Unmarshal(text, e) != nil {
		*e = Event{}
		err = json.Unmarshal(text, e)
	}
	canonical(e)
	for i := range e.Steps {
		e.Steps[i].Rules = copied(e.Steps[i].Rules, func(r *Rules) { r.Jobs = min(max(r.Jobs, 0), MaxJobs) })
	}
	return err
}
