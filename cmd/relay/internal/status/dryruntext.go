package status

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/schedule"
	"relay/orchestrator/text"
)

// Write writes the dry run as text, in lines of at most width columns.
func (r *DryRun) Write(w io.Writer, width int) {
	say := func(text string) {
		head, rest := text[:12], terminal.Wrap(text[12:], width, "            ")
		fmt.Fprintln(w, head+rest[12:])
	}
	if wait := r.Wait; wait != nil {
		say("would wait  until " + Printer{Now: r.now}.nearTime(wait.Until) + " for " + wait.For + text.After(wait.Why))
	}
	r.rows(w, width)
	for _, item := range r.Left {
		fmt.Fprintf(w, "would leave %s: %s\n", item.Task, item.Why)
	}
	switch {
	case len(r.Run) > 0:
		say("would take  " + r.sum())
	case len(r.Left) == 0:
		fmt.Fprintln(w, "nothing would run: "+r.done)
	default:
		fmt.Fprintln(w, "nothing would run")
	}
	if len(r.Reviewers) > 0 {
		say("would ask   " + text.Some(r.Reviewers, 5) + " about the whole epic, when every task is completed")
	}
}

// rows lists the tasks that would run.
func (r *DryRun) rows(w io.Writer, width int) {
	times := make([]string, len(r.Run))
	widest, longest := 0, 0
	for k, item := range r.Run {
		times[k] = r.at(item.Start) + "-" + r.at(item.End)
		if r.BasedOn == 0 {
			times[k] += " points"
		}
		widest, longest = max(widest, len(times[k])), max(longest, len(fmt.Sprint(item.Job)))
	}
	for k, item := range r.Run {
		job := ""
		if r.Jobs > 1 {
			job = fmt.Sprintf("  job %-*d", longest, item.Job)
		}
		head := fmt.Sprintf("would run   %-*s%s  %s (%s): ", widest, times[k], job, item.Task, item.Runner)
		fmt.Fprintln(w, head+text.Line(item.Title, max(width-len(head), 20)))
	}
}

// sum returns text that says how long it would take.
func (r *DryRun) sum() string {
	jobs, least := text.Count(r.Jobs, "job"), ""
	if r.BasedOn == 0 {
		if r.Jobs > 1 {
			least = ", at least " + r.at(r.Chain) + " with more jobs"
		}
		return r.points() + " with " + jobs + least + "; no task is done yet that would tell how long a point takes"
	}
	if r.Jobs > 1 {
		least = "; with more jobs at least " + r.at(min(r.Chain, r.P50))
	}
	text := fmt.Sprintf("about %s with %s, up to %s in nine of ten cases%s (estimated from %s done)", r.at(r.P50), jobs, r.at(r.P90), least, text.Count(r.BasedOn, "task"))
	if late := r.now.Add(schedule.Minutes(r.P50)).Sub(r.until); !r.until.IsZero() && late > 0 {
		text += "; not all by " + Printer{Now: r.now}.nearTime(r.until) + ", about " + formatEstimate(late) + " more"
	}
	return text
}

// at shows a time since the start.
func (r *DryRun) at(t float64) string {
	if r.BasedOn == 0 {
		return strconv.FormatFloat(math.Round(t*100)/100, 'f', -1, 64)
	}
	return formatEstimate(schedule.Minutes(t))
}

func (r *DryRun) points() string {
	if r.Makespan == 1 {
		return "1 point"
	}
	return r.at(r.Makespan) + " points"
}
