package worker

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/support"
)

// settled refuses a repository that worktrees cannot be made of. What is not committed in the user's checkout is no
// part of the night, and stays as it is.
func (s *slotEngine) Settle(ctx context.Context) error {
	if err := support.CheckRepository(ctx, s.home); err != nil {
		return err
	}
	return support.CheckFolder(s.o.Worktree.Dir)
}

// awake makes the integration branch, at the commit the user's checkout has, when the epic has none yet.
func (s *slotEngine) Awake(ctx context.Context) error {
	if s.claim != nil {
		if err := s.trunk.RestoreRef(ctx, s.origin.Base, *s.claim); err != nil {
			return err
		}
		s.claim = nil // from now on it is this run's
	}
	err := errors.Join(s.keepIgnore(), s.tips.Begin(ctx, s.origin.Base))
	if err == nil {
		err = s.compareSteering(ctx)
	}
	s.from = cmp.Or(s.from, s.tips.Tip())
	return err
}

func (s *slotEngine) Begin(ctx context.Context) error {
	if err := s.Awake(ctx); err != nil { // nothing is begun that the next run would have to look at
		return err
	}
	if err := s.excludeProvisioned(ctx); err != nil {
		return err
	}
	s.watchCheckout(ctx)
	s.watchLinks()
	return nil
}

// revive tells what became of an attempt that a killed run left open: with a landing that has been recorded and taken,
// it is over.
func (s *slotEngine) Revive(ctx context.Context, a engine.Attempt, open attempts.Attempt) (*attempts.Ended, error) {
	if open.Landing == nil {
		return nil, nil
	}
	if landed, err := s.trunk.Holds(ctx, open.Landing.Landed); err != nil || !landed {
		return nil, err
	}
	return open.Landing, s.branches.Drop(ctx, s.branch(a), open.Landing.Head)
}

// unclean reports nothing: a run that was killed has changed nothing of the user's.
func (s *slotEngine) Unclean() bool { return false }

func (s *slotEngine) CleanAfter(context.Context) ([]attempts.Note, error) { return nil, nil }

// reserve keeps the worktree that an attempt of a killed run has from being given to others before it is reopened.
func (s *slotEngine) Reserve(a engine.Attempt) {
	if name, known := filesOf(s.o.Dir, a).slot(); known {
		s.slots.reserve(name)
	}
}

// abandon keeps what an attempt has committed that could not be brought to its end; its slot stays as it is, for a person.
func (s *slotEngine) abandon(ctx context.Context, a engine.Attempt, f *state) error {
	w, err := s.kept(ctx, a, f)
	if err != nil {
		return err
	}
	if err := collectorIn(w.c).keepWork(ctx, a, w.p, f); refused(ctx, err) {
		f.Note("salvage", "not all of the work of this attempt could be kept: "+err.Error())
		return nil
	} else if err != nil {
		return err
	}
	return s.branches.Drop(ctx, s.branch(a), f.Head)
}

// kept finds what is committed of an attempt: in its slot, if git can read that, else on its branch.
func (s *slotEngine) kept(ctx context.Context, a engine.Attempt, f *state) (*slotAttempt, error) {
	if name, known := filesOf(s.o.Dir, a).slot(); known {
		f.Note("left", "what the agent left of "+a.Task.ID+" stays in "+s.relative(filepath.Join(s.o.Worktree.Dir, name))+": git status there says more")
		if repo, _, err := s.pool.Open(ctx, name, a.Base, s.branch(a)); err == nil {
			w := s.attemptIn(name, repo, a)
			if head, err := w.c.tree.Head(ctx); err == nil && gitcmd.Has(ctx, repo, head) {
				f.Head = head
				return w, nil
			}
		}
	}
	head, err := s.home.Ref(ctx, "refs/heads/"+s.branch(a))
	if err == nil && gitcmd.Has(ctx, s.home, head) {
		f.Head = head
	}
	return s.attemptIn("", s.home, a), err
}

// Span returns where the integration branch ended when the run began, and its tip.
func (s *slotEngine) Span(context.Context) (from, tip string) { return s.from, s.tips.Tip() }

// Commit returns what has landed of an attempt.
func (s *slotEngine) Commit(a attempts.Attempt) string { return a.Landed }

// cleanUp puts back what a panel has done to relay's own files, to .git and to the integration branch.
func (s *slotEngine) cleanUp(ctx context.Context, f *state) error {
	ctx = context.WithoutCancel(ctx)
	defer s.agentsLeave()
	c := &checkout{workspace: s.workspace, repo: s.home, alone: s.alone}
	w := &slotAttempt{slotEngine: s, c: c}
	return errors.Join(guardIn(c).guard(ctx, f), w.guardTip(ctx, f))
}

// Close removes the worktrees: everything in them has landed, or is kept elsewhere. It returns what could not be.
func (s *slotEngine) Close(ctx context.Context) ([]string, error) {
	ctx, cancel := uninterrupted(ctx)
	defer cancel()
	var watching error
	if s.userCheckout != nil {
		watching = s.userCheckout.Close(ctx)
	}
	names, err := s.pool.Names(ctx)
	stay := slices.Concat(s.stay, s.branches.Stay())
	for _, name := range names {
		why, lossErr := "", error(nil)
		if !strings.HasPrefix(name, benchSlot) && !strings.HasPrefix(name, reviewSlot) { // there is nothing but a commit and what the set-up made
			why, lossErr = s.pool.Loss(ctx, name)
		}
		if lossErr == nil && why == "" {
			lossErr = s.pool.Remove(ctx, name)
		}
		if lossErr != nil {
			why = lossErr.Error()
		}
		if why != "" {
			stay = append(stay, "the worktree "+s.relative(filepath.Join(s.o.Worktree.Dir, name))+" was not removed: "+why)
		}
	}
	return stay, errors.Join(err, watching, s.pool.Close(), s.trunk.Unpin(ctx), s.user.Close())
}
