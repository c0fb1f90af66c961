package orchestrator

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
	"relay/orchestrator/text"
	"relay/orchestrator/worker"
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

// resealed tells of checks and protected paths that are not those of the run before, and of tasks whose acceptance is not
// what their last attempt was measured by. It may be the user's doing, or that of an agent which found a plan to write in.
func resealed(o *Options, l *attempts.Ledger) []string {
	var said []string
	named := make(map[string]bool)
	if l.Sealed != "" && l.Sealed != sealAll(o.Epic) {
		kept := filepath.Join(o.Dir, attempts.RunsDir, l.Run, worker.PlanFile)
		if before := sealedPlan(kept, l.Sealed); before != nil {
			said = compareTerms(before, o.Epic, l, named)
		} else {
			said = []string{"the checks or protected paths of this plan are not those of the last run; what they were, " + filepath.ToSlash(filepath.Join(attempts.RunsDir, l.Run, worker.PlanFile)) + " does not say any more: " + lookAtPlan}
		}
	}
	var changed []string
	for i := range o.Epic.Tasks {
		t := &o.Epic.Tasks[i]
		rec := l.Tasks[t.ID]
		if rec == nil || rec.Completed || len(rec.Attempts) == 0 || named[t.ID] || named[engine.WholeEpic] {
			continue
		}
		if last := rec.Attempts[len(rec.Attempts)-1].Sealed; last != "" && last != seal(o.Epic, t) {
			changed = append(changed, t.ID)
		}
	}
	if len(changed) > 0 {
		said = append(said, "the checks or protected paths of "+text.Listed(changed)+" are not what the last attempt was measured by; "+lookAtPlan)
	}
	return said
}

const lookAtPlan = "if that was not you, look at epic.yml"

// sealedPlan reads the plan a run began with; nil when it is not what that run has sealed.
func sealedPlan(path, sealed string) *epic.Epic {
	if !worker.Readable(path) {
		return nil
	}
	source, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	e, err := epic.Read(path, source)
	if err != nil || sealAll(e) != sealed {
		return nil
	}
	return e
}

// mostResealed is how many tasks are told of with what their acceptance was.
const mostResealed = 5

// compareTerms says what of the acceptance of two plans differs, for the epic and for tasks that both have and that are to
// be done still. It puts down whom it has named.
func compareTerms(before, now *epic.Epic, l *attempts.Ledger, named map[string]bool) []string {
	var said []string
	tell := func(id, of string, was, is acceptanceTerms) {
		for _, part := range []struct {
			what    string
			was, is []string
		}{{"checks", spelled(was.Checks), spelled(is.Checks)}, {"protected paths", was.Protected, is.Protected}} {
			if slices.Equal(part.was, part.is) {
				continue
			}
			named[id] = true
			said = append(said, fmt.Sprintf("the %s of %s are not those of the last run: %s before, and now %s; %s", part.what, of, listedOrNone(part.was), listedOrNone(part.is), lookAtPlan))
		}
	}
	tell(engine.WholeEpic, "the epic", acceptanceTerms{Checks: before.Checks, Protected: before.Protected}, acceptanceTerms{Checks: now.Checks, Protected: now.Protected})
	for i := range now.Tasks {
		t := &now.Tasks[i]
		was, known := before.Task(t.ID)
		if rec := l.Tasks[t.ID]; known && (rec == nil || !rec.Completed) {
			tell(t.ID, t.ID, acceptanceTerms{Checks: was.Checks, Protected: was.Protected}, acceptanceTerms{Checks: t.Checks, Protected: t.Protected})
		}
	}
	if rest := len(said) - mostResealed; rest > 0 {
		said = append(said[:mostResealed], fmt.Sprintf("and %d more like this", rest))
	}
	return said
}

// spelled writes checks out as far as they decide.
func spelled(checks []epic.Check) []string {
	var list []string
	for _, c := range checks {
		text := c.Run
		if c.Expect != epic.ExpectPass {
			text += " (expect: " + string(c.Expect) + ")"
		}
		if c.Timeout > 0 {
			text += fmt.Sprintf(" (at most %s)", c.Timeout)
		}
		list = append(list, text)
	}
	return list
}

func listedOrNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return text.Listed(names)
}
