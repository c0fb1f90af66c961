// Package seal hashes what decides whether a task is done, and compares it with what an earlier run went by. It reads plans that
// ended runs have kept and writes nothing.
package seal

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
	"relay/orchestrator/guard"
	"relay/orchestrator/text"
)

// acceptanceTerms are the checks of a task and of the epic, and the paths that may not be changed.
type acceptanceTerms struct {
	Checks    []epic.Check
	Protected []string
	Task      []epic.Check
	Own       []string
}

// Task returns the SHA-256, in hex, of what decides whether a task is done: two attempts with the same one were measured alike.
func Task(e *epic.Epic, t *epic.Task) string {
	return digest(acceptanceTerms{e.Checks, e.Protected, t.Checks, t.Protected})
}

// Epic returns the SHA-256, in hex, of what decides whether each of the tasks is done.
func Epic(e *epic.Epic) string {
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
		panic("seal: acceptance terms are plain data: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Changes returns, in words, the checks and protected paths of e that differ from those of the last run in the ledger, and the
// tasks whose last attempt was measured by others. dir is relay's folder. Either the user or an agent may have changed them.
func Changes(e *epic.Epic, dir string, l *attempts.Ledger) []string {
	var warnings []string
	named := make(map[string]bool)
	if l.Sealed != "" && l.Sealed != Epic(e) {
		kept := filepath.Join(dir, attempts.RunsDir, l.Run, guard.PlanFile)
		if before := sealedPlan(kept, l.Sealed); before != nil {
			warnings = compareTerms(before, e, l, named)
		} else {
			warnings = []string{"the checks or protected paths of this plan are not those of the last run; what they were, " + filepath.ToSlash(filepath.Join(attempts.RunsDir, l.Run, guard.PlanFile)) + " does not say any more: " + checkPlanHint}
		}
	}
	var changed []string
	for i := range e.Tasks {
		t := &e.Tasks[i]
		rec := l.Tasks[t.ID]
		if rec == nil || rec.Completed || len(rec.Attempts) == 0 || named[t.ID] || named[engine.WholeEpic] {
			continue
		}
		if last := rec.Attempts[len(rec.Attempts)-1].Sealed; last != "" && last != Task(e, t) {
			changed = append(changed, t.ID)
		}
	}
	if len(changed) > 0 {
		warnings = append(warnings, "the checks or protected paths of "+text.Listed(changed)+" are not what the last attempt was measured by; "+checkPlanHint)
	}
	return warnings
}

const checkPlanHint = "if that was not you, look at epic.yml"

// sealedPlan reads the plan a run began with; nil if it cannot be read, or its hash is not the sealed one.
func sealedPlan(path, sealed string) *epic.Epic {
	if !guard.Readable(path) {
		return nil
	}
	source, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	e, err := epic.Read(path, source)
	if err != nil || Epic(e) != sealed {
		return nil
	}
	return e
}

// mostCompared is how many differences are listed in full.
const mostCompared = 5

// compareTerms reports how two plans differ in checks and protected paths, for the epic and for the tasks that both have and
// that are not completed. It adds the ids it names to named.
func compareTerms(before, now *epic.Epic, l *attempts.Ledger, named map[string]bool) []string {
	var warnings []string
	compare := func(id, of string, was, is acceptanceTerms) {
		for _, part := range []struct {
			what    string
			was, is []string
		}{{"checks", spelled(was.Checks), spelled(is.Checks)}, {"protected paths", was.Protected, is.Protected}} {
			if slices.Equal(part.was, part.is) {
				continue
			}
			named[id] = true
			warnings = append(warnings, fmt.Sprintf("the %s of %s are not those of the last run: %s before, and now %s; %s", part.what, of, listedOrNone(part.was), listedOrNone(part.is), checkPlanHint))
		}
	}
	compare(engine.WholeEpic, "the epic",
		acceptanceTerms{Checks: before.Checks, Protected: before.Protected},
		acceptanceTerms{Checks: now.Checks, Protected: now.Protected})
	for i := range now.Tasks {
		t := &now.Tasks[i]
		was, found := before.Task(t.ID)
		if rec := l.Tasks[t.ID]; found && (rec == nil || !rec.Completed) {
			compare(t.ID, t.ID,
				acceptanceTerms{Checks: was.Checks, Protected: was.Protected},
				acceptanceTerms{Checks: t.Checks, Protected: t.Protected})
		}
	}
	if rest := len(warnings) - mostCompared; rest > 0 {
		warnings = append(warnings[:mostCompared], fmt.Sprintf("and %d more like this", rest))
	}
	return warnings
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
