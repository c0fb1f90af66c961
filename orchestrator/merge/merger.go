// Package merge puts the work of proved attempts onto the integration branch: it merges or replays them, has the checks pass on what
// comes of it, and moves the branch. It runs no checks itself and keeps no work: see [Work].
package merge

import (
	"context"
	"errors"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/finish"
	"relay/orchestrator/git/integration"
	"relay/orchestrator/provision"
	"relay/orchestrator/verdict"
	"relay/reanchor/git"
)

// Work is what a [Merger] needs of the engine that made the work.
type Work interface {
	// Check runs the checks of one landing on the merged tree at step.To, with ofEpic the epic's as well, until one fails.
	Check(ctx context.Context, p engine.Verified, step engine.Step, ofEpic bool) (Proof, error)
	// Keep keeps the work of an attempt that was proved and does not land, and notes where in its result.
	Keep(ctx context.Context, a engine.Attempt, r *engine.Result) error
	// KeepCommit keeps the commit of an attempt that lands as another one.
	KeepCommit(ctx context.Context, a engine.Attempt, commit string) error
	// Contain gives up an attempt whose commits git cannot read. It returns cause when that is not the fault of this attempt alone.
	Contain(ctx context.Context, p engine.Verified, cause error) (engine.Result, error)
	// Lands notes in the result of an attempt that lands what its changes mean for others.
	Lands(a engine.Attempt, r *engine.Result)
	// LogFile returns a file for what a command has printed, in a folder that is there.
	LogFile(a engine.Attempt, name string) (string, error)
}

// Proof is what the checks of one landing came to.
type Proof struct {
	Seen   verdict.Runs
	Checks []attempts.CheckRun
	Flaky  string // about a check that failed and, repeated alone, passed; "": none
}

// Merger is the [engine.Merger] of tasks that work in slots. It is used by one goroutine at a time.
type Merger struct {
	Home    *git.Repo
	Options *engine.LocalOptions
	Branch  *integration.Branch
	Guard   *integration.TipGuard  // of the head of Branch
	Config  *provision.ConfigWatch // of the configuration by which git merges
	Tasks   *finish.BranchSet
	Work    Work

	step step // the last that was made; only one is made at a time
}

// step is a step of the integration branch that has been made and not taken yet.
type step struct {
	engine.Step
	branches map[string]string // of what lands, and what they have
	anew     map[string]bool   // tasks whose work is there under other names
	replayed []engine.Verified // the same, with what has become of them
}

// Join makes the integration branch's next step out of a group of work: of as many of its first as git can put together. It
// proves the step before the branch moves. When several are red together, the step says so and goes nowhere.
func (m *Merger) Join(ctx context.Context, group []engine.Verified) (engine.Step, error) {
	made, err := m.make(ctx, group)
	if git.Refused(ctx, err) {
		made, err = m.makeFirst(ctx, group[0])
	}
	if err != nil {
		return engine.Step{}, err
	}
	m.step = made
	return made.Step, nil
}

// makeFirst makes a step of the first of a group alone. A fault of its commits ends its own attempt.
func (m *Merger) makeFirst(ctx context.Context, first engine.Verified) (step, error) {
	made, err := m.make(ctx, []engine.Verified{first})
	if err == nil {
		return made, nil
	}
	r, err := m.Work.Contain(ctx, first, err)
	tip := m.Guard.Tip()
	return step{Step: engine.Step{From: tip, To: tip, Results: []engine.Result{r}}}, err
}

func (m *Merger) make(ctx context.Context, group []engine.Verified) (step, error) {
	m.Config.PutBack()
	from := m.Guard.Tip()
	m.Branch.Signer.Unsigned() // of a step that was not taken
	made, stacked, err := m.stack(ctx, from, group)
	if err != nil || stacked == 0 {
		return made, err
	}
	if err := m.Branch.Pin(ctx, made.To); err != nil {
		return made, err
	}
	if green, err := m.checkStep(ctx, group[:stacked], &made); err != nil || green || stacked == 1 {
		return made, err
	}
	return step{Step: engine.Step{From: from, To: from, Red: stacked}}, nil
}

// stack puts the work of a batch on top of a commit, as far as git can, and returns how many of the batch that is. When not even the
// first one fits, the step says so and goes nowhere.
func (m *Merger) stack(ctx context.Context, from string, batch []engine.Verified) (made step, stacked int, err error) {
	made = step{Step: engine.Step{From: from, To: from}, branches: make(map[string]string), anew: make(map[string]bool)}
	for i, p := range batch {
		if p.Result.Head == p.Attempt.Base { // nothing has changed, and nothing had to
			stacked++
			continue
		}
		to, err := m.Branch.Integrate(ctx, made.To, p.Result.Head, integration.MergeInput{
			Base: p.Attempt.Base, Message: message(m.Options, p, "Merge "), Squash: message(m.Options, p, ""),
			Left: LeftMessage(m.Options, p.Attempt, runTrailer+p.Attempt.Run), Trailers: Trailers(m.Options, p.Attempt),
		})
		if conflict, ok := errors.AsType[*integration.ConflictError](err); ok {
			if i == 0 {
				r := p.Result
				err = m.keep(ctx, p.Attempt, &r, m.conflicts(ctx, p.Attempt, from, conflict, &r))
				made.Results = []engine.Result{r}
				return made, 0, err
			}
			break // with one of this batch: that may not land itself
		}
		if err != nil {
			return made, 0, err
		}
		made.To = to.Commit
		made.anew[p.Attempt.Task.ID] = to.Anew
		stacked++
	}
	if stacked > 1 && made.To != from {
		made.To, err = m.Branch.CloseBatch(ctx, from, made.To, batchMessage(m.Options, batch[:stacked]))
	}
	return made, stacked, err
}

// keep keeps the work of an attempt that cannot land. One that was stopped is tried again.
func (m *Merger) keep(ctx context.Context, a engine.Attempt, r *engine.Result, ruling verdict.Ruling) error {
	if ruling.Stops() || ruling.Lands() {
		return nil
	}
	return m.Work.Keep(ctx, a, r)
}

// Advance moves the integration branch, if there is anything to add, and then forgets the branches that have landed. It reports false
// when the branch is not where it was any more.
func (m *Merger) Advance(ctx context.Context, _ engine.Step) (bool, error) {
	made := m.step
	ctx, cancel := git.Uninterrupted(ctx)
	defer cancel()
	for _, p := range made.replayed {
		if err := m.Work.KeepCommit(ctx, p.Attempt, p.Result.Head); err != nil {
			return false, err
		}
	}
	if made.To != made.From {
		moved, err := m.Guard.Step(ctx, made.To)
		if err != nil || !moved {
			return false, err
		}
	}
	for name, head := range made.branches {
		if err := m.Tasks.Drop(ctx, name, head); err != nil {
			return false, err
		}
	}
	return true, nil
}
