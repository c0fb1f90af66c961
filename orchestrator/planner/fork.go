package planner

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/finish"
	"relay/orchestrator/limits"
	"relay/orchestrator/sessionkeeper"
	"relay/reanchor"
)

// ForkRequest is a session that goes on from a recorded conversation in another way, outside of the plan.
type ForkRequest struct {
	Run    string // whose folder its files are in, as those of attempt 1 of
	ID     string // which also names what it makes: refs/relay/EPIC/ID/1
	Title  string
	Runner string
	Model  string // "" : that of the options
	Base   string // the commit it begins from
	Prompt reanchor.Fork
	Branch sessionkeeper.Fork // of what it is a branch; Run fills in the rest
}

// ForkResult is what came of it.
type ForkResult struct {
	engine.Result

	Folder string                 // of its brief, transcript and patch, absolute
	Over   *limits.ExhaustedError // the cap of an attempt that ended it; nil: none did
	Stay   []string               // in words, what could not be removed afterwards
}

// RunFork has an agent carry out a request in a repository of its own, with the limits of an attempt, and keeps what it makes. Nothing is
// recorded in the ledger, and nothing lands. observe is called with its events from one goroutine.
func RunFork(ctx context.Context, o orchestrator.Options, f ForkRequest, observe func(engine.Event)) (ForkResult, error) {
	plan := *o.Epic
	plan.Checks = nil
	o.Epic, o.Run, o.Isolation, o.Review.Reviewers = &plan, f.Run, engine.IsolationWorktree, nil
	o.Plan = nil // the files of a run are not this one's to put back
	t := epic.Task{ID: f.ID, Title: f.Title, AllowNoChange: true}
	branch := f.complete(&o, &t)
	done := ForkResult{Folder: filepath.Join(o.Dir, attempts.RunsDir, f.Run, f.ID, "1")}
	if err := errors.Join(os.MkdirAll(done.Folder, 0o700), branch.Write(done.Folder)); err != nil {
		return ForkResult{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	spending := limits.NewTracker(limits.Caps{Attempt: o.Budget.Attempt}, attempts.Usage{}, &attempts.Ledger{})
	spending.Begin(&t, attempts.Usage{})
	listen := func(e engine.Event) {
		if e.Kind == engine.KindUsage && !e.Delivered {
			if over := spending.Record(f.ID, e.Usage); over != nil {
				cancel(over)
			}
		}
		if e.Kind == engine.KindBriefed {
			branch.Dir = e.Briefed.Dir // read again when no more events come
		}
		observe(e)
	}
	err := apart(ctx, &o, work{finish.Forks, f.ID, "fork sessions"}, listen, func(with forking, _ chan<- engine.Event) (err error) {
		done.Result, done.Stay, err = with.Fork(ctx, engine.Attempt{
			Run: f.Run, Task: t, Number: 1, Base: f.Base, Runner: f.Runner, Model: f.Model, Wall: f.Prompt.Wall, Prompt: string(f.Prompt.Prompt()),
		})
		return err
	})
	branch.Summary = cmp.Or(done.Receipt.Summary, done.Receipt.ErrorSummary)
	err = errors.Join(err, branch.Write(done.Folder))
	done.Over, _ = errors.AsType[*limits.ExhaustedError](context.Cause(ctx))
	return done, err
}

// forking is an engine that carries out attempts outside of a plan. It returns in words what could not be removed afterwards.
type forking interface {
	keepsLedger
	Fork(ctx context.Context, a engine.Attempt) (r engine.Result, stay []string, err error)
}

// complete fills in what the options say, and returns of what the request is a branch.
func (f *ForkRequest) complete(o *orchestrator.Options, task *epic.Task) sessionkeeper.Fork {
	f.Prompt.Base, f.Prompt.Agent, f.Prompt.Wall = f.Base, o.Agent(f.Runner), o.Limits.WallFor(task)
	f.Prompt.USD, f.Prompt.Tokens = o.Budget.Attempt.USD, o.Budget.Attempt.Tokens
	f.Model = cmp.Or(f.Model, o.Model)
	branch := f.Branch
	branch.Query, branch.Runner, branch.Model, branch.Base = f.Prompt.Query, f.Runner, f.Model, f.Base
	if o.CLIOf != nil {
		branch.Kind, _ = o.CLIOf(f.Runner)
	}
	return branch
}
