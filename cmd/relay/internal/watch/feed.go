package watch

import (
	"context"
	"io"
	"strings"
	"sync"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/agentlog"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/session"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/epic"
	"relay/epic/each"
	"relay/orchestrator/picture"
	"relay/orchestrator/view"
)

// Feed has the model of a night, and what the commands print of its tasks. It never writes; the functions of the commands carry out
// decisions of a person.
type Feed struct {
	app   *cli.App
	style style
	run   func(ctx context.Context, args ...string) (string, error)

	mu    sync.Mutex
	night *status.Follower
	shown *view.Night // that Next returned last
}

const (
	mostShown  = 512 << 10 // bytes of a part of an attempt that are shown
	mostLogged = 500       // entries of the end of a log that are shown
)

// Open reads the night that ends with a run; "" is the newest.
func Open(ctx context.Context, a *cli.App, run string) (*Feed, error) {
	quiet := *a
	quiet.Err = terminal.NewWriter(io.Discard) // a warning would be written across the screen; relay status has all of them
	p, err := a.LocateAnyhow(ctx)
	if err != nil {
		return nil, err
	}
	p.Session.Warn = func(string) {}
	night, err := status.Follow(ctx, p, run, true)
	if err != nil {
		return nil, err
	}
	f := &Feed{app: &quiet, night: night, style: style{ascii: terminal.ASCII(a.Lookup), zone: time.Local}}
	if f.Old() && night.Model.Night(a.Now()).Run.ID != run {
		return nil, &terminal.UsageError{
			Message: "this epic has no run " + terminal.Quote(run), Hint: "relay watch shows the newest; each folder in runs is of one",
		}
	}
	return f, nil
}

// Old reports whether the night is one before the newest, on which nothing can be decided.
func (f *Feed) Old() bool { return f.night.Old() }

// Next returns the night if it has changed since the last call, else nil. The first one has no forecast, which takes its time.
func (f *Feed) Next(ctx context.Context) (*view.Night, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shown == nil {
		f.shown = f.night.Model.Night(f.app.Now())
		return f.shown, nil
	} else if f.Old() {
		return nil, nil //nolint:nilnil // it does not change any more
	}
	night, err := f.night.Night(ctx, f.app.Now())
	if err != nil || night == f.shown {
		return nil, err
	}
	f.shown = night
	return night, nil
}

// Page returns a page of the last attempt of a task, the task with all its attempts, or a page of the night.
func (f *Feed) Page(ctx context.Context, page leaf, row *view.Row, width int) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if page == graphPage {
		return graphText(f.night.Plan.Epic, f.night.Plan.Graph, f.night.Model.Graph(f.app.Now()))
	} else if page == timePage {
		return terminal.Timeline(f.night.Model.Timeline(f.app.Now()), width, f.style.zone, f.style.ascii)
	}
	out, app := agentlog.Window{Most: mostShown}, *f.app
	app.Out = terminal.NewWriter(&out)
	err := f.write(ctx, &app, row.ID, agentlog.AttemptPart(page), width)
	text, more := out.Text()
	if more > 0 {
		text += "\n… the rest: relay show " + row.ID + " --" + string(page) + f.night.Project.EpicFlag()
	} else if err != nil {
		text += inWords(err)
	}
	if page == taskPage {
		text = summary(row) + text
	}
	return f.app.Secrets.Values(text)
}

func graphText(e *epic.Epic, of *epic.Graph, g *view.Graph) string {
	marks := each.Of(g.Nodes, func(n view.Node) epic.Mark { return picture.Mark(n.State) })
	var drawn strings.Builder
	_ = of.Write(&drawn, e, "text", marks) // the format is known
	return drawn.String() + "\n* is on the critical path"
}

// inWords returns what a command would say of an error.
func inWords(err error) string {
	said := terminal.Diagnose(err)
	return strings.TrimSpace(strings.Join(said.Messages, "\n") + "\n" + said.Hint)
}

func (f *Feed) write(ctx context.Context, app *cli.App, task string, part agentlog.AttemptPart, width int) error {
	l, p := f.night.Model.Ledger(), f.night.Project
	t, err := f.night.Plan.Task(task)
	if err != nil {
		return err
	}
	rec := l.Record(t.ID)
	if part == "" {
		s := agentlog.NewTask(t, rec, l, f.night.Plan.Graph)
		s.AddProgress(p)
		s.Write(app.Out, status.Printer{Now: app.Now(), Width: width, Flag: p.EpicFlag(), Dead: !f.night.Held()})
		return nil
	}
	if part == agentlog.PartBrief && len(rec.Attempts) == 0 {
		work := session.Options{App: app}
		brief, err := session.NextBrief(ctx, work.RunOptions(ctx, p, f.night.Plan), &attempts.View{Ledger: l}, t)
		_, _ = app.Out.Write(brief)
		return err
	}
	at, err := agentlog.PickAttempt(t.ID, rec, 0)
	if err != nil {
		return err
	}
	v := agentlog.NewViewer(app, p, agentlog.Options{Tail: mostLogged})
	if part == agentlog.PartLog { // as relay logs prints it
		return v.Show([]agentlog.Attempt{at})
	}
	return v.Write(ctx, at, part)
}

// Do runs a command of relay, and returns what that prints.
func (f *Feed) Do(ctx context.Context, args ...string) (string, error) { return f.run(ctx, args...) }
