package main

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"relay/attempts"
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
	BasedOn  int          `json:"based_on"` // tasks that are done
	Run      []rehearsed  `json:"run"`      // in the order they would begin
	Left     []notStarted `json:"left"`
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
func (o *workOptions) rehearse(p *place, pl *plan) error {
	view, err := p.view(pl)
	if err != nil {
		return err
	}
	outlook := p.outlook(orchestrator.Outlook{Epic: pl.epic, Graph: pl.graph, Ledger: view.Ledger, Tasks: o.tasks})
	planned, err := outlook.Plan()
	if err != nil {
		return err
	}
	r := rehearsal{
		Jobs: outlook.Jobs, Unit: "minutes", Makespan: planned.Makespan, Chain: planned.Chain, BasedOn: planned.BasedOn,
		Run: make([]rehearsed, len(planned.Turns)), Left: leftOut(view.Ledger, pl, upstream(pl.graph, o.tasks)),
	}
	if r.BasedOn == 0 {
		r.Unit = "points"
	}
	for k, turn := range planned.Turns {
		t := &pl.epic.Tasks[turn.Task]
		r.Run[k] = rehearsed{t.ID, t.Title, t.Runner, turn.Job + 1, turn.Start, turn.End}
		if t.Runner == "" && len(p.config.Relay.Runners) > 0 {
			r.Run[k].Runner = p.config.Relay.Runners[0]
		}
	}
	if o.json {
		return o.app.printJSON(r)
	}
	o.tell(&r)
	return nil
}

// leftOut lists the tasks that a gate keeps from running.
func leftOut(l *attempts.Ledger, pl *plan, wanted []bool) []notStarted {
	left := []notStarted{}
	causes := attempts.AllRootCauses(l, pl.graph)
	for _, i := range pl.graph.Order() {
		t, why := &pl.epic.Tasks[i], ""
		switch status := l.StatusOf(pl.graph, t.ID); {
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

// tell writes a rehearsal for a person.
func (o *workOptions) tell(r *rehearsal) {
	times := make([]string, len(r.Run))
	widest, longest := 0, 0
	for k, item := range r.Run {
		times[k] = r.at(item.Start) + "-" + r.at(item.End)
		widest, longest = max(widest, len(times[k])), max(longest, len(fmt.Sprint(item.Job)))
	}
	for k, item := range r.Run {
		job := ""
		if r.Jobs > 1 {
			job = fmt.Sprintf("  job %-*d", longest, item.Job)
		}
		fmt.Fprintf(o.app.out, "would run   %-*s%s  %s (%s): %s\n", widest, times[k], job, item.Task, item.Runner, line(item.Title, 60))
	}
	for _, item := range r.Left {
		fmt.Fprintf(o.app.out, "would leave %s: %s\n", item.Task, item.Why)
	}
	if len(r.Run) == 0 {
		fmt.Fprintln(o.app.out, "nothing would run")
		return
	}
	least := ""
	if r.Jobs > 1 {
		least = ", at least " + r.at(r.Chain) + " with any number"
	}
	if r.BasedOn == 0 {
		fmt.Fprintf(o.app.out, "would take  %s with %s%s; no task is done yet that would tell how long a point takes\n", r.points(), count(r.Jobs, "job"), least)
	} else {
		fmt.Fprintf(o.app.out, "would take  about %s with %s%s, going by %s done\n", r.at(r.Makespan), count(r.Jobs, "job"), least, count(r.BasedOn, "task"))
	}
}

// at shows a time since the start.
func (r *rehearsal) at(t float64) string {
	if r.BasedOn == 0 {
		return strconv.FormatFloat(math.Round(t*100)/100, 'f', -1, 64)
	}
	return roughly(time.Duration(t * float64(time.Minute)))
}

func (r *rehearsal) points() string {
	if r.Makespan == 1 {
		return "1 point"
	}
	return r.at(r.Makespan) + " points"
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
