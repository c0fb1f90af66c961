package orchestrator

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"relay/attempts"
	"relay/epic"
)

// acceptanceTerms is what decides whether a task is done: its checks, the epic's, and what neither may change.
type acceptanceTerms struct {
	Checks    []epic.Check
	Protected []string
	Task      []epic.Check
	Own       []string
}

// seal is the hash of a task's acceptance as this run holds it, in hex. Whoever reads the log can tell from it whether
// two attempts were measured alike.
func seal(e *epic.Epic, t *epic.Task) string {
	return digest(acceptanceTerms{e.Checks, e.Protected, t.Checks, t.Protected})
}

// sealAll is the hash of the acceptance of the whole epic.
func sealAll(e *epic.Epic) string {
	terms := make(map[string]acceptanceTerms, len(e.Tasks)+1)
	terms[""] = acceptanceTerms{Checks: e.Checks, Protected: e.Protected}
	for i := range e.Tasks {
		terms[e.Tasks[i].ID] = acceptanceTerms{Task: e.Tasks[i].Checks, Own: e.Tasks[i].Protected}
	}
	return digest(terms)
}

func digest(terms any) string {
	text, err := json.Marshal(terms) // maps in the order of their keys
	if err != nil {
		panic("orchestrator: acceptance terms are plain data: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// resealed tells of tasks whose acceptance is not what their last attempt was measured by; "" when there are none. It
// may be the user's doing, or that of an agent which found a plan to write in.
func resealed(e *epic.Epic, l *attempts.Ledger) string {
	var changed []string
	for i := range e.Tasks {
		t := &e.Tasks[i]
		rec := l.Tasks[t.ID]
		if rec == nil || rec.Completed || len(rec.Attempts) == 0 {
			continue
		}
		if last := rec.Attempts[len(rec.Attempts)-1].Sealed; last != "" && last != seal(e, t) {
			changed = append(changed, t.ID)
		}
	}
	if len(changed) == 0 {
		return ""
	}
	return "the checks or protected paths of " + listed(changed) + " are not what the last attempt was measured by; if that was not you, look at epic.yml"
}
