package watch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/agentlog"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/session"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/epic"
	"relay/orchestrator/picture"
	"relay/orchestrator/view"
	"relay/runners"
)

// Feed keeps the model of a night up to date from the files of the epic. It reads only what has been added to the newest log, and never
// writes. The functions of the commands carry out decisions of a person.
type Feed struct {
	app *cli.App
	run string // the run that was asked for; "": the newest

	mu      sync.Mutex
	project *project.Project
	plan    *project.Plan
	night   *view.Builder
	whole   bool      // the night has what the logs say
	newest  string    // run whose log is read
	offset  int64     // in that log
	seq     uint64    // last event that the model has
	running bool      // somebody is at work on the epic
	made    time.Time // when the night was made last
}

const (
	memoryLimit = 42 << 20         // leaves the collector room beside a night of 10,000 tasks: else it would work all the time
	remake      = 10 * time.Second // how often a night without events is made: waits end
	reread      = 512 << 10        // bytes of the end of a log that are read twice, so that no event is missed
	mostShown   = 512 << 10        // bytes of a part of an attempt that are shown
	mostLogged  = 500              // entries of the end of a log that are shown
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
	f := &Feed{app: &quiet, run: run, project: p}
	return f, f.load(ctx)
}

// load makes the model from the plan and the ledger.
func (f *Feed) load(ctx context.Context) error {
	p := f.project
	plan, known, _, err := p.Read(ctx)
	if err != nil {
		return err
	}
	if f.run != "" && f.run == known.Ledger.Folded.Run {
		f.run = ""
	}
	if f.run != "" {
		plan = project.RunPlan(p, f.run, plan)
	}
	f.plan, f.newest, f.offset, f.running, f.whole, f.made = plan, f.newestRun(), 0, known.Running, false, time.Time{}
	if info, err := os.Stat(f.log(f.newest)); err == nil {
		f.offset = max(info.Size()-reread, 0)
	}
	f.night = view.New(status.Input(p, plan, known, f.run))
	if f.run == "" {
		return nil
	}
	if err = f.replay(); err == nil && f.night.Night(f.app.Now()).Run.ID != f.run {
		return &terminal.UsageError{
			Message: "this epic has no run " + terminal.Quote(f.run), Hint: "relay watch shows the newest; each folder in runs is of one",
		}
	}
	return err
}

// replay reads all logs, which takes as long as all the rest: the ledger alone makes the first screen.
func (f *Feed) replay() error {
	err := attempts.Replay(f.project.Dir, func(e attempts.Event) error {
		f.night.Apply(&e)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // an epic that was written by hand has none yet
	}
	debug.SetMemoryLimit(memoryLimit)
	f.whole, f.seq = true, f.night.Ledger().Folded.Seq
	return err
}

func (f *Feed) log(run string) string {
	return f.project.File(attempts.RunsDir, run, attempts.EventsFile)
}

// newestRun returns the newest run with a log; "": there is none.
func (f *Feed) newestRun() (run string) {
	runs, _ := os.ReadDir(f.project.File(attempts.RunsDir)) // none: nothing has run yet
	for _, r := range runs {
		if project.Exists(f.log(r.Name())) {
			run = max(run, r.Name())
		}
	}
	return run
}

// Old reports whether the night is one before the newest, on which nothing can be decided.
func (f *Feed) Old() bool { return f.run != "" }

// Next returns the night if it has changed since the last call, else nil.
func (f *Feed) Next(ctx context.Context) (*view.Night, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Old() && !f.made.IsZero() {
		return nil, nil //nolint:nilnil // it does not change any more
	}
	changed, err := false, error(nil)
	switch newest := f.newestRun(); {
	case newest != f.newest:
		err = f.load(ctx)
	case f.whole:
		changed = f.read() > 0
	case !f.made.IsZero():
		changed, err = true, f.replay()
	}
	if err != nil {
		return nil, err
	}
	if by, err := attempts.HeldBy(f.project.File(attempts.LockFile)); err == nil && (by != nil) != f.running {
		f.running, changed = by != nil, true
		f.night.SetRunning(f.running)
	}
	now := f.app.Now()
	if !changed && now.Sub(f.made) < remake {
		return nil, nil //nolint:nilnil // nothing has changed
	}
	f.made = now
	return f.night.Night(now), nil
}

// read adds what has been added to the log, and returns how many events that were.
func (f *Feed) read() (events int) {
	file, err := runners.OpenRegular(f.log(f.newest))
	if err != nil {
		return 0
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Size() == f.offset {
		return 0
	}
	if info.Size() < f.offset { // it was replaced
		f.offset = 0
	}
	lines := bufio.NewReaderSize(io.NewSectionReader(file, f.offset, info.Size()-f.offset), 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return events // the rest is not a whole line yet
		}
		f.offset += int64(len(line))
		var e attempts.Event
		if json.Unmarshal(line, &e) == nil && e.Seq > f.seq {
			f.night.Apply(&e)
			f.seq = e.Seq
			events++
		}
	}
}

// Graph returns the plan by levels, with the states of tasks.
func (f *Feed) Graph() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return graphText(f.plan.Epic, f.plan.Graph, f.night.Graph(f.app.Now()))
}

func graphText(e *epic.Epic, of *epic.Graph, g *view.Graph) string {
	var marks []epic.Mark
	for i := range g.Nodes {
		marks = append(marks, picture.Mark(g.Nodes[i].State))
	}
	var drawn strings.Builder
	_ = of.Write(&drawn, e, "text", marks) // the format is known
	return drawn.String() + "\n* is on the critical path"
}

// Timeline returns what went on when.
func (f *Feed) Timeline() *view.Timeline {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.night.Timeline(f.app.Now())
}

// Forecast estimates the end of the run; nil: it is unknown.
func (f *Feed) Forecast(jobs int) *view.Forecast {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.running || f.Old() {
		return nil
	}
	return status.ForecastOf(f.project, f.plan, f.night.Ledger(), jobs, f.app.Now())
}

// Part returns a part of the last attempt of a task; "" is the task with all its attempts.
func (f *Feed) Part(ctx context.Context, id string, part agentlog.AttemptPart, width int) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var text bytes.Buffer
	app := *f.app
	app.Out = terminal.NewWriter(&bounded{&text})
	t, err := f.plan.Task(id)
	if err == nil {
		err = f.write(ctx, &app, t, part, width)
	}
	if text.Len() >= mostShown {
		text.WriteString("\n… the rest: relay show " + id + " --" + string(part) + f.project.EpicFlag())
	} else if err != nil {
		text.WriteString(inWords(err))
	}
	return f.app.Secrets.Values(text.String())
}

// inWords returns what a command would say of an error.
func inWords(err error) string {
	said := terminal.Diagnose(err)
	return strings.TrimSpace(strings.Join(said.Messages, "\n") + "\n" + said.Hint)
}

func (f *Feed) write(ctx context.Context, app *cli.App, t *epic.Task, part agentlog.AttemptPart, width int) error {
	l := f.night.Ledger()
	rec := l.Record(t.ID)
	if part == "" {
		s := agentlog.NewTask(t, rec, l, f.plan.Graph)
		s.AddProgress(f.project)
		s.Write(app.Out, status.Printer{Now: app.Now(), Width: width, Flag: f.project.EpicFlag(), Dead: !f.running})
		return nil
	}
	if part == agentlog.PartBrief && len(rec.Attempts) == 0 {
		work := session.Options{App: app}
		brief, err := session.NextBrief(ctx, work.RunOptions(ctx, f.project, f.plan), &attempts.View{Ledger: l}, t)
		_, _ = app.Out.Write(brief)
		return err
	}
	at, err := agentlog.PickAttempt(t.ID, rec, 0)
	if err != nil {
		return err
	}
	return (&agentlog.TaskAttempt{App: app, Project: f.project, Task: t.ID, Attempt: at}).Write(ctx, part)
}

// errFull ends the writing of a part that is too long.
var errFull = errors.New("it is too long to be shown here")

// bounded takes the first bytes of a text.
type bounded struct{ to *bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if room := mostShown - b.to.Len(); len(p) > room {
		b.to.Write(p[:max(room, 0)])
		return 0, errFull
	}
	return b.to.Write(p)
}

// Log begins to follow the log of the last attempt of a task: each call of more returns what has come since.
func (f *Feed) Log(id string) (more func() string, done func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	rec := f.night.Ledger().Record(id)
	if len(rec.Attempts) == 0 {
		return func() string { return "" }, func() {}
	}
	at := rec.Attempts[len(rec.Attempts)-1]
	var text bytes.Buffer
	app := *f.app
	app.Out = terminal.NewWriter(&text)
	app.Out.Redact = f.app.Secrets.Values
	look, end, _ := agentlog.NewViewer(&app, f.project, agentlog.Options{Tail: mostLogged}).Tail(agentlog.Attempt{Task: id, Attempt: &at})
	var mu sync.Mutex
	ended := false
	more = func() string {
		mu.Lock()
		defer mu.Unlock()
		if !ended {
			_ = look(!at.EndedAt.IsZero()) // a transcript that cannot be read has no more lines
		}
		defer text.Reset()
		return text.String()
	}
	return more, func() {
		mu.Lock()
		defer mu.Unlock()
		ended = true
		end()
	}
}

// Act is something that a person has relay do.
type Act struct {
	What attempts.RequestKind
	Task string // "": the run
	Text string // an answer
}

// Do does it as the command of its name does, and returns what that would print.
func (f *Feed) Do(ctx context.Context, act Act) (string, error) {
	app := *f.app
	var said bytes.Buffer
	app.Err = terminal.NewWriter(&said)
	if err := cli.RefuseInside(ctx, &app, "relay "+string(act.What)); err != nil {
		return "", err
	}
	p, plan, err := app.PlannedAnyhow(ctx)
	if err != nil {
		return "", err
	}
	decide := map[attempts.RequestKind]session.Decide{
		attempts.RequestGate: session.Gate, attempts.RequestUngate: session.Ungate, attempts.RequestRetry: session.Retry,
		attempts.RequestAnswer: session.Answer, attempts.RequestApprove: session.Approve,
	}[act.What]
	if decide == nil {
		run, err := project.ActiveRun(ctx, p)
		if err != nil {
			return "", err
		}
		return session.Ask(ctx, p, run.Holder, session.Request{What: act.What, Task: act.Task})
	}
	done, err := session.Decision{App: &app, Task: act.Task, Reason: act.Text}.Make(ctx, p, plan, act.What, decide)
	return strings.TrimSpace(done.Message + " " + said.String()), err
}
