package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic"
	"relay/orchestrator"
)

// rehearsal is what relay work --dry-run --json prints. Times are in minutes from the start, if tasks of this epic are
// done whose times can be gone by, else in points.
type rehearsal struct {
	Jobs     int          `json:"jobs"`
	Unit     string       `json:"unit"`     // minutes or points
	Makespan float64      `json:"makespan"` // when the last task ends
	Chain    float64      `json:"longest_chain"`
	P50      float64      `json:"p50,omitempty"` // half of all runs like this one are over by then
	P90      float64      `json:"p90,omitempty"` // nine of ten are
	BasedOn  int          `json:"based_on"`      // tasks that are done
	Wait     *pause       `json:"wait,omitempty"`
	Run      []rehearsed  `json:"run"` // in the order they would begin
	Left     []notStarted `json:"left"`
	Judges   []string     `json:"epic_review,omitempty"` // reviewers who would be asked about the whole epic then
	Refused  string       `json:"refused,omitempty"`     // why relay work would not begin

	now, until time.Time // until: the deadline; zero: none
	done       string    // why nothing would run although nothing is left out
}

// rehearsed is one task that would run.
type rehearsed struct {
	Task   string  `json:"task"`
	Title  string  `json:"title"`
	Runner string  `json:"runner,omitempty"`
	Job    int     `json:"job"` // from 1
	Start  float64 `json:"start"`
	End    float64 `json:"end"`
}

// notStarted is one that would not, and why.
type notStarted struct {
	Task  string `json:"task"`
	Title string `json:"title"`
	Why   string `json:"why"`
}

// rehearse says what a run would do and in which order, and does nothing.
func (o *workOptions) rehearse(ctx context.Context, p *project.Project, pl *project.Plan) error {
	view, err := p.View(pl)
	if err != nil {
		return err
	}
	for _, w := range p.Config.Warnings {
		fmt.Fprintf(o.app.err, "relay: warning: %s\n", w)
	}
	refused := o.refusal(ctx, p, pl, view)
	r, err := o.rehearsal(p, pl, view)
	if err != nil {
		return err
	}
	if refused != nil {
		r.Refused = exit.Diagnose(refused).Messages[0]
		refused = &exit.WouldRefuse{Err: refused}
	}
	if o.json {
		return errors.Join(o.app.printJSON(r), refused)
	}
	r.tell(o.app.out, terminal.Columns(o.app.out.Dest))
	return refused
}

// rehearsal is what a run that begins now would come to.
func (o *workOptions) rehearsal(p *project.Project, pl *project.Plan, view *attempts.View) (*rehearsal, error) {
	r := &rehearsal{Unit: "minutes", now: o.app.now()}
	ledger, wanted := view.Ledger, upstream(pl.Graph, o.tasks)
	if o.askNow {
		forgetful := *ledger
		forgetful.Cooling = nil
		ledger = &forgetful
	}
	outlook := outlook(p, orchestrator.Outlook{Epic: pl.Epic, Graph: pl.Graph, Ledger: ledger, Tasks: o.tasks}, r.now)
	planned, err := outlook.Plan()
	if err != nil {
		return nil, err
	}
	foreseen, err := outlook.Forecast()
	if err != nil {
		return nil, err
	}
	if r.until, err = project.Deadline(p.Config.Relay.Until, r.now); err != nil {
		return nil, err
	}
	r.Jobs, r.Makespan, r.Chain, r.BasedOn = outlook.Jobs, planned.Makespan, planned.Chain, planned.BasedOn
	r.Run, r.Left = make([]rehearsed, len(planned.Turns)), leftOut(ledger, pl, wanted)
	if r.BasedOn == 0 {
		r.Unit = "points"
	}
	if foreseen != nil {
		r.P50, r.P90 = foreseen.P50.Minutes(), foreseen.P90.Minutes()
	}
	for k, turn := range planned.Turns {
		t := &pl.Epic.Tasks[turn.Task]
		runner, _ := chooseRunner(p, t, func(name string) time.Duration {
			at := r.now
			if r.BasedOn > 0 {
				at = at.Add(orchestrator.Minutes(turn.Start))
			}
			return closedFor(ledger, name, at)
		})
		r.Run[k] = rehearsed{t.ID, t.Title, runner, turn.Job + 1, turn.Start, turn.End}
	}
	r.Wait = firstWait(outlook, planned.Turns, r.now)
	r.judged(p, pl, ledger)
	if r.done = "every task is completed"; len(o.tasks) == 1 {
		r.done = o.tasks[0] + " is completed"
	} else if len(o.tasks) > 1 {
		r.done = some(o.tasks, 5) + " are completed"
	}
	return r, nil
}

// firstWait is what a run waits for that can start nothing at first.
func firstWait(o orchestrator.Outlook, turns []orchestrator.Turn, now time.Time) *pause {
	first := time.Duration(math.MaxInt64)
	for _, turn := range turns {
		first = min(first, o.Opens(&o.Epic.Tasks[turn.Task]))
	}
	for name, c := range o.Ledger.Cooling {
		if len(turns) > 0 && first > 0 && c.Until.Sub(now) == first {
			return &pause{name, c.Until, c.Why}
		}
	}
	return nil
}

// judged says who would be asked about the whole epic, once nothing is left to do: again only when something has changed.
func (r *rehearsal) judged(p *project.Project, pl *project.Plan, l *attempts.Ledger) {
	open := 0
	for i := range pl.Epic.Tasks {
		if l.StatusOf(pl.Graph, pl.Epic.Tasks[i].ID) != attempts.Completed {
			open++
		}
	}
	last := l.LastEpicReview()
	if p.Config.QualityGate.Epic && open == len(r.Run) && (open > 0 || last == nil || last.Decision == "") {
		r.Judges = p.Reviewers()
	}
}

// leftOut lists the tasks that a gate keeps from running.
func leftOut(l *attempts.Ledger, pl *project.Plan, wanted []bool) []notStarted {
	left := []notStarted{}
	causes := attempts.AllRootCauses(l, pl.Graph)
	for _, i := range pl.Graph.Order() {
		t, why := &pl.Epic.Tasks[i], ""
		switch status := l.StatusOf(pl.Graph, t.ID); {
		case status == attempts.Completed || wanted != nil && !wanted[i]:
		case status == attempts.Gated:
			why = "gated: " + string(l.Tasks[t.ID].Gate.Reason)
		case len(causes[i]) > 0:
			why = "blocked by " + some(causes[i], attempts.MaxCauses)
		}
		if why != "" {
			left = append(left, notStarted{t.ID, t.Title, why})
		}
	}
	return left
}

// upstream marks tasks and everything they depend on; nil when no task is named.
func upstream(g *epic.Graph, ids []string) []bool {
	if len(ids) == 0 {
		return nil
	}
	seen := make([]bool, g.Len())
	var stack []int
	for _, id := range ids {
		if i, ok := g.Index(id); ok {
			stack = append(stack, i)
		}
	}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !seen[i] {
			seen[i] = true
			stack = append(stack, g.Deps(i)...)
		}
	}
	return seen
}
