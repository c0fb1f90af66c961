package decide

import (
	"fmt"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/epic/plaintext"
	"relay/orchestrator/limits"
	"relay/review"
)

// EndReason is why a run ended, as the ledger's last_exit_reason has it.
type EndReason string

// Reasons that are not limits of the run.
const (
	EpicComplete    EndReason = "epic_complete"
	NoRunnableTasks EndReason = "no_runnable_tasks"
	Interrupted     EndReason = "interrupted"
	Reload          EndReason = "reload"           // to begin again with the plan as it is by then
	BudgetExhausted EndReason = "budget_exhausted" // a cap on the run or the epic is reached, and more could have been done
	Failed          EndReason = "error"

	// Every task is completed, and the review of the whole epic wants more, or has not been made since.
	EpicRefused  EndReason = "epic_refused"
	EpicUnjudged EndReason = "epic_not_reviewed"
	// Every task is completed, and a person has to look at some.
	EpicLooks EndReason = "needs_a_look"
	// Every task was completed, and later work has broken what an earlier one was proved by, more often than it is mended.
	EpicUndone EndReason = "epic_undone"
)

// Summary is the result of a run.
type Summary struct {
	Run      string
	Reason   EndReason
	Why      string // in words, of a Reason that is a limit
	Counts   Counts
	Elapsed  time.Duration
	Usage    attempts.Usage // of this run
	Ended    int            // attempts that ended in this run
	Left     int            // tasks of this run's selection that are not completed
	Suspends []limits.Sleep // in which the machine slept meanwhile
	// Regressed are checks of completed tasks, and of the epic, that fail on the integration branch at the end, in words.
	Regressed []string
	// Undone are the completed tasks among them whose own checks fail.
	Undone []string
	// Looks are the completed tasks of this run's selection that a person has to look at, see [attempts.TaskRecord].
	Looks []string
	// Tip is the commit on which they were run; "" : nothing has landed, or the run was cut short.
	Tip string
}

// Counts are the tasks of the epic by state.
type Counts struct {
	Total      int `json:"total"`
	Completed  int `json:"completed"`
	InProgress int `json:"in_progress"`
	Pending    int `json:"pending"`
	Blocked    int `json:"blocked"`
	Gated      int `json:"gated"`
}

// CountsOf returns the counts of a ledger.
func CountsOf(by map[attempts.Status]int) Counts {
	c := Counts{
		Completed: by[attempts.Completed], InProgress: by[attempts.InProgress],
		Pending: by[attempts.Pending], Blocked: by[attempts.BlockedOn], Gated: by[attempts.Gated],
	}
	c.Total = c.Completed + c.InProgress + c.Pending + c.Blocked + c.Gated
	return c
}

// CountTasks counts the tasks of an epic by state.
func CountTasks(l *attempts.Ledger, g *epic.Graph) Counts {
	by := map[attempts.Status]int{}
	for i := range g.Len() {
		by[l.StatusOf(g, g.ID(i))]++
	}
	return CountsOf(by)
}

// EpicVerdict returns the result of an epic review in words.
func EpicVerdict(r *attempts.EpicReview) string {
	switch {
	case r.Decision == "":
		return "could not be reviewed: " + r.Why
	case len(r.Added) > 0:
		return "not reviewed since these were added: " + plaintext.Listed(r.Added)
	}
	text := string(r.Decision)
	if len(r.Findings) > 0 {
		text += fmt.Sprintf(", %d to be done", len(r.Findings))
	}
	if r.Split {
		text += "; the reviewers disagree"
	}
	if r.Summary != "" {
		text += ": " + r.Summary
	}
	return text
}

// EpicReason returns why a run has ended whose every task is completed, by the last review of the whole epic; nil if nothing was
// to be reviewed. unjudged is why the panel was not asked; "" if it was.
func EpicReason(last *attempts.EpicReview, unjudged string) (reason EndReason, why string) {
	switch {
	case unjudged != "":
		return EpicUnjudged, "the whole epic: not reviewed, for " + unjudged
	case last == nil, last.Decision == review.Approved && len(last.Added) == 0:
		return EpicComplete, ""
	case last.Decision == "" || len(last.Added) > 0:
		return EpicUnjudged, "the whole epic: " + EpicVerdict(last)
	}
	return EpicRefused, "the whole epic: " + EpicVerdict(last)
}

// TasksToLookAt returns the completed tasks of a selection that a person has to look at.
func TasksToLookAt(g *epic.Graph, l *attempts.Ledger, wanted []bool) (ids []string) {
	for i := range g.Len() {
		id := g.ID(i)
		if (wanted == nil || wanted[i]) && len(l.Record(id).Looks()) > 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// NoteLooks changes the reason of a run that has completed everything if a person has to look at some tasks.
func (s *Summary) NoteLooks() {
	if s.Left == 0 && len(s.Looks) > 0 && (s.Reason == EpicComplete || s.Reason == NoRunnableTasks) {
		s.Reason = EpicLooks
	}
}

// Completes reports whether nothing is left for a run to do.
func (r EndReason) Completes() bool { return r == EpicComplete || r == EpicLooks }

// TasksLeft returns how many tasks of a selection are not completed.
func TasksLeft(g *epic.Graph, l *attempts.Ledger, wanted []bool) int {
	count := 0
	for i := range g.Len() {
		if (wanted == nil || wanted[i]) && !l.Record(g.ID(i)).Completed {
			count++
		}
	}
	return count
}
