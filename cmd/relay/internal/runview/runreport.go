package runview

import (
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
	Journal *view.Journal
	Run     string // that ended the night; "": the newest
	Warning string // about the plan
}

// Write writes the report in one of Formats.
func (s *Source) Write(w io.Writer, format string) error {
	switch format {
	case "html":
		return s.page(w)
	case "text":
		return s.text(w)
	}
	return WriteReport(w, s.report(), format)
}

func (s *Source) report() *report.Report {
	r := MakeReport(s.App, s.Project, s.Plan, s.View, s.Journal)
	if s.Warning != "" {
		r.Warnings = append(r.Warnings, s.Warning)
	}
	return r
}

// night returns the model of the night, with its pictures and without secrets, and its ledger.
func (s *Source) night() (*view.Night, *attempts.Ledger, error) {
	now := s.App.Now()
	b, err := status.Builder(s.Project, s.Plan, s.View, s.Run)
	if err != nil {
		return nil, nil, err
	}
	n := b.Night(now)
	n.Graph, n.Timeline = b.Graph(now), b.Timeline(now)
	if s.View.Running && n.Run.State == view.On {
		current := status.New(s.Plan, s.View, s.Project.Config.Relay.MaxAttemptsPerTask, false)
		current.AddForecast(s.Project, now)
		n.Forecast = current.Forecast
	}
	return report.Clean(s.Project.Redactor(), n), b.Ledger(), nil
}

// page writes the page of the night.
func (s *Source) page(w io.Writer) error {
	n, ledger, err := s.night()
	if err != nil {
		return err
	}
	o := s.options()
	o.Record = func(task string) *attempts.TaskRecord { return report.Clean(s.Project.Redactor(), ledger.Record(task)) }
	return page.Night(w, n, o)
}

// options are those of a page, without records.
func (s *Source) options() page.Options {
	r := s.report()
	o := page.Options{Zone: time.Local, Warnings: r.Warnings, Expected: s.expected()}
	add := func(name string, items []page.Item) {
		if len(items) > 0 {
			o.Lists = append(o.Lists, page.List{Name: name, Items: items})
		}
	}
	var next, questions, judged, open []page.Item
	for _, c := range r.Next {
		next = append(next, page.Item{Type: c.Type, Text: c.For})
	}
	for i := range r.Questions {
		q := &r.Questions[i]
		questions = append(questions, page.Item{Task: q.Task, Text: "asks: " + q.Detail}, page.Item{Type: q.Type[0].Type, Text: q.Type[0].For})
	}
	if j := r.Judged; j != nil {
		judged = append(judged, page.Item{Text: j.Text})
		for i := range j.Findings {
			judged = append(judged, page.Item{Text: j.Findings[i].InShort()})
		}
	}
	for _, d := range r.Discussions {
		open = append(open, page.Item{Type: "relay discuss replay " + plaintext.ShellWord(d.ID), Text: d.Topic + ", " + string(d.Status)})
	}
	name := "Next"
	if len(r.Needs) > 0 { // one of these is first
		name = "Then"
	}
	add(name, next)
	add("Open questions", questions)
	add("Review of the whole epic", judged)
	add("Open discussions", open)
	return o
}

// expected returns the forecast that could be made when the first few tasks of the night were done; nil: none could.
func (s *Source) expected() (made *page.Expected) {
	memory, left := attempts.NewMemory(s.Plan.Graph, nil), min(max(s.Plan.Graph.Len()/4, 2), 5)
	_ = attempts.Replay(s.Project.Dir, func(e attempts.Event) error { // a log that cannot be read was reported before
		memory.Fold(e)
		of := slices.ContainsFunc(s.Journal.Session, func(run view.Logged) bool { return run.ID == e.Run })
		if !of || e.Ended == nil || e.Ended.Result != attempts.ResultSuccess {
			return nil
		}
		if left--; left > 0 {
			return nil
		}
		memory.View(func(l *attempts.Ledger) {
			then := status.New(s.Plan, &attempts.View{Ledger: l, Running: true, Jobs: s.View.Jobs}, 1, false)
			if then.AddForecast(s.Project, e.At); then.Forecast != nil {
				made = &page.Expected{Forecast: *then.Forecast, At: e.At, Done: then.Counts.Completed}
			}
		})
		return io.EOF // enough
	})
	return made
}

// Journal reads from the logs what a report says of the session that ended with a run; "" is the newest.
func Journal(p *project.Project, run string) (*view.Journal, error) {
	journal := view.NewJournal(run)
	err := attempts.Replay(p.Dir, func(e attempts.Event) error {
		journal.Add(e)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // an epic that was written by hand has none yet
	}
	return journal, err
}

// MakeReport returns the report of a session.
func MakeReport(a *cli.App, p *project.Project, pl *project.Plan, view *attempts.View, journal *view.Journal) *report.Report {
	warnings := slices.Concat(status.NeverBegan(p, view.Ledger.Status.StartedAt), p.Damage, view.Warnings)
	if view.Edit != "" {
		warnings = append(warnings, "attempt-ledger.yml was edited by someone else: relay ledger accept")
	}
	return report.Make(report.Input{
		Epic: pl.Epic, Graph: pl.Graph, Ledger: view.Ledger, Journal: journal, Running: view.Running,
		MaxAttempts: p.Config.Relay.MaxAttemptsPerTask, Budget: project.Budget(p.Config), Warnings: warnings, Now: a.Now(),
		Redact: p.Redactor(), Flag: p.EpicFlag(), Refused: status.ForReport(status.Refusing(p, pl, view.Ledger)),
		Discussions: discussion.OpenIn(p.Root),
	})
}

// WriteReport writes a report as JSON or as markdown.
func WriteReport(w io.Writer, r *report.Report, format string) error {
	if format == "json" {
		return r.JSON(w)
	}
	return r.Markdown(w, time.Local)
}

// ReplaceReport writes a report into a file, as harmless as on a terminal.
func ReplaceReport(a *cli.App, path string, mode fs.FileMode, write func(w io.Writer) error) error {
	return project.ReplaceWith(path, mode, func(w io.Writer) error {
		out := terminal.NewWriter(w)
		out.Redact = a.Secrets.Values
		return errors.Join(write(out), out.Failure())
	})
}

// Ended is a run that is over, and the ledger as it is now.
type Ended struct {
	Run  string
	View *attempts.View
}

// KeepReport writes the report of a run that is over beside its log. Nothing is decided by it: a report that cannot be written is a
// warning.
func KeepReport(a *cli.App, p *project.Project, pl *project.Plan, ended Ended) {
	journal, err := Journal(p, ended.Run)
	if err == nil && !journal.HasRun() { // it came to its end before it began
		return
	}
	r := MakeReport(a, p, pl, ended.View, journal)
	for _, format := range []string{"md", "json"} {
		if err == nil {
			file := p.File(attempts.RunsDir, ended.Run, "report."+format)
			err = ReplaceReport(a, file, 0o600, func(w io.Writer) error { return WriteReport(w, r, format) })
		}
	}
	if err != nil {
		fmt.Fprintf(a.Err, "relay: warning: there is no report of this run: %v; relay report makes one\n", err)
	}
}
