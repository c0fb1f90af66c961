package attempts

import "relay/attempts/internal/durable"

// decode reads the text of one line, which anyone may have written. A run of 10,000 tasks leaves some 35,000 of them, which status has to
// read in a moment.
func decode(text []byte, e *Event) error {
	*e = Event{}
	err := durable.Unmarshal(text, e)
	canonical(e)
	for i := range e.Steps {
		e.Steps[i].Rules = copied(e.Steps[i].Rules, func(r *Rules) { r.Jobs = min(max(r.Jobs, 0), MaxJobs) })
	}
	return err
}
