// Package bench runs acceptance checks on commits, in clean checkouts that are set up as those of agents are. It observes and classifies:
// what a result means is for package verdict.
package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/epic/globs"
	"relay/orchestrator/attemptfiles"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/slot"
	"relay/orchestrator/git/worktree"
	"relay/orchestrator/provision"
	"relay/orchestrator/userconfig"
	"relay/orchestrator/verdict"
	"relay/reanchor"
	"relay/runners"
	"relay/runners/shell"
)

// Benches runs checks in clean checkouts of a commit. It does not repeat checks whose result on a tree is known.
type Benches struct {
	Checks  *checks.Runner
	Pool    *slot.Pool
	Slots   *slot.Names
	Files   *provision.Files // of the user's checkout, which slots get
	Tools   *userconfig.Watch
	Env     func(a engine.Attempt, ofEpic bool) []string // of set-up commands
	Results *checks.Cache
	Busy    atomic.Int32 // attempts, and slots in which checks run
}

// Quiet reports whether no attempt but one is at work, and no checks but its own.
func (b *Benches) Quiet() bool { return b.Busy.Load() <= 2 } // the attempt, and its bench

// Ask runs checks, one after another. When all is known there is no checkout either.
func (b *Benches) Ask(ctx context.Context, q checks.Question, tr *Trouble, visit checks.Visit) error {
	tree, err := b.Checks.Home.Tree(ctx, q.Commit)
	if err != nil {
		return err
	}
	for _, list := range q.Lists() {
		if more, err := b.askList(ctx, list, tree, tr, visit); err != nil || !more {
			return err
		}
	}
	return nil
}

func (b *Benches) askList(ctx context.Context, q checks.Question, tree string, tr *Trouble, visit checks.Visit) (more bool, err error) {
	on := slotBench{b: b, q: q}
	defer on.leave()
	run := func() (list []checks.Result, whole bool, err error) {
		list, more, err = on.run(ctx, tr, visit)
		return list, more, err
	}
	if q.Anew {
		_, _, err := run()
		return more, err
	}
	own, shared := b.Checks.Key(q, tree, q.Attempt.Task.ID), b.Checks.Key(q, tree, "")
	key := own
	if q.OfEpic() || q.Before && !slices.ContainsFunc(q.Checks, func(n checks.Check) bool { return n.Expect == epic.ExpectRedThenGreen }) {
		key = shared // whose doing a failure is may be told by what another task's checks have said
	}
	list, cached, err := b.Results.Get(ctx, key, q.Believed, run)
	switch {
	case err != nil:
		return false, err
	case ctx.Err() != nil && !tr.Any():
		tr.StoppedAt(q.Checks[0].Name)
		return false, nil
	case cached:
		return q.Replay(list, visit)
	case !q.OfEpic():
		b.Results.Copy(key, own)
		b.Results.Copy(key, shared)
	}
	return more, nil
}

// Again asks a check of the epic again what it says of the commit that a work is put on, when it fails on the work.
func (b *Benches) Again(
	ctx context.Context, q checks.Question, check checks.Check, before checks.Result, tr *Trouble,
) (checks.Result, error) {
	if before.Twice || !before.Red() && !before.Passed() {
		return before, nil
	}
	tree, err := b.Checks.Home.Tree(ctx, q.Commit)
	if err != nil {
		return before, err
	}
	q.Anew, q.Checks = true, checks.List(nil, b.Checks.Options.Epic.Checks)
	key := b.Checks.Key(q, tree, "")
	q.Checks = checks.On(checks.OnAgain, q.Checks[:check.Index+1])
	passed := before.Passed()
	err = b.Ask(ctx, q, tr, func(one checks.Check, again checks.Result) (bool, error) {
		if one.Index == check.Index {
			before = again
			before.Twice = again.Red() && !passed
			b.Results.Correct(key, check.Index, again)
		}
		return true, nil
	})
	if err == nil && !tr.Any() && passed && !before.Passed() {
		tr.Offline = b.Checks.Why(check, before) + " on " + q.Commit[:min(12, len(q.Commit))] + " too, where it has passed before: nothing is known of the work"
	}
	return before, err
}

// Trouble is what kept commands from saying anything, with the runs of the set-up commands that failed.
type Trouble struct {
	verdict.Mishap
	Runs []attempts.CheckRun
}

// Any reports whether there was any.
func (tr *Trouble) Any() bool { return tr.Mishap != verdict.Mishap{} }

// StoppedAt notes that the run was stopped while a command ran.
func (tr *Trouble) StoppedAt(command string) { tr.Stopped = "while " + command + " ran" }

// slotBench is a clean checkout of a commit to run a list of checks in.
type slotBench struct {
	b    *Benches
	q    checks.Question
	name string
	at   checks.Location
}

// run runs the list from its first check, until visit wants no more; more is false then.
func (s *slotBench) run(ctx context.Context, tr *Trouble, visit checks.Visit) (list []checks.Result, more bool, err error) {
	if err := s.enter(ctx, tr); err != nil || tr.Any() {
		return nil, false, err
	}
	for _, check := range s.q.Checks {
		r, err := s.b.Checks.Run(ctx, s.at, check)
		switch {
		case ctx.Err() != nil:
			tr.StoppedAt(check.Name)
			return list, false, nil //nolint:nilerr // the attempt ends as stopped
		case err != nil:
			return list, false, err
		case r.Unknown:
			tr.Unseen = check.Name
			return list, false, nil
		}
		if r.Changed, err = s.putBack(ctx, tr); err != nil || tr.Any() {
			return list, false, err
		}
		list = append(list, r)
		if more, err := visit(check, r); err != nil || !more {
			return list, false, err
		}
	}
	return list, true, nil
}

// enter makes the checkout. Where it cannot be set up, it sees whether the set-up succeeds without the work.
func (s *slotBench) enter(ctx context.Context, tr *Trouble) error {
	s.name, _ = s.b.Slots.Take(slot.ForBench)
	s.b.Busy.Add(1)
	repo, err := s.b.Pool.Acquire(ctx, s.name, s.q.Commit, "")
	if err != nil {
		return err
	}
	if err := (&worktree.Tree{Repo: repo}).Lay(ctx, s.q.LayFrom, s.q.Lay); err != nil {
		return err
	}
	s.at = checks.Location{Attempt: s.q.Attempt, Logs: s.q.Logs, Dir: repo.Root()}
	if err := s.b.Provision(ctx, s.at, s.q.OfEpic(), tr); err != nil || tr.SetUp == "" || s.q.From == "" {
		return err
	}
	without := slotBench{b: s.b, q: s.q}
	without.q.Commit, without.q.From, without.q.Logs = s.q.From, "", filepath.Join(s.q.Logs, "without")
	defer without.leave()
	var alone Trouble
	if err := without.enter(ctx, &alone); err != nil || alone.Any() {
		return err
	}
	tr.ByWork = true
	for i := range tr.Runs {
		tr.Runs[i].Phase, tr.Runs[i].Attribution = attempts.PhaseTask, attempts.BrokenByTask
	}
	return nil
}

// putBack puts protected files back that were changed while a check ran: the next ones would depend on them.
func (s *slotBench) putBack(ctx context.Context, tr *Trouble) ([]string, error) {
	patterns := s.q.Protected(s.b.Checks.Options.Epic)
	if len(patterns) == 0 {
		return nil, nil
	}
	ctx, cancel := gitcmd.Uninterrupted(ctx)
	defer cancel()
	changed, err := s.b.Pool.Undo(ctx, s.name, func(path string) bool {
		return slices.ContainsFunc(patterns, func(glob string) bool { return globs.Covers(glob, path) })
	})
	if errors.Is(err, slot.ErrSpoiled) {
		tr.Spoiled = true
		return nil, nil
	}
	return changed, err
}

func (s *slotBench) leave() {
	if s.name != "" {
		s.b.Slots.Release(s.name)
		s.b.Busy.Add(-1)
	}
}

// Provision makes a fresh slot ready for work: it puts the untracked files there that are configured and runs the set-up commands.
// When one of these fails no agent can be blamed for what would follow.
func (b *Benches) Provision(ctx context.Context, at checks.Location, ofEpic bool, tr *Trouble) error {
	if b.Files.Configured() {
		var err error
		if tr.SetUp, err = b.Files.Put(ctx, at.Dir); err != nil || tr.Any() {
			return err
		}
	}
	if len(b.Checks.Options.Worktree.Setup) == 0 {
		return nil
	}
	return b.Tools.RunForUser(func() error { return b.setUp(ctx, at, ofEpic, tr) })
}

// setUp runs the set-up commands in a fresh slot.
func (b *Benches) setUp(ctx context.Context, at checks.Location, ofEpic bool, tr *Trouble) error {
	o := b.Checks.Options
	wall := o.Worktree.SetupWall
	for i, command := range o.Worktree.Setup {
		log := filepath.Join(at.Logs, fmt.Sprintf("%d-setup.log", i+1))
		if err := attemptfiles.MakeRoom(o.Dir, log); err != nil {
			return err
		}
		b.Checks.Emit(engine.Event{Task: at.Attempt.Task.ID, Kind: engine.KindSettingUp, Detail: runners.Event{Text: command}})
		report, err := shell.Run(ctx, o.Supervisor, shell.Request{
			Mark: at.Attempt.Mark(), Dir: at.Dir, Run: command, Log: log, Env: b.Env(at.Attempt, ofEpic),
			Wall: wall, StopGrace: o.Limits.StopGrace, Cap: o.Limits.OutputCap,
		})
		switch {
		case ctx.Err() != nil:
			tr.StoppedAt(command)
			return nil //nolint:nilerr // the attempt ends as stopped
		case err != nil:
			return err
		case checks.Unknown(report) || report.TimedOut || report.Exit.Code != 0:
			tr.SetUp = fmt.Sprintf("set-up command %q: %s", command, checks.With(ending(report, wall), checks.Said(log)))
			rel, _ := filepath.Rel(o.Dir, log)
			tr.Runs = append(tr.Runs, attempts.CheckRun{
				Name: command, ExitCode: report.Exit.Code, Tail: report.Tail,
				Log: filepath.ToSlash(rel), SHA256: checks.LogSum(log), Phase: attempts.PhaseBaseline,
			})
			return nil
		}
	}
	return nil
}

// ending says how a command ended.
func ending(r shell.Report, wall time.Duration) string {
	switch {
	case r.TimedOut:
		return checks.TooMuch(r.Flooded, wall)
	case checks.Unknown(r):
		return "the process that watched it died"
	}
	return runners.DescribeExit(r.Exit)
}

// Review gives a reviewer a clean checkout of a commit.
func (b *Benches) Review(ctx context.Context, head string) (*reanchor.Git, func(), error) {
	name, _ := b.Slots.Take(slot.ForReview)
	repo, err := b.Pool.Acquire(ctx, name, head, "")
	return repo, func() { b.Slots.Release(name) }, err
}
