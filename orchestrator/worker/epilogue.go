package worker

import (
	"context"
	"errors"
	"os"
	"slices"

	"relay/attempts"
	"relay/epic/each"
	"relay/orchestrator/bench"
	"relay/orchestrator/changes"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/guard"
	"relay/reanchor/git"
)

// epilogue looks at all that a run has done: it is the [engine.Rechecker] and the [engine.EpicReviewer] of both engines.
type epilogue struct {
	run     *workspace
	attempt func(a engine.Attempt) *attempt // that checks run for, and reviewers read
	head    func(ctx context.Context) (string, error)
	span    func(ctx context.Context) (from, tip string)
	commit  func(a attempts.Attempt) string
	clean   func(ctx context.Context, head string, s *guard.Sightings) error // puts back what checks and reviewers did
	mark    func(head string) error                                          // notes for a run after a kill where they begin
	merged  bool                                                             // the epic's checks are run as well
}

// slotEpilogue returns that of the slot engine: everything happens in checkouts of their own.
func slotEpilogue(l *slotLifecycle) *epilogue {
	s := l.s
	return &epilogue{
		run:     s.run,
		attempt: func(a engine.Attempt) *attempt { return s.attemptAt("", s.run.home, a) },
		span:    func(context.Context) (from, tip string) { return l.from, s.headGuard.Tip() },
		commit:  func(a attempts.Attempt) string { return a.Landed },
		clean:   func(ctx context.Context, _ string, seen *guard.Sightings) error { return s.clean(ctx, seen) },
		head:    func(context.Context) (string, error) { return s.headGuard.Tip(), nil },
		mark:    func(string) error { return nil }, merged: true,
	}
}

// userEpilogue returns that of the user's checkout, which is put back after each question. There is nothing to run again where changes
// belong to no task, and none where a person is at work by now, or git says nothing. It leaves out work that a run with another isolation
// has landed.
func userEpilogue(e *userEngine) *epilogue {
	return &epilogue{
		run: e.run, attempt: e.attempt, head: e.Tip,
		span: func(ctx context.Context) (from, tip string) {
			if e.c.tree == nil || e.CheckReady(ctx) != nil {
				return "", ""
			}
			if on, err := e.c.tree.OnBranch(ctx); err != nil || !on {
				return "", ""
			}
			tip, err := e.c.repo.Head(ctx)
			if err != nil {
				return "", ""
			}
			return e.from, tip
		},
		commit: func(a attempts.Attempt) string {
			if a.Landed != "" || a.Result != attempts.ResultSuccess {
				return ""
			}
			return a.Head
		},
		mark: func(head string) error { return os.WriteFile(e.readingFile(), []byte(head+"\n"), 0o600) },
		clean: func(ctx context.Context, head string, seen *guard.Sightings) error {
			ctx, cancel := git.Uninterrupted(ctx)
			defer cancel()
			if err := e.c.look(ctx, seen); err != nil {
				return err
			}
			return errors.Join(e.c.tree.Restore(ctx, head), os.Remove(e.readingFile()))
		},
	}
}

// Span returns where the branch ended when the run began, and its tip.
func (p *epilogue) Span(ctx context.Context) (from, tip string) { return p.span(ctx) }

// Commit returns the commit of the branch that has an attempt's work; "": none.
func (p *epilogue) Commit(a attempts.Attempt) string { return p.commit(a) }

// BeginRecheck begins a time in which checks of completed tasks run.
func (p *epilogue) BeginRecheck(_ context.Context, _ engine.Attempt, tip string) error {
	p.run.guard.Tools.Enter()
	return p.mark(tip)
}

// EndRecheck ends it, and puts back what the checks did.
func (p *epilogue) EndRecheck(ctx context.Context, tip string) ([]attempts.Note, error) {
	defer p.run.guard.Tools.Leave()
	var seen guard.Sightings
	err := p.clean(ctx, tip, &seen)
	return seen.Notes, err
}

// Recheck returns the first check of a task that fails on tip; nil: none.
func (p *epilogue) Recheck(ctx context.Context, a engine.Attempt, tip string) (*engine.FailedCheck, error) {
	t := p.attempt(a)
	failed, err := p.failing(ctx, t, t.checks.question(tip, checks.On(checks.OnEnd, checks.List(a.Task.Checks, nil))), 1)
	if err != nil || len(failed) == 0 {
		return nil, err
	}
	return &failed[0], nil
}

// RecheckEpic returns the checks of the epic that fail on tip. In the user's checkout they have passed on every task's work.
func (p *epilogue) RecheckEpic(ctx context.Context, a engine.Attempt, tip string) ([]engine.FailedCheck, error) {
	if !p.merged {
		return nil, nil
	}
	t := p.attempt(a)
	q := t.checks.question(tip, checks.On(checks.OnEnd, checks.List(nil, p.run.o.Epic.Checks)))
	q.Before = true
	failed, err := p.failing(ctx, t, q, len(q.Checks))
	if err != nil || len(failed) == 0 {
		return nil, err
	}
	q.Commit, _ = p.span(ctx)
	before, err := p.failing(ctx, t, q, len(q.Checks))
	for i, now := range failed {
		failed[i].Old = slices.ContainsFunc(before, func(was engine.FailedCheck) bool {
			return was.Run.Name == now.Run.Name && checks.Worse(checks.Result{Run: was.Run}, checks.Result{Run: now.Run}) == ""
		})
	}
	return failed, err
}

// Proves reports whether checks of a task and the epic fail on tip without the content of the code among files.
func (p *epilogue) Proves(ctx context.Context, a engine.Attempt, files []string, tip string) (bool, error) {
	code := each.Where(files, func(path string) (string, bool) { return path, changes.IsCode(git.Change{Path: path}) })
	if len(code) == 0 {
		return false, nil
	}
	last, err := p.attempt(a).checks.withoutCode(ctx, tip, code)
	return last.Red(), err
}

// failing returns the first checks that fail, so many at most.
func (p *epilogue) failing(ctx context.Context, t *attempt, q checks.Question, most int) (failed []engine.FailedCheck, err error) {
	var tr bench.Trouble
	err = t.checks.bench.Ask(ctx, q, &tr, func(check checks.Check, s checks.Result) (bool, error) {
		if !s.Passed() {
			failed = append(failed, engine.FailedCheck{Run: s.Run, Why: p.run.checks.Why(check, s)})
		}
		return len(failed) < most, nil
	})
	return failed, err
}

// Head returns the commit that has all of the work.
func (p *epilogue) Head(ctx context.Context) (string, error) { return p.head(ctx) }

// ReviewEpic has the panel judge all that has been done.
func (p *epilogue) ReviewEpic(ctx context.Context, a engine.Attempt, head string, putOff []string) (engine.ReviewedEpic, error) {
	p.run.guard.Tools.Enter()
	defer p.run.guard.Tools.Leave()
	if err := p.mark(head); err != nil {
		return engine.ReviewedEpic{}, err
	}
	t := p.attempt(a)
	s := t.c.panelSession(a, t.files.Review)
	if t.panel.rooms != nil {
		s.Room = func(ctx context.Context) (*git.Repo, func(), error) { return t.panel.rooms(ctx, head) }
	}
	return s.ReviewEpic(ctx, head, putOff, func(ctx context.Context, r *engine.Result) error {
		var seen guard.Sightings
		err := p.clean(ctx, head, &seen)
		for _, n := range seen.Notes {
			r.Note(n.Kind, n.Text)
		}
		return err
	})
}
