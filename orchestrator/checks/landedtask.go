package checks

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/engine"
	"relay/orchestrator/verdict"
)

// landedTask is a completed task with the commit that has its work. Tasks with the same commit landed together.
type landedTask struct {
	a           engine.Attempt
	at          int // in the plan
	landed      string
	began, when time.Time // its attempt, and the end of that
	files       []string  // that it changed
}

// landedBefore lists the completed tasks that landed before tip, one for each list of checks, in the order of the plan. It leaves out
// checks that have just run on tip: those of the epic, and of what landed last, whose attempt it returns too; and it returns the tasks of
// which checks proved nothing when they landed, with the files that only they changed since they began: without the others, checks that
// fail may prove other tasks.
func (f *RegressionFinder) landedBefore(tip string) (list, blind []landedTask, last engine.Attempt) {
	var all []landedTask
	asked, ofEpic := make(map[string]bool), commands(f.Epic.Checks)
	whole := func(checks []epic.Check) string { return strings.Join(commands(checks), "\x00") }
	f.View(func(l *attempts.Ledger) {
		for i, t := range f.Epic.Tasks {
			rec := l.Record(t.ID)
			if !rec.Completed || len(rec.Attempts) == 0 {
				continue
			}
			end := &rec.Attempts[len(rec.Attempts)-1]
			a := engine.Attempt{Run: end.Run, Task: t, Number: end.ID, Base: end.Base}
			one := landedTask{a, i, f.Checker.Commit(*end), end.StartedAt, end.EndedAt, end.Receipt.FilesChanged}
			if one.landed == "" {
				continue
			}
			if all = append(all, one); verdict.Blind(rec.Looks()) {
				blind = append(blind, one)
			}
			if one.landed == tip {
				asked[whole(t.Checks)], last = true, a
			} else {
				list = append(list, one)
			}
		}
	})
	for i, b := range blind {
		blind[i].files = slices.DeleteFunc(slices.Clone(b.files), func(p string) bool {
			return slices.ContainsFunc(all, func(o landedTask) bool { return o.at != b.at && o.when.After(b.began) && slices.Contains(o.files, p) })
		})
	}
	list = slices.DeleteFunc(list, func(landed landedTask) bool {
		checks := landed.a.Task.Checks
		redundant := asked[whole(checks)] || !slices.ContainsFunc(checks, func(c epic.Check) bool { return !slices.Contains(ofEpic, c.Run) })
		asked[whole(checks)] = true
		return redundant
	})
	return list, blind, last
}

func commands(checks []epic.Check) []string {
	return each.Of(checks, func(check epic.Check) string { return check.Run })
}

// fails returns, in words, that a check of the task fails, and what has landed since the task did.
func (r landedTask) fails(why string, since []string) string {
	landed := plaintext.FirstOf(plaintext.Listed(since), "a person's commits")
	return "a check of " + r.a.Task.ID + " fails by now: " + why + " (landed since: " + landed + ")"
}

// landedSince names the tasks whose work is in commits after that of r, the last one first.
func (f *RegressionFinder) landedSince(task landedTask) (ids []string) {
	ended := make(map[string]time.Time)
	f.View(func(l *attempts.Ledger) {
		for id, rec := range l.Tasks {
			for i := range rec.Attempts {
				a := &rec.Attempts[i]
				commit := f.Checker.Commit(*a)
				other := a.Result == attempts.ResultSuccess && commit != "" && commit != task.landed
				if other && a.EndedAt.After(task.when) {
					ended[id] = a.EndedAt
				}
			}
		}
	})
	return slices.SortedFunc(maps.Keys(ended), func(a, b string) int {
		return cmp.Or(ended[b].Compare(ended[a]), cmp.Compare(a, b))
	})
}
