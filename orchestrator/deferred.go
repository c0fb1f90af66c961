package orchestrator

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/review"
)

// DeferredFile is where findings are that did not hold a change up, a JSON object a line, in relay's folder. It is made
// from the ledger, as often as there is something new, and nothing is decided by it.
const DeferredFile = "deferred-findings.jsonl"

// deferred is one line of it.
type deferred struct {
	Version int       `json:"version"`
	Epic    string    `json:"epic"`
	Task    string    `json:"task"`    // "_epic": the review of the whole epic …
	Attempt int       `json:"attempt"` // … of this number
	Run     string    `json:"run"`
	At      time.Time `json:"at"` // when the attempt ended
	Head    string    `json:"head,omitempty"`
	Landed  bool      `json:"landed"` // the work with this finding is part of the epic
	Why     string    `json:"why"`    // "minor": below the bar of the strictness; "outside": not about the change
	review.Raised
}

// putOff writes the findings that were put off, when an attempt has added to them. A failure is told, and no more: the
// ledger has them all. The caller holds mu: two that end at once write one file.
func (r *run) writeDeferredFile(reviewed *attempts.Reviewed) {
	if reviewed == nil || len(reviewed.Deferred)+len(reviewed.Noted) == 0 {
		return
	}
	var text bytes.Buffer
	r.store.View(func(l *attempts.Ledger) { writeDeferred(&text, l) })
	path := filepath.Join(r.o.Dir, DeferredFile)
	err := errors.Join(os.RemoveAll(path+".new"), os.WriteFile(path+".new", text.Bytes(), 0o600)) // an agent's pipe would be waited for
	if err = errors.Join(err, os.Rename(path+".new", path)); err != nil {
		r.tell(Update{Kind: UpdateNote, Text: DeferredFile + " could not be written: " + err.Error()})
	}
}

func writeDeferred(text *bytes.Buffer, l *attempts.Ledger) {
	out := json.NewEncoder(text)
	write := func(line deferred, r *attempts.Reviewed) {
		line.Version, line.Epic = 1, l.EpicID
		for i, list := range [][]review.Raised{r.Deferred, r.Noted} {
			line.Why = []string{"minor", "outside"}[i]
			for _, line.Raised = range list {
				_ = out.Encode(line) // into memory: it cannot fail
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(l.Tasks)) {
		for _, a := range l.Tasks[id].Attempts {
			if r := a.Receipt.Review; r != nil {
				write(deferred{Task: id, Attempt: a.ID, Run: a.Run, At: a.EndedAt, Head: a.Head, Landed: a.Result == attempts.ResultSuccess}, r)
			}
		}
	}
	for i := range l.EpicReviews {
		r := &l.EpicReviews[i]
		write(deferred{Task: engine.WholeEpic, Attempt: i + 1, Run: r.Run, At: r.At, Head: r.Head, Landed: true}, &r.Reviewed)
	}
}
