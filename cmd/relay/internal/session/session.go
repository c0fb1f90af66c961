// Package session is one relay work: runs of the orchestrator, one after the other as the plan changes, with signals, progress, the
// summary and the exit code.
//
// A run keeps the plan it began with (runs/RUN/epic.yml). relay reload checks an edited epic.yml and asks the run, if the lock's holder
// is that process by pid, start and boot. The run then starts nothing new, ends when what runs has landed, with reason reload, and the
// session begins another one with the plan as it is then, or with the old one when the new has mistakes. Nothing is handed over in
// memory: the next run folds the ledger as any other.
//
// A person asks a run for a reload, a gate, a pause or the end of an attempt through a socket, to which requests in the epic's folder
// links. The system says which process asks: one that the run has started is refused, and a note in the log says so. The run that is on
// carries out what others ask, records it as an event and replies.
//
// peer.go names the process at the other end of a unix socket.
package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/runview"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/orchestrator/notify"
	"relay/orchestrator/telemetry"
	"relay/orchestrator/verdict"
	"relay/runners/process"
)

// session is one epic of a relay work: a run, and after each relay reload another one, with the plan as it is by then.
type session struct {
	command *command
	o       *Options
	project *project.Project
	plan    *project.Plan // of the newest run
	reloads int
	remarks []string       // of the next run
	before  attempts.Usage // by the epics before this one, as far as it counts against the run's budget
	spent   attempts.Usage
	asks    <-chan orchestrator.Ask // what a person asks of the run that is on
}

// Target is what a session works on.
type Target struct {
	Guardian *process.Guardian // closed when the session ends
	Project  *project.Project
	Plan     *project.Plan
}

// Run runs the epic until nothing is left that could be done, or INT or TERM ends it, and prints the summary. Its error has the exit code.
func Run(ctx context.Context, o *Options, t Target) error {
	err := t.Project.EnsureIgnored()
	if err != nil {
		return errors.Join(err, t.Guardian.Close())
	}
	ctx, c, err := begin(ctx, o.App, t, t.Plan.Epic.ID)
	if err != nil {
		return err
	}
	defer c.release()
	s := &session{command: c, o: o, project: t.Project, plan: t.Plan, remarks: c.remarks()}
	sum, err := s.work(ctx)
	c.end()
	e := s.ended(sum, err)
	e.print()
	return e.failure()
}

// work carries the epic through, one run after the other, and sums them up.
func (s *session) work(ctx context.Context) (decide.Summary, error) {
	var whole decide.Summary
	asks, over := s.receive(ctx)
	defer over()
	s.asks = asks
	drain := s.command.stop.next()
	s.command.follow(ctx, s.project)
	for {
		sum, err := s.run(ctx, drain)
		if err != nil && sum.Reason == "" && s.reloads > 0 { // it did not begin, but others before it have
			sum = whole
			sum.Reason = decide.Failed
		} else {
			whole = status.AddRun(whole, sum)
			sum = whole
			s.spent = whole.Usage
		}
		if err == nil && s.extend(ctx, sum.Reason) {
			s.reloads++
			drain = s.command.stop.next()
			continue
		}
		switch asked := closed(drain); {
		case ctx.Err() != nil && sum.Reason == decide.Reload, ctx.Err() != nil && s.reloads > 0 && errors.Is(err, context.Cause(ctx)):
			sum.Reason = decide.Interrupted // between two runs
			return sum, nil
		case err != nil || !asked || ctx.Err() != nil || sum.Reason == decide.Deadline:
			return sum, err
		}
		s.reloads++
		drain = s.command.stop.next() // before the plan is read: whoever changes it later and asks again is heard
		s.reread()
	}
}

// run returns one run.
func (s *session) run(ctx context.Context, drain <-chan struct{}) (decide.Summary, error) {
	options := s.o.RunOptions(ctx, s.project, s.plan)
	options.Supervisor = cli.Walled(ctx, s.project, s.command.guardian, "")
	options.Remote = func(ctx context.Context, branch string) (name, address string) {
		return remoteOf(ctx, s.project.Git, branch)
	}
	options.Relay, options.Seen, options.Effective = project.RelayVersion(), s.plan.Seen(), project.EffectiveYAML(s.project)
	options.Notify = s.notify
	options.ExitCode = func(sum decide.Summary, err error) int { return terminal.CodeOfRun(sum, err, s.command.stop.signal()) }
	options.Drain, options.Asks = drain, s.asks
	options.Telemetry = telemetry.Configure(s.o.App.Lookup)
	options.Remarks = append(options.Telemetry.Problems, s.remarks...)
	box := cli.Sandbox(ctx, s.project)
	if posture := cli.Posture(ctx, s.project, s.plan.Epic.Tasks); posture != "" {
		options.Remarks = append(append(options.Remarks, append(s.command.last, "sandbox: "+posture)...), tryInside(ctx, s, &options)...)
	}
	if box.Holds("") && (options.Isolation != engine.IsolationWorktree || len(box.Outside) == 0) { // else the next run tries these again
		options.HeldBy = string(box.Kind)
	}
	options.Bare, options.Until = box.Outside, s.command.until
	options.Spent = s.before
	options.Spent.Add(s.spent)
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

// notify passes a change of state to the watcher and the receivers of notifications, with what to type for a runner that has refused.
func (s *session) notify(u decide.Update) {
	if verdict.ClassOf(u.Outcome).Refused {
		u.Fix = status.Fix(s.project, s.plan.Epic.Tasks, u.Runner, u.Outcome, u.Text)
	}
	s.command.watched(func(w *runview.Watcher) { w.Update(u) })
	for _, e := range notify.Of(u) {
		e.Epic = s.plan.Epic.ID
		tell(s.command.notifier, s.project, e)
	}
}

// reread reads epic.yml as the plan of the next run. The old plan stays when the new one is invalid.
func (s *session) reread() {
	pl, err := s.edited()
	if err != nil {
		messages := terminal.Diagnose(err).Messages
		if len(messages) > 1 {
			messages = []string{messages[0], fmt.Sprintf("and %d more", len(messages)-1)}
		}
		s.remarks = []string{"relay reload: epic.yml cannot be used, so this run keeps the previous plan: " + strings.Join(messages, "; ")}
		return
	}
	changes := project.ComparePlans(s.plan, pl).String()
	changes = cmp.Or(changes, "no task has changed")
	s.remarks = []string{"relay reload: this run uses epic.yml as it is now; " + changes}
	s.plan = pl
}

// extend adds what the review of the whole epic has found as tasks, for another run to do, if the user wants that unasked.
func (s *session) extend(ctx context.Context, why decide.EndReason) bool {
	if !s.o.Auto || why != decide.EpicRefused || ctx.Err() != nil {
		return false
	}
	pl, err := s.edited()
	var ids []string
	if err == nil {
		ids, err = runview.AddUnasked(s.project, pl)
	}
	if err != nil {
		s.command.say("what the review found is not added: " + terminal.Message(err))
	}
	if len(ids) == 0 {
		return false
	}
	s.remarks = []string{"added for the review of the whole epic: " + strings.Join(ids, ", ")}
	if changes := project.ComparePlans(s.plan, pl).String(); changes != "" {
		s.remarks = append(s.remarks, "this run uses epic.yml as it is now; "+changes)
	}
	if pl, err = s.project.Plan(); err != nil {
		s.command.say(terminal.Message(err))
		return false
	}
	s.plan = pl
	if len(s.o.Tasks) > 0 { // else they would be none of this run's
		s.o.Tasks = append(s.o.Tasks, ids...)
	}
	return true
}

// edited reads the plan, which a person may have edited meanwhile. It refuses one that is another epic's, lacks a task the user named, or
// needs an agent that is not there.
func (s *session) edited() (*project.Plan, error) {
	pl, err := s.project.Plan()
	if err != nil {
		return nil, err
	}
	if have, want := s.plan.Epic.ID, pl.Epic.ID; have != want {
		return nil, &attempts.EpicError{Path: s.project.Rel(s.project.File(attempts.LedgerFile)), Have: have, Want: want}
	}
	for _, id := range s.o.Tasks {
		if _, err := pl.Task(id); err != nil {
			return nil, err
		}
	}
	return pl, project.CheckAgents(s.project.Agents, pl)
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
