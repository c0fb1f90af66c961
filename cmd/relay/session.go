package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator"
	"relay/orchestrator/text"
	"relay/runners/process"
)

// session is one relay work: a run, and after each relay reload another one, with the plan as it is by then.
type session struct {
	o        *workOptions
	project  *project.Project
	plan     *project.Plan // of the newest run
	guardian *process.Guardian
	watcher  *watcher
	stop     *stopper
	reloads  int
	until    time.Time // the deadline of all of it; zero: none
	remarks  []string  // of the next run
	spent    attempts.Usage
}

// run runs the epic with a guardian, signals and somebody watching.
func (o *workOptions) run(ctx context.Context, guardian *process.Guardian, p *project.Project, pl *project.Plan) (err error) {
	until, err := project.Deadline(p.Config.Relay.Until, o.app.now())
	if err := errors.Join(err, p.EnsureIgnored()); err != nil {
		return errors.Join(err, guardian.Close())
	}
	if p.Config.Relay.InhibitSleep {
		defer o.app.stayAwake(ctx, "relay work: "+pl.Epic.ID)()
	}
	watcher := newWatcher(o.app)
	ctx, stop := listen(ctx, guardian.Kill, watcher.say)
	defer stop.release()
	n := &session{o: o, project: p, plan: pl, guardian: guardian, watcher: watcher, stop: stop, until: until}
	if !until.IsZero() {
		n.remarks = []string{"this run ends at " + until.Local().Format(time.RFC3339) + ", whatever is left by then"}
	}
	s, err := n.work(ctx)
	closing := guardian.Close()
	watcher.close()
	if closing != nil { // what it watched over was told of by then
		fmt.Fprintf(o.app.err, "relay: warning: %v\n", closing)
	}
	return n.finish(s, err, exitCode(s, err, stop.signal()))
}

// work carries the epic through, one run after the other, and sums them up.
func (n *session) work(ctx context.Context) (orchestrator.Summary, error) {
	var whole orchestrator.Summary
	drain := n.stop.drains.next()
	for {
		s, err := n.run(ctx, drain)
		if err != nil && s.Reason == "" && n.reloads > 0 { // it did not begin, but others before it have
			s = whole
			s.Reason = orchestrator.Failed
		} else {
			whole = status.AddRun(whole, s)
			s = whole
			n.spent = whole.Usage
		}
		if err == nil && n.extend(ctx, s.Reason) {
			n.reloads++
			drain = n.stop.drains.next()
			continue
		}
		switch asked := closed(drain); {
		case ctx.Err() != nil && s.Reason == orchestrator.Reload, ctx.Err() != nil && n.reloads > 0 && errors.Is(err, context.Cause(ctx)):
			s.Reason = orchestrator.Interrupted // between two runs
			return s, nil
		case err != nil || !asked || ctx.Err() != nil || s.Reason == orchestrator.Deadline:
			return s, err
		}
		n.reloads++
		drain = n.stop.drains.next() // before the plan is read: whoever changes it later and asks again is heard
		n.reread()
	}
}

// run is one run.
func (n *session) run(ctx context.Context, drain <-chan struct{}) (orchestrator.Summary, error) {
	options := n.o.options(ctx, n.project, n.plan)
	options.Supervisor = n.guardian
	options.Notify = n.notify
	options.ExitCode = func(s orchestrator.Summary, err error) int { return exitCode(s, err, n.stop.signal()) }
	options.Drain = drain
	options.Remarks = n.remarks
	options.Until = n.until
	options.Spent = n.spent
	options.AskNow = options.AskNow && n.reloads == 0
	late := time.Now().Add(project.ReloadWait)
	for {
		s, err := orchestrator.Work(ctx, options)
		var held *attempts.HeldError
		if n.reloads == 0 || !errors.As(err, &held) || held.Foreign || s.Reason != "" || time.Now().After(late) {
			return s, err
		}
		select {
		case <-ctx.Done():
			return s, context.Cause(ctx)
		case <-time.After(project.ReloadPause):
		}
	}
}

// notify tells the watcher a change of state, and of a runner that has refused what to type for it.
func (n *session) notify(u orchestrator.Update) {
	if u.Outcome == attempts.Auth || u.Outcome == attempts.Start {
		u.Fix = status.LoginFix(n.project, u.Runner, u.Outcome)
	}
	n.watcher.update(u)
}

// reread takes epic.yml as the plan of the next run, unless it cannot be followed: then the old one stays.
func (n *session) reread() {
	pl, err := n.project.Plan()
	if err == nil {
		err = n.follows(pl)
	}
	if err != nil {
		said := exit.Diagnose(err).Messages
		if len(said) > 1 {
			said = []string{said[0], fmt.Sprintf("and %d more", len(said)-1)}
		}
		n.remarks = []string{"relay reload: epic.yml cannot be followed, this run keeps to the plan before it: " + strings.Join(said, "; ")}
		return
	}
	changes := compare(n.plan, pl).String()
	if changes == "" {
		changes = "no task has changed"
	}
	n.remarks = []string{"relay reload: this run goes by epic.yml as it is now; " + changes}
	n.plan = pl
}

// extend adds what the review of the whole epic has found as tasks, for another run to do, if the user wants that unasked.
func (n *session) extend(ctx context.Context, why orchestrator.Reason) bool {
	if !n.o.auto || why != orchestrator.EpicRefused || ctx.Err() != nil {
		return false
	}
	pl, err := n.project.Plan() // a person may have edited it meanwhile
	if err == nil {
		err = n.follows(pl)
	}
	var ids []string
	if err == nil {
		ids, err = addFindings(n.project, pl)
	}
	if err != nil {
		n.watcher.say("what the review found is not added: " + exit.Message(err))
	}
	if len(ids) == 0 {
		return false
	}
	n.remarks = []string{"added, for the review of the whole epic wants it: " + strings.Join(ids, ", ")}
	if changes := compare(n.plan, pl).String(); changes != "" {
		n.remarks = append(n.remarks, "this run goes by epic.yml as it is now; "+changes)
	}
	if pl, err = n.project.Plan(); err != nil {
		n.watcher.say(exit.Message(err))
		return false
	}
	n.plan = pl
	if len(n.o.tasks) > 0 { // else they would be none of this run's
		n.o.tasks = append(n.o.tasks, ids...)
	}
	return true
}

// follows refuses a plan that is another epic's, lacks a task the user named, or needs an agent that is not there.
func (n *session) follows(pl *project.Plan) error {
	if have, want := n.plan.Epic.ID, pl.Epic.ID; have != want {
		return &attempts.EpicError{Path: n.project.Rel(n.project.File(attempts.LedgerFile)), Have: have, Want: want}
	}
	for _, id := range n.o.tasks {
		if _, err := pl.Task(id); err != nil {
			return err
		}
	}
	return n.project.CheckAgents(pl)
}

// drains has the drain of the run that is on.
type drains struct {
	mu    sync.Mutex
	drain chan struct{}
}

// next is the drain of a run that begins.
func (d *drains) next() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drain = make(chan struct{})
	return d.drain
}

// ask drains the run that is on, and reports whether nobody has before.
func (d *drains) ask() (first bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.drain == nil || closed(d.drain) {
		return false
	}
	close(d.drain)
	return true
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// finish tells how the night went, and returns its exit code as an error.
func (n *session) finish(s orchestrator.Summary, err error, code int) error {
	if err != nil && s.Reason == "" { // it never began
		return err
	}
	out := n.o.app.out
	out.Optional = true // the exit code tells of the night, not of the output
	view, reading := attempts.Read(n.project.Dir, nil, nil)
	var now *status.Report
	if reading == nil {
		n.keepReport(s.Run, view) // before anything is printed: who reads that may take their time
		now = status.AfterRun(n.project, n.plan, view)
	}
	if n.o.json {
		answer := status.NewSummary(s, code, n.reloads)
		if err != nil {
			answer.Error = exit.Message(err)
		}
		if reading == nil {
			answer.Tasks = status.Unfinished(now)
		}
		_ = n.o.app.printJSON(answer)
	} else if reading == nil && !(s.Ended == 0 && errors.As(err, new(*text.RefusedError))) { // else the error says what to do first
		l := status.Printer{Now: n.o.app.now(), Width: terminal.Columns(out.Dest), Branch: now.Branch, From: now.From}
		l.Shared = n.project.Config.Relay.Isolation == string(orchestrator.IsolationShared)
		l.RunSummary(out, s, now)
	}
	var none *orchestrator.NoRunnerError
	switch {
	case errors.As(err, &none):
		return withLoginHint(n.project, none)
	case err != nil:
		return err
	case reading != nil:
		return reading
	case code != exit.OK:
		return exit.Code(code)
	}
	return nil
}

// withLoginHint adds to the error of a run that no runner is left for what its last one needs.
func withLoginHint(p *project.Project, none *orchestrator.NoRunnerError) error {
	if none.Outcome != attempts.Auth {
		return none
	}
	return &exit.Hinted{Err: none, Code: exit.NoRunner, Hint: status.LoginFix(p, none.Runner, none.Outcome) + "; then relay work continues"}
}
