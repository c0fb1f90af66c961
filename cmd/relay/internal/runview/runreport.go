package runview

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"relay/attempts"
	"relay/attempts/discussion"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/page"
	"relay/orchestrator/report"
	"relay/orchestrator/view"
)

// Formats are the forms of a report.
var Formats = []string{"text", "markdown", "html", "json"}

// Format returns the form of a report: the one that was asked for, else one that fits the file or the terminal it goes to.
func Format(asked, file string, out io.Writer) string {
	switch {
	case asked == "md":
		return "markdown"
	case asked != "":
		return asked
	case file == "" && terminal.IsTerminal(out):
		return "text"
	case strings.HasSuffix(file, ".html") || strings.HasSuffix(file, ".json"):
		return file[len(file)-4:]
	}
	return "markdown"
}

// Source is what a report is made from.
type Source struct {
	App     *cli.App
	Project *project.Project
	Plan    *project.Plan
	View    *attempts.View
	Builder *view.Builder // of the night, with the events of all logs
	Warning string        // about the plan
}

// Write writes the report in one of Formats.
func (s *Source) Write(w io.Writer, format string) error {
	r := s.report()
	switch format {
	case "json":
		return r.JSON(w)
	case "markdown":
		return r.Markdown(w, time.Local)
	}
	n := s.night()
	n.Changed.Next = slices.DeleteFunc(n.Changed.Next, func(c view.Command) bool { return slices.Contains(r.Next, c) })
	o := page.Options{Zone: time.Local, Warnings: r.Warnings, Expected: s.expected(), Lists: lists(r)}
	if format == "text" {
		t := &sheet{s.App.Out.Palette, min(terminal.Columns(s.App.Out.Dest), widest), terminal.ASCII(s.App.Lookup)}
		return t.write(w, page.Said(n, o))
	}
	o.Record = func(task string) *attempts.TaskRecord {
		return report.Clean(s.Project.Redactor(), s.Builder.Ledger().Record(task))
	}
	return page.Night(w, n, o)
}

func (s *Source) report() *report.Report {
	p, v := s.Project, s.View
	warnings := slices.Concat(status.NeverBegan(p, v.Ledger.Status.StartedAt), p.Damage, v.Warnings)
	if v.Edit != "" {
		warnings = append(warnings, "attempt-ledger.yml was edited by someone else: relay ledger accept")
	}
	if s.Warning != "" {
		warnings = append(warnings, s.Warning)
	}
	return report.Make(report.Input{
		Input:   status.Input(p, s.Plan, v, ""),
		Journal: s.Builder.Journal(), Warnings: warnings, Now: s.App.Now(), Redact: p.Redactor(), Discussions: discussion.OpenIn(p.Root),
	})
}

// night returns the model of the night, with its pictures and without secrets.
func (s *Source) night() *view.Night {
	now := s.App.Now()
	n := s.Builder.Night(now)
	n.Graph, n.Timeline = s.Builder.Graph(now), s.Builder.Timeline(now)
	if s.View.Running && n.Run.State == view.On {
		n.Forecast = status.ForecastOf(s.Project, s.Plan, s.View.Ledger, s.View.Jobs, now)
	}
	return report.Clean(s.Project.Redactor(), n)
}

// lists are what a page lists besides tasks.
func lists(r *report.Report) []page.List {
	next := "Next"
	if len(r.Needs) > 0 { // one of these is first
		next = "Then"
	}
	all := []page.List{{Name: next}, {Name: "Open questions"}, {Name: "Review of the whole epic"}, {Name: "Open discussions"}}
	add := func(list int, items ...page.Item) { all[list].Items = append(all[list].Items, items...) }
	for _, c := range r.Next {
		add(0, page.Item{Type: c.Type, Text: c.For})
	}
	for _, q := range r.Questions {
		add(1, page.Item{Task: q.Task, Text: "asks: " + q.Detail}, page.Item{Type: q.Type[0].Type, Text: q.Type[0].For})
	}
	if j := r.Judged; j != nil {
		add(2, page.Item{Text: j.Text})
		for i := range j.Findings {
			add(2, page.Item{Text: j.Findings[i].InShort()})
		}
	}
	for _, d := range r.Discussions {
		add(3, page.Item{Type: "relay discuss replay " + plaintext.ShellWord(d.ID), Text: d.Topic + ", " + string(d.Status)})
	}
	return slices.DeleteFunc(all, func(l page.List) bool { return l.Items == nil })
}

// expected returns the forecast that could be made when the first few tasks of the night were done; nil: none could, or only one of
// minutes.
func (s *Source) expected() (made *page.Expected) {
	memory, left := attempts.NewMemory(s.Plan.Graph, nil), min(max(s.Plan.Graph.Len()/4, 2), 5)
	_ = attempts.Replay(s.Project.Dir, func(e attempts.Event) error { // a log that cannot be read was reported before
		memory.Fold(e)
		of := slices.ContainsFunc(s.Builder.Journal().Session, func(run view.Logged) bool { return run.ID == e.Run })
		if !of || e.Ended == nil || e.Ended.Result != attempts.ResultSuccess {
			return nil
		}
		if left--; left > 0 {
			return nil
		}
		memory.View(func(l *attempts.Ledger) {
			if f := status.ForecastOf(s.Project, s.Plan, l, s.View.Jobs, e.At); f != nil && f.P90.Sub(e.At) > 10*time.Minute {
				made = &page.Expected{Forecast: *f, At: e.At, Done: decide.CountTasks(l, s.Plan.Graph).Completed}
			}
		})
		return io.EOF // enough
	})
	return made
}

// ReplaceReport writes a report into a file, as harmless as on a terminal.
func ReplaceReport(a *cli.App, path string, mode fs.FileMode, write func(w io.Writer) error) error {
	var text bytes.Buffer
	out := terminal.NewWriter(&text)
	out.Redact = a.Secrets.Values
	if err := errors.Join(write(out), out.Failure()); err != nil {
		return err
	}
	return project.Replace(path, mode, text.Bytes())
}

// KeepReport writes the report of a run that is over beside its log; v has the ledger as it is now. Nothing is decided by it: a report that
// cannot be written is a warning.
func KeepReport(a *cli.App, p *project.Project, pl *project.Plan, v *attempts.View, run string) {
	b, err := status.Builder(p, pl, v, run)
	if err == nil && !b.Journal().HasRun() { // it came to its end before it began
		return
	}
	s := Source{App: a, Project: p, Plan: pl, View: v, Builder: b}
	r := s.report()
	markdown := func(w io.Writer) error { return r.Markdown(w, time.Local) }
	for file, write := range map[string]func(w io.Writer) error{"report.md": markdown, "report.json": r.JSON} {
		if err == nil {
			err = ReplaceReport(a, p.File(attempts.RunsDir, run, file), 0o600, write)
		}
	}
	if err != nil {
		fmt.Fprintf(a.Err, "relay: warning: there is no report of this run: %v; relay report makes one\n", err)
	}
}
