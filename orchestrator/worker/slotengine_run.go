package worker

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strings"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/support"
	"relay/runners"
)

// settled refuses a repository that worktrees cannot be made of. What is not committed in the user's checkout is no
// part of the night, and stays as it is.
func (l *slotEngine) Settle(ctx context.Context) error {
	if err := support.CheckRepository(ctx, l.home); err != nil {
		return err
	}
	return support.CheckFolder(l.o.Worktree.Dir)
}

// awake makes the integration branch, at the commit the user's checkout has, when the epic has none yet.
func (l *slotEngine) Awake(ctx context.Context) error {
	if l.claim != nil {
		if err := l.trunk.RestoreRef(ctx, l.origin.Base, *l.claim); err != nil {
			return err
		}
		l.claim = nil // from now on it is this run's
	}
	err := errors.Join(l.keepIgnore(), l.tips.Begin(ctx, l.origin.Base))
	if err == nil {
		err = l.compareSteering(ctx)
	}
	l.from = cmp.Or(l.from, l.tips.Tip())
	return err
}

func (l *slotEngine) Begin(ctx context.Context) error {
	if err := l.Awake(ctx); err != nil { // nothing is begun that the next run would have to look at
		return err
	}
	if err := l.ignoreFurnished(ctx); err != nil {
		return err
	}
	l.watchCheckout(ctx)
	l.watchLinks()
	return nil
}

// revive tells what became of an attempt that a killed run left open: with a landing that has been recorded and taken,
// it is over.
func (l *slotEngine) Revive(ctx context.Context, a engine.Attempt, open attempts.Attempt) (*attempts.Ended, error) {
	if open.Landing == nil {
		return nil, nil
	}
	if landed, err := l.trunk.Holds(ctx, open.Landing.Landed); err != nil || !landed {
		return nil, err
	}
	return open.Landing, l.dropBranch(ctx, l.branch(a), open.Landing.Head)
}

// unclean reports nothing: a run that was killed has changed nothing of the user's.
func (l *slotEngine) Unclean() bool { return false }

func (l *slotEngine) CleanAfter(context.Context) ([]attempts.Note, error) { return nil, nil }

// reserve keeps the worktree that an attempt of a killed run has from being given to others before it is reopened.
func (l *slotEngine) Reserve(a engine.Attempt) {
	name, known := l.noted(a)
	if !known {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used[name] = true
}

// noted is the worktree that an attempt of a killed run had.
func (l *slotEngine) noted(a engine.Attempt) (name string, known bool) {
	text, err := runners.ReadResultFile(filepath.Join(filesOf(l.o.Dir, a).folder, laneFile))
	name = strings.TrimSpace(string(text))
	return name, err == nil && filepath.Base(name) == name
}

// Abandon ends an attempt that a killed run left open and that git cannot bring to its end.
func (l *slotEngine) Abandon(ctx context.Context, a engine.Attempt, r engine.Result) (engine.Result, error) {
	f := state{Result: r}
	err := l.abandon(ctx, a, &f)
	return f.Result, err
}

// abandon keeps what an attempt of a killed run has committed; its slot stays as it is, for a person.
func (l *slotEngine) abandon(ctx context.Context, a engine.Attempt, f *state) error {
	w, err := l.kept(ctx, a, f)
	if err != nil {
		return err
	}
	if err := w.c.keepWork(ctx, a, w.p, f); refused(ctx, err) {
		f.Note("salvage", "not all of the work of this attempt could be kept: "+err.Error())
		return nil
	} else if err != nil {
		return err
	}
	return l.dropBranch(ctx, l.branch(a), f.Head)
}

// kept finds what is committed of an attempt: in its slot, if git can read that, else on its branch.
func (l *slotEngine) kept(ctx context.Context, a engine.Attempt, f *state) (*slotAttempt, error) {
	if name, known := l.noted(a); known {
		f.Note("left", "what the agent left of "+a.Task.ID+" stays in "+l.relative(filepath.Join(l.o.Worktree.Dir, name))+": git status there says more")
		if repo, _, err := l.pool.Open(ctx, name, a.Base, l.branch(a)); err == nil {
			w := l.attemptIn(name, repo, a)
			if head, err := w.c.tree.Head(ctx); err == nil && gitcmd.Has(ctx, repo, head) {
				f.Head = head
				return w, nil
			}
		}
	}
	head, err := l.home.Ref(ctx, "refs/heads/"+l.branch(a))
	if err == nil && gitcmd.Has(ctx, l.home, head) {
		f.Head = head
	}
	return l.attemptIn("", l.home, a), err
}

// Span returns where the integration branch ended when the run began, and its tip.
func (l *slotEngine) Span(context.Context) (from, tip string) { return l.from, l.tips.Tip() }

// Commit returns what has landed of an attempt.
func (l *slotEngine) Commit(a attempts.Attempt) string { return a.Landed }

// cleanUp puts back what a panel has done to relay's own files, to .git and to the integration branch.
func (l *slotEngine) cleanUp(ctx context.Context, f *state) error {
	ctx = context.WithoutCancel(ctx)
	defer l.agentsLeave()
	c := &checkout{workspace: l.workspace, repo: l.home, alone: l.alone}
	w := &slotAttempt{slotEngine: l, c: c}
	return errors.Join(c.guard(ctx, f), w.guardTip(ctx, f))
}

// Close removes the worktrees: everything in them has landed, or is kept elsewhere. It returns what could not be.
func (l *slotEngine) Close(ctx context.Context) ([]string, error) {
	ctx, cancel := settling(ctx)
	defer cancel()
	watching := l.closeCheckout(ctx)
	names, err := l.pool.Names(ctx)
	stay := l.theirs
	for _, name := range names {
		why, lossErr := "", error(nil)
		if !strings.HasPrefix(name, benchName) && !strings.HasPrefix(name, reviewName) { // there is nothing but a commit and what the set-up made
			why, lossErr = l.pool.Loss(ctx, name)
		}
		if lossErr == nil && why == "" {
			lossErr = l.pool.Remove(ctx, name)
		}
		if lossErr != nil {
			why = lossErr.Error()
		}
		if why != "" {
			stay = append(stay, "the worktree "+l.relative(filepath.Join(l.o.Worktree.Dir, name))+" was not removed: "+why)
		}
	}
	return stay, errors.Join(err, watching, l.pool.Close(), l.trunk.Unpin(ctx), l.user.Close())
}
