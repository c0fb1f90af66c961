// Package session is one relay work: runs of the orchestrator, one after the other as the plan changes, with signals, progress,
// the summary and the exit code.
//
// A run keeps the plan it began with (runs/RUN/epic.yml). relay reload checks an edited epic.yml and signals the run, if the
// lock's holder is that process by pid, start and boot. The run then starts nothing new, ends when what runs has landed, with
// reason reload, and the session begins another one with the plan as it is then, or with the old one when the new has mistakes.
// Nothing is handed over in memory: the next run folds the ledger as any other.
package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/awake"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/progress"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/proposal"
	"relay/cmd/relay/internal/runreport"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator"
	"relay/orchestrator/ending"
	"relay/orchestrator/engine"
	"relay/orchestrator/text"
	"relay/runners/process"
)

// session is one relay work: a run, and after each relay reload another one, with the plan as it is by then.
type session struct {
	o        *Options
	project  *project.Project
	plan     *project.Plan // of the newest run
	guardian *process.Guardian
	watcher  *progress.Watcher
	stop     *stopper
	reloads  int
	until    time.Time // the deadline of all of it; zero: none
	remarks  []string  // of the next run
	spent    attempts.Usage
}

// Target is what a session works on.
type Target struct {
	Guardian *process.Guardian // closed when the session ends
	Project  *project.Project
	Plan     *project.Plan
}

// Run runs the epic until nothing is left that could be done, or INT or TERM ends it, and prints the summary. Its error has the exit code.
func Run(ctx context.Context, o *Options, t Target) error {
	guardian, p, pl := t.Guardian, t.Project, t.Plan
	until, err := project.Deadline(p.Config.Relay.Until, o.App.Now())
	if err := errors.Join(err, p.EnsureIgnored()); err != nil {
		return errors.Join(err, guardian.Close())
	}
	if p.Config.Relay.InhibitSleep {
		defer awake.Hold(ctx, o.App.Environ, "relay work: "+pl.Epic.ID)()
	}
	watcher := progress.New(o.App)
	ctx, stop := listen(ctx, guardian.Kill, watcher.Say)
	defer stop.release()
	s := &session{o: o, project: p, plan: pl, guardian: guardian, watcher: watcher, stop: stop, until: until}
	if !until.IsZero() {
		s.remarks = []string{"this run ends at " + until.Local().Format(time.RFC3339) + ", even if tasks are left"}
	}
	sum, err := s.work(ctx)
	closing := guardian.Close()
	watcher.Close()
	if closing != nil { // what it watched over was told of by then
		fmt.Fprintf(o.App.Err, "relay: warning: %v\n", closing)
	}
	return s.finish(sum, err, exit.OfRun(sum, err, stop.signal()))
}

// work carries the epic through, one run after the other, and sums them up.
func (s *session) work(ctx context.Context) (ending.Summary, error) {
	var whole ending.Summary
	drain := s.stop.drains.next()
	for {
		sum, err := s.run(ctx, drain)
		if err != nil && sum.Reason == "" && s.reloads > 0 { // it did not begin, but others before it have
			sum = whole
			sum.Reason = ending.Failed
		} else {
			whole = status.AddRun(whole, sum)
			sum = whole
			s.spent = whole.Usage
		}
		if err == nil && s.extend(ctx, sum.Reason) {
			s.reloads++
			drain = s.stop.drains.next()
			continue
		}
		switch asked := closed(drain); {
		case ctx.Err() != nil && sum.Reason == ending.Reload, ctx.Err() != nil && s.reloads > 0 && errors.Is(err, context.Cause(ctx)):
			sum.Reason = ending.Interrupted // between two runs
			return sum, nil
		case err != nil || !asked || ctx.Err() != nil || sum.Reason == ending.Deadline:
			return sum, err
		}
		s.reloads++
		drain = s.stop.drains.next() // before the plan is read: whoever changes it later and asks again is heard
		s.reread()
	}
}

// run returns one run.
func (s *session) run(ctx context.Context, drain <-chan struct{}) (ending.Summary, error) {
	options := s.o.RunOptions(ctx, s.project, s.plan)
	options.Supervisor = s.guardian
	options.Relay, options.Effective = project.RelayVersion(), s.project.EffectiveYAML()
	options.Notify = s.notify
	options.ExitCode = func(sum ending.Summary, err error) int { return exit.OfRun(sum, err, s.stop.signal()) }
	options.Drain = drain
	options.Remarks = s.remarks
	options.Until = s.until
	options.Spent = s.spent
	options.AskNow = options.AskNow && s.reloads == 0
	late := time.Now().Add(project.ReloadWait)
	for {
		sum, err := orchestrator.Work(ctx, options)
		var held *attempts.HeldError
		if s.reloads == 0 || !errors.As(err, &held) || held.Foreign || sum.Reason != "" || time.Now().After(late) {
			return sum, err
		}
		select {
		case <-ctx.Done():
			return sum, context.Cause(ctx)
		case <-time.After(project.ReloadPause):
		}
	}
}

// notify passes a change of state to the watcher, with what to type for a runner that has refused.
func (s *session) notify(u orchestrator.Update) {
	if u.Outcome == attempts.Auth || u.Outcome == attempts.Start {
		u.Fix = status.LoginFix(s.project, u.Runner, u.Outcome)
	}
	s.watcher.Update(u)
}

// reread reads epic.yml as the plan of the next run. The old plan stays when the new one is invalid.
func (s *session) reread() {
	pl, err := s.project.Plan()
	if err == nil {
		err = s.follows(pl)
	}
	if err != nil {
		messages := exit.Diagnose(err).Messages
		if len(messages) > 1 {
			messages = []string{messages[0], fmt.Sprintf("and %d more", len(messages)-1)}
		}
		s.remarks = []string{"relay reload: epic.yml cannot be used, so this run keeps the previous plan: " + strings.Join(messages, "; ")}
		return
	}
	changes := project.ComparePlans(s.plan, pl).String()
	if changes == "" {
		changes = "no task has changed"
	}
	s.remarks = []string{"relay reload: this run uses epic.yml as it is now; " + changes}
	s.plan = pl
}

// extend adds what the review of the whole epic has found as tasks, for another run to do, if the user wants that unasked.
func (s *session) extend(ctx context.Context, why ending.Reason) bool {
	if !s.o.Auto || why != ending.EpicRefused || ctx.Err() != nil {
		return false
	}
	pl, err := s.project.Plan() // a person may have edited it meanwhile
	if err == nil {
		err = s.follows(pl)
	}
	var ids []string
	if err == nil {
		ids, err = proposal.AddUnasked(s.project, pl)
	}
	if err != nil {
		s.watcher.Say("what the review found is not added: " + exit.Message(err))
	}
	if len(ids) == 0 {
		return false
	}
	s.remarks = []string{"added for the review of the whole epic: " + strings.Join(ids, ", ")}
	if changes := project.ComparePlans(s.plan, pl).String(); changes != "" {
		s.remarks = append(s.remarks, "this run uses epic.yml as it is now; "+changes)
	}
	if pl, err = s.project.Plan(); err != nil {
		s.watcher.Say(exit.Message(err))
		return false
	}
	s.plan = pl
	if len(s.o.Tasks) > 0 { // else they would be none of this run's
		s.o.Tasks = append(s.o.Tasks, ids...)
	}
	return true
}

// follows refuses a plan that is another epic's, lacks a task the user named, or needs an agent that is not there.
func (s *session) follows(pl *project.Plan) error {
	if have, want := s.plan.Epic.ID, pl.Epic.ID; have != want {
		return &attempts.EpicError{Path: s.project.Rel(s.project.File(attempts.LedgerFile)), Have: have, Want: want}
	}
	for _, id := range s.o.Tasks {
		if _, err := pl.Task(id); err != nil {
			return err
		}
	}
	return s.project.CheckAgents(pl)
}

// drains has the drain of the run that is on.
type drains struct {
	mu    sync.Mutex
	drain chan struct{}
}

// next returns the drain of a run that begins.
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

// finish prints how the session went, and returns its exit code as an error.
func (s *session) finish(sum ending.Summary, err error, code int) error {
	if err != nil && sum.Reason == "" { // it never began
		return err
	}
	out := s.o.App.Out
	out.Optional = true // the exit code tells of the night, not of the output
	view, reading := attempts.Read(s.project.Dir, nil, nil)
	var now *status.Report
	if reading == nil {
		// Before anything is printed: who reads that may take their time.
		runreport.Keep(s.o.App, s.project, s.plan, runreport.Ended{Run: sum.Run, View: view})
		now = status.AfterRun(s.project, s.plan, view)
	}
	if s.o.JSON {
		answer := status.NewSummary(sum, code, s.reloads)
		if err != nil {
			answer.Error = exit.Message(err)
		}
		if reading == nil {
			answer.Tasks = status.TasksLeft(now)
		}
		_ = s.o.App.PrintJSON(answer)
	} else if reading == nil && !(sum.Ended == 0 && errors.As(err, new(*text.RefusedError))) { // else the error says what to do first
		l := status.Printer{Now: s.o.App.Now(), Width: terminal.Columns(out.Dest), Branch: now.Branch, From: now.From}
		l.Shared = s.project.Config.Relay.Isolation == string(engine.IsolationShared)
		l.RunSummary(out, sum, now)
	}
	s.learn(sum.Ended, view)
	var none *orchestrator.NoRunnerError
	switch {
	case errors.As(err, &none):
		return withLoginHint(s.project, none)
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
