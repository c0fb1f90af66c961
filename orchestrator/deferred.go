package orchestrator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
	"relay/review"
)

// deferredFile is the file in relay's folder with the findings that did not hold a change up, a JSON object a line. It is made
// from the ledger, and nothing is decided by it.
const deferredFile = "deferred-findings.jsonl"

// line is one line of deferredFile.
type line struct {
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

// deferredLines returns the lines of deferredFile.
func deferredLines(l *attempts.Ledger) []byte {
	var text bytes.Buffer
	out := json.NewEncoder(&text)
	write := func(one line, r *attempts.Reviewed) {
		one.Version, one.Epic = 1, l.EpicID
		for i, list := range [][]review.Raised{r.Deferred, r.Noted} {
			one.Why = []string{"minor", "outside"}[i]
			for _, one.Raised = range list {
				_ = out.Encode(one) // into memory: it cannot fail
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(l.Tasks)) {
		for _, a := range l.Tasks[id].Attempts {
			if r := a.Receipt.Review; r != nil {
				write(line{Task: id, Attempt: a.ID, Run: a.Run, At: a.EndedAt, Head: a.Head, Landed: a.Result == attempts.ResultSuccess}, r)
			}
		}
	}
	for i := range l.EpicReviews {
		r := &l.EpicReviews[i]
		write(line{Task: engine.WholeEpic, Attempt: i + 1, Run: r.Run, At: r.At, Head: r.Head, Landed: true}, &r.Reviewed)
	}
	return text.Bytes()
}

// DeferredInWords lists, for a prompt, what reviewers have found in landed tasks and left to be done later.
func DeferredInWords(e *epic.Epic, task func(id string) attempts.TaskRecord) (list []string) {
	for i := range e.Tasks {
		id := e.Tasks[i].ID
		for _, a := range task(id).Attempts {
			if r := a.Receipt.Review; r != nil && a.Result == attempts.ResultSuccess {
				for _, f := range slices.Concat(r.Deferred, r.Noted) {
					list = append(list, strings.TrimSpace(fmt.Sprintf("%s (%s) %s", id, f.Severity, f.File))+": "+f.Issue)
				}
			}
		}
	}
	return list
}
