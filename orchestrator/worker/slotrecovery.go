package worker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"relay/epic/pattern"
	"relay/epic/plaintext"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/slot"
	"relay/orchestrator/relayfiles"
	"relay/orchestrator/verdict"
	"relay/reanchor/git"
	"relay/runners"
)

// openAgain gives an attempt of a killed run its own slot, if it had not released it; else another one at the head of its branch.
func (p *slotPlace) openAgain(ctx context.Context, t *attempt) error {
	s := p.e
	name, ok := t.files.Slot()
	switch {
	case ok && !t.files.Ready():
		// No agent has been there: relay was killed while it made the slot ready, and it may be half a checkout.
		if err := s.pool.Remove(ctx, name); err != nil && !errors.Is(err, slot.ErrRest) {
			return err
		}
	case ok:
		repo, own, err := s.openLeft(ctx, name, t.a)
		if err != nil {
			return err
		}
		if own {
			p.use(t, name, repo)
			return nil
		}
	}
	head, err := s.run.home.Ref(ctx, "refs/heads/"+s.branch(t.a))
	if err != nil {
		return err
	}
	if head != "" && !git.Has(ctx, s.run.home, head) { // git prune has deleted it
		head = ""
	}
	return p.recover(ctx, t, plaintext.FirstOf(head, t.a.Base))
}

// openLeft opens the slot that an attempt of a killed run had. own is false when it is gone, or is another task's by now. Any other
// error must not have the attempt judged by an empty slot: its work may be there.
func (s *slotEngine) openLeft(ctx context.Context, name string, a engine.Attempt) (repo *git.Repo, own bool, err error) {
	repo, _, err = s.pool.Open(ctx, name, a.Base, s.branch(a))
	if errors.Is(err, slot.ErrGone) {
		return nil, false, nil
	}
	on := ""
	if err == nil {
		on, err = repo.Branch(ctx) // whatever branch its agent was on, but another task's
	}
	if err != nil {
		return nil, false, &unreadableSlotError{err}
	}
	return repo, on == s.branch(a) || !strings.HasPrefix(on, git.TaskBranches), nil
}

// recover makes another slot for an attempt whose own is lost. One that was cut short while it was made is removed: there is nothing
// in it but a part of the commit.
func (p *slotPlace) recover(ctx context.Context, t *attempt, head string) error {
	s := p.e
	making := filepath.Join(t.files.Folder, relayfiles.MakingFile)
	if noted, err := runners.ReadResultFile(making); err == nil {
		if name := strings.TrimSpace(string(noted)); strings.HasPrefix(name, slot.ForRecovery) {
			if err := s.pool.Remove(ctx, name); err != nil && !errors.Is(err, slot.ErrRest) {
				return err
			}
		}
	}
	name, err := s.slots.TakeEmpty(ctx, slot.ForRecovery, "")
	if err != nil {
		return err
	}
	if err := t.files.Note(s.run.o.Dir, relayfiles.MakingFile, name); err != nil {
		return err
	}
	repo, err := s.pool.Acquire(ctx, name, head, s.branch(t.a))
	if err != nil {
		return err
	}
	if err := errors.Join(os.Remove(making), t.files.Note(s.run.o.Dir, relayfiles.SlotFile, name)); err != nil {
		return err
	}
	p.use(t, name, repo)
	return nil
}

// lostObjects matches what git says when it does not find an object that was there.
var lostObjects = pattern.New(`unable to (read|find)|bad object|invalid object|Needed a single revision|missing (blob|tree|commit)`)

// contain ends an attempt that could not be carried out for what is wrong with its own checkout, branch or commits. It is
// tried again in another checkout, a few times, and no other task is held up; what is left of it stays for a person. A fault of the
// user's repository, the disk or the ledger stays an error, which ends the run.
func (s *slotEngine) contain(ctx context.Context, t *attempt, cause error) error {
	if !ownFault(ctx, s, cause) {
		return cause
	}
	ctx, cancel := git.Uninterrupted(ctx)
	defer cancel()
	if t.ev.Damage = cause.Error(); lostObjects.MatchString(t.ev.Damage) {
		t.ev.Damage += " (objects are missing, as after git prune or git gc --prune=now: type them when no run is on)"
	}
	ruling, _ := verdict.Decide(&t.ev)
	t.f.Rule(&t.ev, ruling)
	t.f.Head, t.f.Landed = "", ""
	git.DropEmpty(s.run.home) // else the next attempt could not commit the same
	return s.abandon(ctx, t)
}

// abandon keeps what an attempt has committed that could not be brought to its end.
func (s *slotEngine) abandon(ctx context.Context, t *attempt) error {
	left, err := s.committed(ctx, t)
	if err != nil {
		return err
	}
	left.f = t.f
	err = left.work.Keep(ctx)
	t.f = left.f
	if git.Refused(ctx, err) {
		t.f.Note("salvage", "not all of the work of this attempt could be kept: "+err.Error())
		return nil
	} else if err != nil {
		return err
	}
	return s.branches.Drop(ctx, s.branch(t.a), t.f.Head)
}

// committed finds what is committed of an attempt: in its slot, if git can read that, else on its branch. It sets the head of t.
func (s *slotEngine) committed(ctx context.Context, t *attempt) (*attempt, error) {
	if name, ok := t.files.Slot(); ok {
		stays := plaintext.Relative(s.run.o.Root, filepath.Join(s.run.o.Worktree.Dir, name))
		t.f.Note("left", "what the agent left of "+t.a.Task.ID+" stays in "+stays+": git status there says more")
		if repo, _, err := s.pool.Open(ctx, name, t.a.Base, s.branch(t.a)); err == nil {
			left := s.attemptAt(name, repo, t.a)
			if head, err := left.c.tree.Head(ctx); err == nil && git.Has(ctx, repo, head) {
				t.f.Head = head
				return left, nil
			}
		}
	}
	head, err := s.run.home.Ref(ctx, "refs/heads/"+s.branch(t.a))
	if err == nil && git.Has(ctx, s.run.home, head) {
		t.f.Head = head
	}
	return s.attemptAt("", s.run.home, t.a), err
}

// unreadableSlotError says why the slot of an attempt of a killed run could not be opened again.
type unreadableSlotError struct{ err error }

func (e *unreadableSlotError) Error() string { return e.err.Error() }
func (e *unreadableSlotError) Unwrap() error { return e.err }

// ownFault reports whether an error can only concern one attempt: git was there and said no, or its slot could not be opened; the disk
// takes what is written, and the commits that all attempts begin from can be read.
func ownFault(ctx context.Context, s *slotEngine, err error) bool {
	_, unreadable := errors.AsType[*unreadableSlotError](err)
	unreadable = unreadable && ctx.Err() == nil && git.Unasked(err) == nil
	if !unreadable && !git.Refused(ctx, err) || git.DiskFault(err) {
		return false
	}
	ctx, cancel := git.Uninterrupted(ctx)
	defer cancel()
	return git.Whole(ctx, s.run.home, s.headGuard.Tip())
}
