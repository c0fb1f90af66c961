package worker

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"relay/attempts"
	"relay/epic"
	"relay/epic/globs"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/slot"
	"relay/orchestrator/git/worktree"
)

// question is a list of checks to be run on one commit, for one attempt.
type question struct {
	a       engine.Attempt
	p       attemptFiles
	commit  string
	checks  []numbered
	from    string   // what the work was put on, for when it cannot be set up; "": nothing of an agent's is to blame
	before  bool     // it is about what the work begins from: then a failure is remembered as well
	lay     []string // files that are put to what layFrom, a commit, has of them
	layFrom string
	anew    bool // nothing that is known is believed, and what is said is not remembered
}

// heardCheck is told what each check has said, and says whether to go on.
type heardCheck func(check numbered, s checkResult) (more bool, err error)

// lists are the checks of the task and those of the epic: each list is run in a checkout of its own, for what the
// task's checks run is the agent's code too.
func (q question) lists() []question {
	var lists []question
	for _, ofEpic := range []bool{false, true} {
		own := q
		own.checks = slices.DeleteFunc(slices.Clone(q.checks), func(n numbered) bool { return n.ofEpic != ofEpic })
		if len(own.checks) > 0 {
			lists = append(lists, own)
		}
	}
	return lists
}

// ofEpic reports whether a list is the epic's, which is about no task.
func (q question) ofEpic() bool { return q.checks[0].ofEpic }

// protected are the files that no check of a list may change.
func (q question) protected(g *workspace) []string {
	if q.ofEpic() {
		return g.o.Epic.Protected
	}
	return slices.Concat(g.o.Epic.Protected, q.a.Task.Protected)
}

// believed reports whether what is known of a list need not be found out again. A failure of the work may have been
// mended by waiting.
func (q question) believed(list []checkResult) bool {
	return q.before || !slices.ContainsFunc(list, func(s checkResult) bool { return !s.passed() })
}

// ask runs checks in clean checkouts of a commit, one after another, until hear has heard enough. What is known of the
// commit's tree is not run again; when all is known there is no checkout either.
func (s *slotEngine) ask(ctx context.Context, q question, f *state, hear heardCheck) error {
	tree, err := s.home.Tree(ctx, q.commit)
	if err != nil {
		return err
	}
	for _, list := range q.lists() {
		if more, err := s.askList(ctx, list, tree, f, hear); err != nil || !more {
			return err
		}
	}
	return nil
}

func (s *slotEngine) askList(ctx context.Context, q question, tree string, f *state, hear heardCheck) (more bool, err error) {
	b := bench{l: s, q: q}
	defer b.leave()
	run := func() (list []checkResult, whole bool, err error) {
		list, more, err = b.run(ctx, f, hear)
		return list, more, err
	}
	if q.anew {
		_, _, err := run()
		return more, err
	}
	own, shared := q.key(s.workspace, tree, q.a.Task.ID), q.key(s.workspace, tree, "")
	key := own
	if q.ofEpic() || q.before && !slices.ContainsFunc(q.checks, func(n numbered) bool { return n.Expect == epic.ExpectRedThenGreen }) {
		key = shared // whose doing a failure is may be told by what another task's checks have said
	}
	list, known, err := s.said.of(ctx, key, q.believed, run)
	switch {
	case err != nil:
		return false, err
	case ctx.Err() != nil && f.Outcome == attempts.Success:
		f.Fail(attempts.Stopped, attempts.Interrupted, "the run was stopped while "+q.checks[0].Name+" ran")
		return false, nil
	case known:
		return q.replay(list, hear)
	case !q.ofEpic():
		s.said.also(key, own)
		s.said.also(key, shared)
	}
	return more, nil
}

// replay tells what is known of a list.
func (q question) replay(list []checkResult, hear heardCheck) (more bool, err error) {
	for i, s := range list {
		s.run.Name, s.run.Phase = q.checks[i].Name, q.checks[i].phase
		if more, err := hear(q.checks[i], s); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

// bench is a clean checkout of a commit to run a list of checks in.
type bench struct {
	l    *slotEngine
	q    question
	name string
	t    trial
}

// run runs the list from its first check, until hear has heard enough; more is false then.
func (b *bench) run(ctx context.Context, f *state, hear heardCheck) (list []checkResult, more bool, err error) {
	if err := b.enter(ctx, f); err != nil || f.Outcome != attempts.Success {
		return nil, false, err
	}
	for _, check := range b.q.checks {
		run, ended, err := b.t.check(ctx, check)
		s := checkResult{run: run, timedOut: ended.TimedOut, flooded: ended.Flooded, unseen: unseen(ended)}
		switch {
		case ctx.Err() != nil:
			f.Fail(attempts.Stopped, attempts.Interrupted, "the run was stopped while "+check.Name+" ran")
			return list, false, nil //nolint:nilerr // the attempt ends as stopped
		case err != nil:
			return list, false, err
		case s.unseen:
			f.Fail(attempts.Environment, attempts.CLIError, "the process that watched "+check.Name+" died; how it ended is unknown")
			return list, false, nil
		}
		if s.changed, err = b.putBack(ctx, f); err != nil || f.Outcome != attempts.Success {
			return list, false, err
		}
		list = append(list, s)
		if more, err := hear(check, s); err != nil || !more {
			return list, false, err
		}
	}
	return list, true, nil
}

// enter makes the checkout.
func (b *bench) enter(ctx context.Context, f *state) error {
	b.name, _ = b.l.slots.take(benchSlot)
	b.l.busy.Add(1)
	repo, err := b.l.pool.Acquire(ctx, b.name, b.q.commit, "")
	if err != nil {
		return err
	}
	if err := (&worktree.Tree{Repo: repo}).Lay(ctx, b.q.layFrom, b.q.lay); err != nil {
		return err
	}
	b.t = trial{b.l.workspace, b.q.a, b.q.p, repo.Root()}
	known := len(f.Receipt.Checks)
	if err := b.t.provision(ctx, b.l.files, b.q.ofEpic(), f); err != nil || f.Outcome != attempts.Environment || b.q.from == "" {
		return err
	}
	return b.blame(ctx, f, f.Receipt.Checks[known:])
}

// blame finds out whose doing it is that a work cannot be set up: where the set-up goes well without it, it is the work's.
func (b *bench) blame(ctx context.Context, f *state, failed []attempts.CheckRun) error {
	without := bench{l: b.l, q: b.q}
	without.q.commit, without.q.from, without.q.p.checks = b.q.from, "", filepath.Join(b.q.p.checks, "without")
	defer without.leave()
	alone := state{Result: engine.Result{Outcome: attempts.Success}}
	if err := without.enter(ctx, &alone); err != nil || alone.Outcome != attempts.Success {
		return err
	}
	f.Fail(attempts.Check, f.Receipt.ErrorCategory, f.Receipt.ErrorSummary+"; without this work it succeeds")
	for i := range failed {
		failed[i].Phase, failed[i].Attribution = attempts.PhaseTask, attempts.BrokenByTask
	}
	return nil
}

// putBack puts protected files back that were changed while a check ran: the next ones would go by them.
func (b *bench) putBack(ctx context.Context, f *state) ([]string, error) {
	patterns := b.q.protected(b.l.workspace)
	if len(patterns) == 0 {
		return nil, nil
	}
	ctx, cancel := settling(ctx)
	defer cancel()
	changed, err := b.l.pool.Undo(ctx, b.name, func(path string) bool {
		return slices.ContainsFunc(patterns, func(glob string) bool { return globs.Covers(glob, path) })
	})
	if errors.Is(err, slot.ErrSpoiled) {
		f.Fail(attempts.Environment, attempts.CLIError, "what git knows of the checkout was changed while the checks ran; they prove nothing")
		return nil, nil
	}
	return changed, err
}

func (b *bench) leave() {
	if b.name != "" {
		b.l.slots.release(b.name)
		b.l.busy.Add(-1)
	}
}
