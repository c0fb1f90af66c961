package orchestrator

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"

	"relay/attempts"
	"relay/epic"
	"relay/epic/plaintext"
	"relay/orchestrator/guard"
)

// acceptanceTerms are the checks of a task and of the epic, and the paths that may not be changed.
type acceptanceTerms struct {
	Checks    []epic.Check
	Protected []string
	Task      []epic.Check
	Own       []string
}

// SealTask returns the SHA-256, in hex, of what decides whether a task is done: two attempts with the same one were measured alike.
func SealTask(e *epic.Epic, t *epic.Task) string {
	return digest(acceptanceTerms{e.Checks, e.Protected, t.Checks, t.Protected})
}

// SealEpic returns the SHA-256, in hex, of what decides whether each of the tasks is done.
func SealEpic(e *epic.Epic) string {
	terms := make(map[string]acceptanceTerms, len(e.Tasks)+1)
	terms[""] = commonTerms(e)
	for i := range e.Tasks {
		terms[e.Tasks[i].ID] = ownTerms(&e.Tasks[i])
	}
	return digest(terms)
}

func commonTerms(e *epic.Epic) acceptanceTerms {
	return acceptanceTerms{Checks: e.Checks, Protected: e.Protected}
}

func ownTerms(t *epic.Task) acceptanceTerms { return acceptanceTerms{Task: t.Checks, Own: t.Protected} }

func digest(terms any) string {
	text, err := json.Marshal(terms) // maps in the order of their keys
	if err != nil {
		panic("seal: acceptance terms are plain data: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// SealChanges returns, in words, which open tasks have other checks or protected paths than in the last run in the ledger, or at their last
// attempt, and whether the epic has. dir is relay's folder. Either the user or an agent may have changed them.
func SealChanges(e *epic.Epic, dir string, l *attempts.Ledger) (warnings []string) {
	plan := filepath.ToSlash(filepath.Join(attempts.RunsDir, l.Run, guard.PlanFile))
	var before *epic.Epic
	if l.Sealed != "" && l.Sealed != SealEpic(e) {
		if before = sealedPlan(filepath.Join(dir, filepath.FromSlash(plan)), l.Sealed); before == nil {
			warnings = []string{"the checks or protected paths of this plan are not those of the last run; what they were, " + plan + " does not say any more: " + checkPlanHint}
		}
	}
	var changed []string
	whole := before != nil && digest(commonTerms(before)) != digest(commonTerms(e))
	if whole {
		changed = []string{"the epic"}
	}
	for i := range e.Tasks {
		t := &e.Tasks[i]
		rec := l.Record(t.ID)
		if rec.Completed {
			continue
		}
		if hasOtherTerms(before, t) || !whole && measuredOtherwise(e, t, rec.Attempts) {
			changed = append(changed, t.ID)
		}
	}
	if len(changed) > 0 {
		warnings = append(warnings, "the checks or protected paths of "+plaintext.Listed(changed)+" are not those of the last run, "+plan+"; "+checkPlanHint)
	}
	return warnings
}

// hasOtherTerms reports whether a task has other checks or protected paths than in an earlier plan; nil has no tasks.
func hasOtherTerms(before *epic.Epic, t *epic.Task) bool {
	if before == nil {
		return false
	}
	was, found := before.Task(t.ID)
	return found && digest(ownTerms(was)) != digest(ownTerms(t))
}

// measuredOtherwise reports whether a task's last attempt had other checks or protected paths.
func measuredOtherwise(e *epic.Epic, t *epic.Task, all []attempts.Attempt) bool {
	if len(all) == 0 {
		return false
	}
	last := all[len(all)-1].Sealed
	return last != "" && last != SealTask(e, t)
}

const checkPlanHint = "if that was not you, look at epic.yml"

// sealedPlan reads the plan that a run began with. It returns nil if it cannot be read, or its hash is not the sealed one.
func sealedPlan(path, sealed string) *epic.Epic {
	if !guard.Readable(path) {
		return nil
	}
	source, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	e, err := epic.Read(path, source)
	if err != nil || SealEpic(e) != sealed {
		return nil
	}
	return e
}
