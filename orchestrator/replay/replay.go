// Package replay repeats the decisions of a recorded run, reports those that differ, and simulates the same night with other
// settings. It is pure: package decide makes the decisions.
package replay

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"relay/attempts"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/verdict"
)

// Decision names a kind of decision.
type Decision string

// Kinds of decisions.
const (
	Start   Decision = "start"   // which task, with which runner
	Idle    Decision = "idle"    // that nothing was started although a job was free
	Wait    Decision = "wait"    // what the run waits for, and until when
	Stop    Decision = "stop"    // that nothing more is started, and why
	Budget  Decision = "budget"  // that an attempt or the run has used too much
	Gate    Decision = "gate"    // that a task was gated before its attempt began
	End     Decision = "end"     // whether an attempt is charged, whether its task is gated, and until when a runner is not asked
	Ruling  Decision = "ruling"  // which row of the table ruled on an attempt's evidence, and with which outcome
	Runner  Decision = "runner"  // that a runner may be asked again
	Landing Decision = "landing" // what could land, in which order
	Group   Decision = "group"   // how many of that shared a run of checks
	Undone  Decision = "undone"  // that a completed task is to be done again
	Review  Decision = "review"  // what the review of the whole epic means for the reviewers
)

// unchecked are the kinds that can be in [Unchecked], in words as after a number.
var unchecked = []struct {
	kind   Decision
	plural string
}{
	{Start, "starts of tasks"},
	{Wait, "waits"},
	{End, "ends of attempts"},
	{Ruling, "rulings on attempts"},
}

// Report holds the findings of a replay.
type Report struct {
	Run         string           `json:"run"`
	Decisions   int              `json:"decisions"` // that were repeated
	Kinds       map[Decision]int `json:"kinds"`     // of these
	Differences []Difference     `json:"differences"`
	Unchecked   []Unchecked      `json:"unchecked"`
	// Causes counts the rulings by the row that ruled.
	Causes map[verdict.Cause]int `json:"causes,omitempty"`
	Damage []string              `json:"damage,omitempty"` // of the log: where, and what is missing
}

// AsRecorded reports whether the log is whole and all was decided as it says.
func (r *Report) AsRecorded() bool { return len(r.Differences)+len(r.Damage) == 0 }

// damage returns what is wrong with the logs that a replay reads. That a log ends early is known by the ledger: a killed run has no end.
func damage(v *attempts.View, run string, last uint64) (found []string) {
	if v == nil {
		return nil
	}
	found = each.Where(v.Faults, func(f attempts.Fault) (string, bool) { return f.Error(), f.File != attempts.LedgerFile })
	if v.Ahead > last && v.Ledger.Folded.Run == run {
		found = append(found, fmt.Sprintf("%s: events %d to %d are missing at its end", attempts.EventsPath(run), last+1, v.Ahead))
	}
	return found
}

// Difference is a decision that would be another one now.
type Difference struct {
	Decision Decision  `json:"decision"`
	At       time.Time `json:"at"`
	Task     string    `json:"task,omitempty"`
	Then     string    `json:"then"`
	Now      string    `json:"now"`
}

// Unchecked are decisions of one kind that the log does not say enough of.
type Unchecked struct {
	Decision Decision `json:"decision"`
	Count    int      `json:"count"`
	Why      string   `json:"why"`
	Tasks    []string `json:"tasks,omitempty"` // they are about, each once
}

// New returns the report of a run of which nothing was looked at yet.
func New(run string) *Report {
	return &Report{Run: run, Kinds: map[Decision]int{}, Differences: []Difference{}, Unchecked: []Unchecked{}, Causes: map[verdict.Cause]int{}}
}

// Made counts a repeated decision.
func (r *Report) Made(d Decision) {
	r.Decisions++
	r.Kinds[d]++
}

// Differs adds a decision that is another one now. It was counted already.
func (r *Report) Differs(d Difference) {
	d.At = d.At.UTC()
	r.Differences = append(r.Differences, d)
}

// Cannot adds a decision that cannot be repeated.
func (r *Report) Cannot(d Decision, task, why string) {
	at := slices.IndexFunc(r.Unchecked, func(u Unchecked) bool { return u.Decision == d && u.Why == why })
	if at < 0 {
		at = len(r.Unchecked)
		r.Unchecked = append(r.Unchecked, Unchecked{Decision: d, Why: why})
	}
	u := &r.Unchecked[at]
	u.Count++
	if task != "" && !slices.Contains(u.Tasks, task) {
		u.Tasks = append(u.Tasks, task)
	}
}

// Summary says in one line what was found.
func (r *Report) Summary() string {
	switch {
	case r.Decisions == 0:
		return "no decision of run " + r.Run + " can be repeated"
	case len(r.Differences) == 0 && len(r.Damage) > 0:
		return fmt.Sprintf("%s of run %s: as recorded, in a log that is damaged", plaintext.Count(r.Decisions, "decision"), r.Run)
	case len(r.Differences) == 0:
		return fmt.Sprintf("%s of run %s: all as recorded", plaintext.Count(r.Decisions, "decision"), r.Run)
	}
	n := len(r.Differences)
	return fmt.Sprintf("%d of %s of run %s %s:", n, plaintext.Count(r.Decisions, "decision"), r.Run, plaintext.Verb(n, "differs", "differ"))
}

// Limits of the lines of a replay.
const (
	mostDifferences = 50
	mostTasks       = 10
)

// Lines returns the findings, the summary first. clock formats times.
func (r *Report) Lines(clock func(time.Time) string) []string {
	lines := []string{r.Summary()}
	lines = append(lines, each.Of(r.Damage, func(what string) string { return "damaged: " + what })...)
	for i, d := range r.Differences {
		if i == mostDifferences {
			lines = append(lines, fmt.Sprintf("  … and %d more; --json has all of them", len(r.Differences)-i))
			break
		}
		about := string(d.Decision)
		if d.Task != "" {
			about += " of " + d.Task
		}
		lines = append(lines, fmt.Sprintf("  %s  %s: then %s; now %s", clock(d.At), about, d.Then, d.Now))
	}
	if len(r.Causes) > 0 {
		lines = append(lines, "ruled by: "+r.causes())
	}
	for _, k := range unchecked {
		for _, u := range r.Unchecked {
			if u.Decision != k.kind {
				continue
			}
			line := fmt.Sprintf("cannot be checked: %d %s", u.Count, k.plural)
			if len(u.Tasks) > 0 {
				line += " (" + plaintext.Some(u.Tasks, mostTasks) + ")"
			}
			lines = append(lines, line+": "+u.Why)
		}
	}
	return lines
}

// causes lists the rows that ruled with how often, the most frequent first.
func (r *Report) causes() string {
	list := slices.SortedFunc(maps.Keys(r.Causes), func(a, b verdict.Cause) int {
		return cmp.Or(cmp.Compare(r.Causes[b], r.Causes[a]), cmp.Compare(a, b))
	})
	return strings.Join(each.Of(list, func(cause verdict.Cause) string { return fmt.Sprintf("%s (%d)", cause, r.Causes[cause]) }), ", ")
}
