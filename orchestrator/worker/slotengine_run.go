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
	"relay/orchestrator/git/support"
)

// CheckReady refuses a repository or a folder in which slots cannot be made. What is not committed in the user's checkout is no part of
// the run, and stays as it is.
func (s *slotEngine) CheckReady(ctx context.Context) error {
	if err := support.CheckRepository(ctx, s.home); err != nil {
		return err
	}
	return support.CheckFolder(s.o.Worktree.Dir)
}

// Awake makes the integration branch, at the commit that the run's options say or the user's checkout has, when the epic has none
// yet.
func (s *slotEngine) Awake(ctx context.Context) error {
	landed := s.ledgerView == nil || len(s.ledgerView.Landed)+len(s.ledgerView.Landing) > 0
	if s.ledgerView != nil {
		if err := s.integration.RestoreRef(ctx, s.origin.Base, *s.ledgerView); err != nil {
			return err
		}
		s.ledgerView = nil // from now on it is this run's
	}
	err := errors.Join(s.keepIgnore(), s.headGuard.Begin(ctx, s.origin.Base))
	if err == nil && !landed {
		err = s.advanceToBegin(ctx)
	}
	if err == nil {
		err = s.compareSteering(ctx)
	}
	s.from = cmp.Or(s.from, s.headGuard.Tip())
	return err
}

// advanceToBegin moves an integration branch on which nothing of this ledger has landed, and which an earlier epic of that id has left,
// to the commit that the run's options name, if that has all of it.
func (s *slotEngine) advanceToBegin(ctx context.Context) error {
	tip := s.headGuard.Tip()
	if s.o.Begin == "" || tip == s.o.Begin {
		return nil
	}
	held, err := s.integration.Contains(ctx, s.o.Begin, tip)
	if err != nil || !held {
		return err
	}
	_, err = s.headGuard.Step(ctx, s.o.Begin)
	return err
}

// Begin makes all ready for the first attempt: the integration branch, the files that slots get, and the watches of what is the
// user's.
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

// Resume returns how an attempt ended that a killed run left open, if its landing was recorded and has been made; else nil.
func (s *slotEngine) Resume(ctx context.Context, a engine.Attempt, open attempts.Attempt) (*attempts.Ended, error) {
	if open.Landing == nil {
		return nil, nil
	}
	if landed, err := s.integration.Holds(ctx, open.Landing.Landed); err != nil || !landed {
		return nil, err
	}
	return open.Landing, s.branches.Drop(ctx, s.branch(a), open.Landing.Head)
}

// Unclean returns false: a run that was killed has changed nothing of the user's.
func (s *slotEngine) Unclean() bool { return false }

// CleanAfter does nothing: see Unclean.
func (s *slotEngine) CleanAfter(context.Context) ([]attempts.Note, error) { return nil, nil }

// Reserve keeps the slot of an attempt of a killed run from being given to others before it is reopened.
func (s *slotEngine) Reserve(a engine.Attempt) {
	if name, ok := filesOf(s.o.Dir, a).slot(); ok {
		s.slots.reserve(name)
	}
}

// Close removes the slots: everything in them has landed, or is kept elsewhere. It returns in words what stays, and why.
func (s *slotEngine) Close(ctx context.Context) ([]string, error) {
	ctx, cancel := uninterrupted(ctx)
	defer cancel()
	var watching error
	if s.userCheckout != nil {
		watching = s.userCheckout.Close(ctx)
	}
	stay, err := s.removeSlots(ctx)
	return stay, errors.Join(err, watching, s.pool.Close(), s.integration.Unpin(ctx), s.user.Close())
}

// removeSlots removes the slots but for what is nowhere else, and says what stays.
func (s *slotEngine) removeSlots(ctx context.Context) (stay []string, err error) {
	names, err := s.pool.Names(ctx)
	stay = slices.Concat(s.stay, s.branches.Stay())
	for _, name := range names {
		why, failure := "", error(nil)
		if !strings.HasPrefix(name, benchSlot) && !strings.HasPrefix(name, reviewSlot) { // there is nothing but a commit and what the set-up made
			why, failure = s.pool.Unsaved(ctx, name)
		}
		if failure == nil && why == "" {
			failure = s.pool.Remove(ctx, name)
		}
		if failure != nil {
			why = failure.Error()
		}
		if why != "" {
			stay = append(stay, "the worktree "+s.relative(filepath.Join(s.o.Worktree.Dir, name))+" was not removed: "+why)
		}
	}
	return stay, err
}
