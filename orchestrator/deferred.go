package orchestrator

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/review"
)

// DeferredFile is the file in relay's folder with the findings that did not hold a change up, a JSON object a line. It is made
// from the ledger, and nothing is decided by it.
const DeferredFile = "deferred-findings.jsonl"

// deferred is one line of DeferredFile.
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
