package worker

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
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/slot"
	"relay/orchestrator/git/worktree"
	"relay/orchestrator/provision"
	"relay/reanchor"
	"relay/runners"
	"relay/runners/shell"
)

// benches runs checks in clean checkouts of a commit. It does not repeat checks whose result on a tree is known.
type benches struct {
	run     *workspace
	pool    *slot.Pool
	slots   *slot.Names
	files   *provision.Files // of the user's checkout, which slots get
	results *checks.Cache
	busy    atomic.Int32 // attempts, and slots in which checks run
}

// quiet reports whether no attempt but one is at work, and no checks but its own.
func (b *benches) quiet() bool { return b.busy.Load() <= 2 } // the attempt, and its bench

// ask runs checks, one after another. When all is known there is no checkout either.
func (b *benches) ask(ctx context.Context, q checks.Question, tr *trouble, visit checks.Visit) error {
	tree, err := b.run.home.Tree(ctx, q.Commit)
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

func (b *benches) askList(ctx context.Context, q checks.Question, tree string, tr *trouble, visit checks.Visit) (more bool, err error) {
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
	own, shared := b.run.checks.Key(q, tree, q.Attempt.Task.ID), b.run.checks.Key(q, tree, "")
	key := own
	if q.OfEpic() || q.Before && !slices.ContainsFunc(q.Checks, func(n checks.Check) bool { return n.Expect == epic.ExpectRedThenGreen }) {
		key = shared // whose doing a failure is may be told by what another task's checks have said
	}
	list, cached, err := b.results.Get(ctx, key, q.Believed, run)
	switch {
	case err != nil:
		return false, err
	case ctx.Err() != nil && !tr.yes():
		tr.stopped(q.Checks[0].Name)
		return false, nil
	case cached:
		return q.Replay(list, visit)
	case !q.OfEpic():
		b.results.Copy(key, own)
		b.results.Copy(key, shared)
	}
	return more, nil
}

// again asks a check of the epic again: see [bench].
func (b *benches) again(
	ctx context.Context, q checks.Question, check checks.Check, before checks.Result, tr *trouble,
) (checks.Result, error) {
	if before.Twice || !before.Red() && !before.Passed() {
		return before, nil
	}
	tree, err := b.run.home.Tree(ctx, q.Commit)
	if err != nil {
		return before, err
	}
	q.Anew, q.Checks = true, checks.List(nil, b.run.o.Epic.Checks)
	key := b.run.checks.Key(q, tree, "")
	q.Checks = checks.On(checks.OnAgain, q.Checks[:check.Index+1])
	passed := before.Passed()
	err = b.ask(ctx, q, tr, func(one checks.Check, again checks.Result) (bool, error) {
		if one.Index == check.Index {
			before = again
			before.Twice = again.Red() && !passed
			b.results.Correct(key, check.Index, again)
		}
		return true, nil
	})
	if err == nil && !tr.yes() && passed && !before.Passed() {
		tr.Offline = b.run.checks.Why(check, before) + " on " + q.Commit[:min(12, len(q.Commit))] + " too, where it has passed before: nothing is known of the work"
	}
	return before, err
}

// slotBench is a clean checkout of a commit to run a list of checks in.
type slotBench struct {
	b    *benches
	q    checks.Question
	name string
	at   checks.Location
}

// run runs the list from its first check, until visit wants no more; more is false then.
func (s *slotBench) run(ctx context.Context, tr *trouble, visit checks.Visit) (list []checks.Result, more bool, err error) {
	if err := s.enter(ctx, tr); err != nil || tr.yes() {
		return nil, false, err
	}
	for _, check := range s.q.Checks {
		r, err := s.b.run.checks.Run(ctx, s.at, check)
		switch {
		case ctx.Err() != nil:
			tr.stopped(check.Name)
			return list, false, nil //nolint:nilerr // the attempt ends as stopped
		case err != nil:
			return list, false, err
		case r.Unknown:
			tr.Unseen = check.Name
			return list, false, nil
		}
		if r.Changed, err = s.putBack(ctx, tr); err != nil || tr.yes() {
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
func (s *slotBench) enter(ctx context.Context, tr *trouble) error {
	s.name, _ = s.b.slots.Take(slot.ForBench)
	s.b.busy.Add(1)
	repo, err := s.b.pool.Acquire(ctx, s.name, s.q.Commit, "")
	if err != nil {
		return err
	}
	if err := (&worktree.Tree{Repo: repo}).Lay(ctx, s.q.LayFrom, s.q.Lay); err != nil {
		return err
	}
	s.at = checks.Location{Attempt: s.q.Attempt, Logs: s.q.Logs, Dir: repo.Root()}
	if err := s.b.provision(ctx, s.at, s.q.OfEpic(), tr); err != nil || tr.SetUp == "" || s.q.From == "" {
		return err
	}
	without := slotBench{b: s.b, q: s.q}
	without.q.Commit, without.q.From, without.q.Logs = s.q.From, "", filepath.Join(s.q.Logs, "without")
	defer without.leave()
	var alone trouble
	if err := without.enter(ctx, &alone); err != nil || alone.yes() {
		return err
	}
	tr.ByWork = true
	for i := range tr.runs {
		tr.runs[i].Phase, tr.runs[i].Attribution = attempts.PhaseTask, attempts.BrokenByTask
	}
	return nil
}

// putBack puts protected files back that were changed while a check ran: the next ones would depend on them.
func (s *slotBench) putBack(ctx context.Context, tr *trouble) ([]string, error) {
	patterns := s.q.Protected(s.b.run.o.Epic)
	if len(patterns) == 0 {
		return nil, nil
	}
	ctx, cancel := uninterrupted(ctx)
	defer cancel()
	changed, err := s.b.pool.Undo(ctx, s.name, func(path string) bool {
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
		s.b.slots.Release(s.name)
		s.b.busy.Add(-1)
	}
}

// provision makes a fresh slot ready for work: it puts the untracked files there that are configured and runs the set-up commands.
// When one of these fails no agent can be blamed for what would follow.
func (b *benches) provision(ctx context.Context, at checks.Location, ofEpic bool, tr *trouble) error {
	if b.files.Configured() {
		var err error
		if tr.SetUp, err = b.files.Put(ctx, at.Dir); err != nil || tr.yes() {
			return err
		}
	}
	if len(b.run.o.Worktree.Setup) == 0 {
		return nil
	}
	return b.run.guard.Tools.RunForUser(func() error { return b.setUp(ctx, at, ofEpic, tr) })
}

// setUp runs the set-up commands in a fresh slot.
func (b *benches) setUp(ctx context.Context, at checks.Location, ofEpic bool, tr *trouble) error {
	g, wall := b.run, b.run.o.Worktree.SetupWall
	for i, command := range g.o.Worktree.Setup {
		log := filepath.Join(at.Logs, fmt.Sprintf("%d-setup.log", i+1))
		if err := g.makeRoom(log); err != nil {
			return err
		}
		g.emit(engine.Event{Task: at.Attempt.Task.ID, Kind: engine.KindSettingUp, Detail: runners.Event{Text: command}})
		report, err := shell.Run(ctx, g.o.Supervisor, shell.Request{
			Mark: at.Attempt.Mark(), Dir: at.Dir, Run: command, Log: log, Env: g.commandEnv(at.Attempt, ofEpic),
			Wall: wall, StopGrace: g.o.Limits.StopGrace, Cap: g.o.Limits.OutputCap,
		})
		switch {
		case ctx.Err() != nil:
			tr.stopped(command)
			return nil //nolint:nilerr // the attempt ends as stopped
		case err != nil:
			return err
		case checks.Unknown(report) || report.TimedOut || report.Exit.Code != 0:
			tr.SetUp = fmt.Sprintf("set-up command %q: %s", command, checks.With(ending(report, wall), checks.Said(log)))
			rel, _ := filepath.Rel(g.o.Dir, log)
			tr.runs = append(tr.runs, attempts.CheckRun{
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

// review gives a reviewer a clean checkout of a commit.
func (b *benches) review(ctx context.Context, head string) (*reanchor.Git, func(), error) {
	name, _ := b.slots.Take(slot.ForReview)
	repo, err := b.pool.Acquire(ctx, name, head, "")
	return repo, func() { b.slots.Release(name) }, err
}
