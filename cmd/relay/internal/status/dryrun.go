package status

import (
	"io"
	"math"
	"strconv"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/schedule"
	"relay/orchestrator/view"
)

// DryRun is what relay work --dry-run --json prints. Times are in minutes from the start, if tasks of this epic are
// done whose times are known, else in points.
type DryRun struct {
	Jobs      int               `json:"jobs"`
	Unit      string            `json:"unit"`     // minutes or points
	Makespan  float64           `json:"makespan"` // when the last task ends
	Chain     float64           `json:"longest_chain"`
	P50       float64           `json:"p50,omitempty"` // half of all runs like this one are over by then
	P90       float64           `json:"p90,omitempty"` // nine of ten are
	BasedOn   int               `json:"based_on"`      // tasks that are done
	Wait      *attempts.Waiting `json:"wait,omitempty"`
	Run       []PlannedTask     `json:"run"` // in the order they would begin
	Left      []SkippedTask     `json:"left"`
	Reviewers []string          `json:"epic_review,omitempty"` // reviewers who would be asked about the whole epic then
	Refused   string            `json:"refused,omitempty"`     // why relay work would not begin

	now, until time.Time // until: the deadline; zero: none
	done       string    // why nothing would run although nothing is left out
}

// PlannedTask is one task that would run.
type PlannedTask struct {
	Task   string  `json:"task"`
	Title  string  `json:"title"`
	Runner string  `json:"runner,omitempty"`
	Job    int     `json:"job"` // from 1
	Start  float64 `json:"start"`
	End    float64 `json:"end"`
}

// SkippedTask is one that would not, and why.
type SkippedTask struct {
	Task  string `json:"task"`
	Title string `json:"title"`
	Why   string `json:"why"`
}

// DryRunOptions are what the user asks of a dry run.
type DryRunOptions struct {
	Tasks  []string // only these and what they depend on; none: all
	AskNow bool     // usage limits that agents reported before do not count
	Now    time.Time
}

// NewDryRun computes what a run that begins now would do. It fails when the schedule cannot be computed, or the deadline of the
// configuration is none.
func NewDryRun(p *project.Project, pl *project.Plan, known *attempts.View, o DryRunOptions) (*DryRun, error) {
	r := &DryRun{Unit: "minutes", now: o.Now}
	ledger := known.Ledger
	wanted, err := schedule.Select(pl.Graph, o.Tasks)
	if err != nil {
		return nil, err
	}
	if o.AskNow {
		forgetful := *ledger
		forgetful.Cooldowns = nil
		ledger = &forgetful
	}
	estimator := withSettings(p, schedule.Estimator{Epic: pl.Epic, Graph: pl.Graph, Ledger: ledger, Tasks: o.Tasks}, r.now)
	planned, err := estimator.Timeline()
	if err != nil {
		return nil, err
	}
	foreseen, err := estimator.Forecast()
	if err != nil {
		return nil, err
	}
	if r.until, err = project.Deadline(p.Config.Relay.Until, r.now); err != nil {
		return nil, err
	}
	r.Jobs, r.Makespan, r.Chain, r.BasedOn = estimator.Jobs, planned.Makespan, planned.Chain, planned.BasedOn
	r.Run, r.Left = make([]PlannedTask, len(planned.Slots)), leftOut(ledger, pl, wanted)
	if r.BasedOn == 0 {
		r.Unit = "points"
	}
	if foreseen != nil {
		r.P50, r.P90 = foreseen.P50.Minutes(), foreseen.P90.Minutes()
	}
	for k, slot := range planned.Slots {
		t := &pl.Epic.Tasks[slot.Task]
		runner, _ := chooseRunner(p, t, func(name string) time.Duration {
			at := r.now
			if r.BasedOn > 0 {
				at = at.Add(schedule.Minutes(slot.Start))
			}
			return cooldownOf(ledger, name, at)
		})
		r.Run[k] = PlannedTask{t.ID, t.Title, runner, slot.Job + 1, slot.Start, slot.End}
	}
	r.Wait = firstWait(estimator, planned.Slots, r.now)
	r.addReviewers(p, pl, ledger)
	if r.done = "every task is completed"; len(o.Tasks) == 1 {
		r.done = o.Tasks[0] + " is completed"
	} else if len(o.Tasks) > 1 {
		r.done = plaintext.Some(o.Tasks, 5) + " are completed"
	}
	return r, nil
}

// firstWait returns what a run waits for at its beginning, or nil when it can start a task at once.
func firstWait(o schedule.Estimator, slots []schedule.Slot, now time.Time) *attempts.Waiting {
	first := time.Duration(math.MaxInt64)
	for _, slot := range slots {
		first = min(first, o.Opens(&o.Epic.Tasks[slot.Task]))
	}
	for name, c := range o.Ledger.Cooldowns {
		if len(slots) > 0 && first > 0 && c.Until.Sub(now) == first {
			return &attempts.Waiting{Until: c.Until, For: name, Why: c.Why}
		}
	}
	return nil
}

// addReviewers adds the reviewers that would be asked about the whole epic once nothing is left to do. They are asked again
// only when something has changed.
func (r *DryRun) addReviewers(p *project.Project, pl *project.Plan, l *attempts.Ledger) {
	c, last := decide.CountTasks(l, pl.Graph), l.LastEpicReview()
	open := c.Total - c.Completed
	if p.Config.QualityGate.Epic && open == len(r.Run) && (open > 0 || last == nil || last.Decision == "") {
		r.Reviewers = p.Agents.Reviewers()
	}
}

// leftOut lists the tasks that a gate keeps from running.
func leftOut(l *attempts.Ledger, pl *project.Plan, wanted []bool) []SkippedTask {
	left := []SkippedTask{}
	rows := view.New(view.Input{Epic: pl.Epic, Graph: pl.Graph, Ledger: l}).Rows()
	for _, i := range pl.Graph.Order() {
		t, why := rows[i], ""
		if gate := l.Record(t.ID).Gate; gate != nil {
			why = "gated: " + gate.Reason.Words()
		} else if len(t.BlockedBy) > 0 {
			why = "blocked by " + plaintext.Some(t.BlockedBy, attempts.MaxCauses)
		}
		if why != "" && (wanted == nil || wanted[i]) {
			left = append(left, SkippedTask{t.ID, t.Title, why})
		}
	}
	return left
}

// Write writes the dry run as text, in lines of at most width columns.
func (r *DryRun) Write(w io.Writer, width int) {
	Printer{Now: r.now, Width: width}.Print(w, "", "dryrun", r)
}

// Done says why nothing would run although nothing is left out.
func (r *DryRun) Done() string { return r.done }

// During says when a task would run.
func (r *DryRun) During(t PlannedTask) string {
	times := r.At(t.Start) + "-" + r.At(t.End)
	if r.BasedOn == 0 {
		return times + " points"
	}
	return times
}

// Least is how long it takes with more jobs at least.
func (r *DryRun) Least() float64 { return min(r.Chain, r.P50) }

// Late says by when a run would not have done all, and how much it lacks; "": it would.
func (r *DryRun) Late() string {
	late := r.now.Add(schedule.Minutes(r.P50)).Sub(r.until)
	if r.until.IsZero() || late <= 0 {
		return ""
	}
	return view.Near(r.until, r.now, time.Local) + ", about " + view.Roughly(late) + " more"
}

// At shows a time since the start.
func (r *DryRun) At(t float64) string {
	if r.BasedOn == 0 {
		return strconv.FormatFloat(math.Round(t*100)/100, 'f', -1, 64)
	}
	return view.Roughly(schedule.Minutes(t))
}
