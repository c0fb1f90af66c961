package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"relay/attempts"
	"relay/epic/plaintext"
)

// Most of what markdown tells; the JSON has all of it.
const (
	mostRows     = 50   // tasks of a plan that are all in the table, touched or not
	mostTasks    = 1000 // with all details
	mostTries    = 20   // attempts of one task
	mostDeferred = 200
	mostListed   = 100 // waits, changes of agent, notes
	columnsWide  = 300 // one text in a line
)

// page writes markdown. Text that is not relay's own passes through code, block, cell or name.
type page struct {
	*bufio.Writer
	zone *time.Location
	from time.Time // the night's begin
	over bool      // no run is active
}

func (p *page) say(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// Markdown writes the report for a person, with times as in zone. No text of an agent's can do more in it than be read.
func (r *Report) Markdown(w io.Writer, zone *time.Location) error {
	p := &page{Writer: bufio.NewWriterSize(w, 64<<10), zone: zone, over: r.State != Running}
	if len(r.Runs) > 0 {
		p.from = r.Runs[0].StartedAt
	}
	p.head(r)
	p.needs(r)
	writeOpen(p, r)
	writeEpicReview(p, r.Judged)
	writeTable(p, r)
	p.tasks(r)
	writeDeferredFindings(p, r)
	writeCosts(p, r)
	writeWaits(p, r)
	writeNotes(p, "Changes of agent", r.Switches)
	writeNotes(p, "Notes", r.Notes)
	return p.Flush()
}

func (p *page) head(r *Report) {
	p.say("# %s\n\n**%s**\n\n", code(r.Epic.Title, columnsWide), r.Headline)
	p.say("- epic: %s", code(r.Epic.ID, columnsWide))
	if r.Epic.Source != "" {
		p.say(", from %s", code(r.Epic.Source, columnsWide))
	}
	p.say("\n")
	for i := range r.Runs {
		p.say("- run: %s\n", p.run(&r.Runs[i]))
	}
	p.say("- tasks: %s\n", CountsText(r.Counts, p.over))
	if r.State != Never {
		p.say("- attempts: %s\n", tries(r.Tries))
	}
	if c := r.Criteria; c != (Criteria{}) {
		p.say("- acceptance criteria of the tasks below: %d proved, %d not met, %d unproven\n", c.Met, c.NotMet, c.Unproven)
	}
	if r.Usage != (attempts.Usage{}) {
		p.say("- cost: %s\n", UsageText(r.Usage))
	}
	switch {
	case r.Finished != "":
		p.say("- work: on %s, which has all of it\n", code(r.Finished, columnsWide))
	case r.Branch != "" && r.Counts.Completed > 0:
		p.say("- work: on the branch %s\n", code(r.Branch, columnsWide))
	}
	p.say("- as of %s\n", p.day(r.MadeAt))
	for _, w := range r.Warnings {
		p.say("- note: %s\n", code(w, 1000))
	}
}

// run returns one run in a line.
func (p *page) run(r *Run) string {
	shown := "one that is known from the ledger only"
	if r.ID != "" {
		shown = code(r.ID, 60)
	}
	shown += ", " + p.day(r.StartedAt)
	if !r.StoppedAt.IsZero() {
		shown += " to " + p.timeText(r.StoppedAt)
	}
	switch {
	case r.Seconds > 0 && r.Reason == string(Crashed):
		shown += ", at least " + lasting(r.Seconds)
	case r.Seconds > 0:
		shown += ", " + lasting(r.Seconds)
	}
	if r.Jobs > 0 {
		shown += ", " + plaintext.Count(r.Jobs, "job")
	}
	if !r.Until.IsZero() {
		shown += ", until " + p.timeText(r.Until)
	}
	if r.Reason != "" {
		shown += ": " + name(strings.ReplaceAll(r.Reason, "_", " "))
	}
	if r.ExitCode != nil {
		shown += fmt.Sprintf(", exit code %d", *r.ExitCode)
	}
	if r.Why != "" {
		shown += ": " + code(r.Why, columnsWide)
	}
	return shown
}

func tries(t Tries) string {
	text := fmt.Sprintf("%d: %d succeeded, %d charged", t.Total, t.Succeeded, t.Charged)
	if t.Uncharged > 0 {
		text += fmt.Sprintf(", %d not charged", t.Uncharged)
	}
	if t.Running > 0 {
		text += fmt.Sprintf(", %d not ended", t.Running)
	}
	return text
}

// needs prints what a person should look at, and type.
func (p *page) needs(r *Report) {
	if len(r.Needs) == 0 && len(r.Next) == 0 {
		return
	}
	if len(r.Needs)+len(r.Refused) > 0 {
		p.say("\n## Needs you\n")
	}
	for i := range r.Refused {
		f := &r.Refused[i]
		p.say("\n%s%s\n", code(f.What, columnsWide), plaintext.Because(code(f.Why, columnsWide)))
		writeCommands(p, []Command{{Type: f.Type, For: "then relay work asks " + f.Runner + " again"}})
	}
	for i := range r.Needs {
		n := &r.Needs[i]
		if i == mostListed {
			p.say("\nand %d more tasks: `relay status --verbose`\n", len(r.Needs)-i)
			break
		}
		is := "is gated: " + code((&attempts.Gate{Reason: n.Reason, Detail: n.Detail}).Text(), columnsWide)
		if n.Reason == LookAt {
			is = "is completed, and needs a look" + plaintext.Because(code(n.Detail, columnsWide))
		}
		p.say("\n%s %s %s", n.Task, code(n.Title, 120), is)
		if n.Blocks > 0 {
			p.say("; it blocks %s", plaintext.Count(n.Blocks, "task"))
		}
		p.say("\n")
		writeCommands(p, n.Type)
	}
	if len(r.Next) > 0 {
		p.say("\n## Next\n")
		writeCommands(p, r.Next)
	}
}

// writeCommands writes commands to copy.
func writeCommands(p *page, list []Command) {
	widest := plaintext.WidestOf(list, func(c Command) string { return c.Type })
	p.say("\n```sh\n")
	for _, c := range list {
		p.say("%-*s   # %s\n", widest, c.Type, c.For)
	}
	p.say("```\n")
}

// writeTable writes a row for each task or, for a long plan, for those with something to report.
func writeTable(p *page, r *Report) {
	p.say("\n## Tasks\n\n| task | state | attempts | time | cost | title |\n|---|---|---|---|---|---|\n")
	left, rows := 0, 0
	for i := range r.Tasks {
		t := &r.Tasks[i]
		if len(r.Tasks) > mostRows && len(t.Attempts) == 0 && t.Gate == nil || rows == mostTasks {
			left++
			continue
		}
		rows++
		took, cost := "", ""
		if t.Seconds > 0 {
			took = lasting(t.Seconds)
		}
		if t.Usage != nil {
			cost = UsageText(*t.Usage)
		}
		p.say("| %s | %s | %s | %s | %s | %s |\n", t.ID, p.state(t), counted(t), took, cost, cell(t.Title, 120))
	}
	if left > 0 {
		p.say("\nand %s more: `relay status --verbose`\n", plaintext.Count(left, "task"))
	}
}

func (p *page) state(t *Task) string {
	switch {
	case t.Status == attempts.InProgress && p.over:
		return "interrupted"
	case t.Already:
		return "completed, already done"
	case t.Unverified:
		return "completed, unverified"
	case t.Status == attempts.BlockedOn && len(t.RootCauses) > 0:
		return "blocked by " + plaintext.Some(t.RootCauses, attempts.MaxCauses)
	case t.Status == attempts.BlockedOn:
		return "waits for " + plaintext.Some(t.WaitsFor, 3)
	}
	return strings.ReplaceAll(string(t.Status), "_", " ")
}

// counted returns text that says how many attempts there were, and how many of those that may fail have.
func counted(t *Task) string {
	if t.Tries == 0 {
		return "none"
	}
	text := fmt.Sprint(t.Tries)
	if t.Charged > 0 || t.Status != attempts.Completed {
		text += fmt.Sprintf(", %d of %d charged", t.Charged, t.Max)
	}
	if t.Uncharged > 0 {
		text += fmt.Sprintf(", %d uncharged", t.Uncharged)
	}
	return text
}

// timeText returns a time of the night by the clock alone, any other with its day.
func (p *page) timeText(t time.Time) string {
	if since := t.Sub(p.from); since < 0 || since >= 24*time.Hour {
		return p.day(t)
	}
	return t.In(p.zone).Format("15:04")
}

// until returns the end of a wait: by the clock alone if that is on the same day as its beginning.
func (p *page) until(w *Wait) string {
	if w.Until.In(p.zone).YearDay() != w.At.In(p.zone).YearDay() {
		return p.day(w.Until)
	}
	return p.timeText(w.Until)
}

func (p *page) day(t time.Time) string {
	if t.IsZero() {
		return "at an unknown time"
	}
	return t.In(p.zone).Format("2006-01-02 15:04 MST")
}

func lasting(seconds float64) string {
	return plaintext.Span(time.Duration(seconds * float64(time.Second)))
}
