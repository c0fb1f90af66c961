package attempts

import (
	"encoding/json"
	"maps"
	"slices"
)

// baseEvents counts the records that say anything.
func (f *fold) baseEvents() int {
	n := 0
	for _, rec := range f.ledger.Tasks {
		if !rec.blank() {
			n++
		}
	}
	return n
}

// asBase writes the whole state as the events a log can begin with, in parts that are not too large to read.
func (f *fold) asBase() []Event {
	l := f.ledger
	base := Base{
		EpicID: l.EpicID, StartedAt: l.StartedAt, EndedAt: l.EndedAt, Settings: l.Settings,
		Integration: l.Integration, Extra: f.extra, EpicReviews: l.EpicReviews, Status: l.Status,
	}
	var parts []*Accepted
	size := bigEvent
	for _, id := range slices.Sorted(maps.Keys(l.Tasks)) {
		rec := l.Tasks[id]
		text, err := json.Marshal(rec)
		if err != nil || rec.blank() {
			continue
		}
		if size += len(text); size > bigEvent {
			parts = append(parts, &Accepted{Tasks: map[string]TaskRecord{}})
			size = len(text)
		}
		parts[len(parts)-1].Tasks[id] = rec.clone()
	}
	if len(parts) == 0 {
		parts = []*Accepted{{}}
	}
	events := make([]Event, len(parts))
	for i, p := range parts {
		b := base
		b.Part, b.Parts = i+1, len(parts)
		if i > 0 {
			b.Extra, b.EpicReviews = "", nil
		}
		p.Base = &b
		events[i] = Event{Type: TypeAccepted, Accepted: p}
	}
	return events
}
