package attempts

import (
	"bytes"
	"encoding/json"
)

// changed finds the records that somebody else changed. Attempts made since the ledger was written stay.
func changed(ours *fold, theirs *Ledger, now *fold) map[string]TaskRecord {
	out := map[string]TaskRecord{}
	for id := range ours.ledger.Tasks {
		if theirs.Tasks[id] == nil {
			theirs.Tasks[id] = &TaskRecord{}
		}
	}
	for id, rec := range theirs.Tasks {
		was := ours.ledger.Tasks[id]
		if was == nil {
			was = &TaskRecord{}
		}
		if sameJSON(was, rec) {
			continue
		}
		next := rec.clone()
		if was.Gate != nil && next.Gate == nil && next.CountFrom == was.CountFrom {
			next.CountFrom = len(next.Attempts) // as an ungate does
		}
		if latest := now.ledger.Tasks[id]; latest != nil && len(latest.Attempts) > len(was.Attempts) {
			next.Attempts = append(next.Attempts, latest.Attempts[len(was.Attempts):]...)
		}
		out[id] = next
	}
	return out
}

func sameHead(a, b *Ledger) bool {
	return a.EpicID == b.EpicID && a.StartedAt.Equal(b.StartedAt) && a.EndedAt.Equal(b.EndedAt) && a.Settings == b.Settings && a.Integration == b.Integration
}

func sameJSON(a, b any) bool {
	x, err := json.Marshal(a)
	if err != nil {
		return false
	}
	y, err := json.Marshal(b)
	return err == nil && bytes.Equal(x, y)
}

// accepted is the edit as an event.
func (c *contents) accepted() *Accepted { return &Accepted{Tasks: c.taken} }
