package worker

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic/globs"
	"relay/orchestrator/changes"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/text"
	"relay/orchestrator/worker/merge"
	"relay/reanchor"
)

// commitWork commits what the agent left uncommitted, as far as it is work, and keeps the rest under a ref. Changes of
// tracked files are work, but those of protected ones; so are all untracked files when the agent has not committed
// anything, else those that its result or the task's files name. An attempt that has not succeeded keeps everything.
func (c collector) commitWork(ctx context.Context, a engine.Attempt, f *state) (head string, err error) {
	message := merge.LeftMessage(c.o, a)
	f.left = leftovers{}
	if f.Outcome != attempts.Success {
		return c.tree.CommitLeftovers(ctx, message, nil)
	}
	committed, err := c.committed(ctx, a, f)
	if err != nil {
		return "", err
	}
	protected := c.protects(a)
	takes := func(p string) bool {
		return claims(f.claimedFiles, p) || !protected(p) && (!committed || changes.Declared(&a.Task, p))
	}
	if c.hasProtected(a) {
		f.left.protected, err = c.tree.Differing(ctx, f.agentHead, protected)
	}
	if err == nil && (committed || c.hasProtected(a)) {
		f.left.untracked, err = c.tree.Untracked(ctx, func(p string) bool { return !takes(p) })
	}
	if err == nil {
		err = c.keepLeftovers(ctx, a, f)
	}
	if err != nil {
		return "", err
	}
	if len(f.left.protected) > 0 {
		if _, err := c.tree.PutBack(ctx, f.agentHead, protected); err != nil {
			return "", err
		}
	}
	return c.tree.CommitLeftovers(ctx, message, takes)
}

// committed reports whether the agent has committed a change: an empty commit, or a merge of what its base has, is none.
func (c collector) committed(ctx context.Context, a engine.Attempt, f *state) (bool, error) {
	if f.agentHead == a.Base || f.theirs {
		return false, nil
	}
	names, err := c.repo.Names(ctx, a.Base, f.agentHead)
	var many *reanchor.TooManyError
	if errors.As(err, &many) || errors.Is(err, reanchor.ErrTooMuch) {
		return true, nil
	}
	return len(names) > 0, err
}

// keepLeftovers keeps what is no part of the work under a ref of its own.
func (c collector) keepLeftovers(ctx context.Context, a engine.Attempt, f *state) error {
	all := slices.Concat(f.left.untracked, f.left.protected)
	if len(all) == 0 {
		return nil
	}
	commit, err := c.tree.SetAside(ctx, all, merge.LeftMessage(c.o, a))
	if err != nil {
		return err
	}
	ref := salvageRef(c.o.Epic.ID, a) + "-left/files"
	if f.rounds > 0 {
		ref += fmt.Sprintf("-%d", f.rounds+1)
	}
	if err := c.salvage(ctx, ref, commit, f); err != nil {
		return err
	}
	f.Receipt.Kept = append(f.Receipt.Kept, ref)
	if len(f.left.untracked) > 0 {
		f.Note("left", text.Listed(f.left.untracked)+" was left uncommitted, and is no part of the work: it is kept in "+ref)
	}
	if c.ceiling != "" { // checks run elsewhere, and a further turn of the agent may need what it has made
		return nil
	}
	return c.tree.Discard(f.left.untracked)
}

// protects tells which paths an attempt must not change.
func (c collector) protects(a engine.Attempt) func(path string) bool {
	patterns := slices.Concat(c.o.Epic.Protected, a.Task.Protected)
	return func(p string) bool {
		return slices.ContainsFunc(patterns, func(glob string) bool { return globs.Covers(glob, p) })
	}
}

func (c collector) hasProtected(a engine.Attempt) bool {
	return len(c.o.Epic.Protected)+len(a.Task.Protected) > 0
}

// withdraw fails a claimed success whose commits change protected files, and takes these changes back: the next attempt
// can go on from the rest.
func (c collector) withdraw(ctx context.Context, a engine.Attempt, names []reanchor.Change, f *state) error {
	hits := changes.ProtectedHits(slices.Concat(c.o.Epic.Protected, a.Task.Protected), names)
	hits = slices.DeleteFunc(hits, func(p string) bool { return gitcmd.Converted(ctx, c.tree.Repo, p, a.Base, f.Head) })
	if len(hits) == 0 {
		return nil
	}
	f.tampered(append(hits, f.left.protected...))
	ctx, cancel := uninterrupted(ctx)
	defer cancel()
	head, err := c.tree.Withdraw(ctx, a.Base, merge.LeftMessage(c.o, a), c.protects(a))
	if err == nil {
		f.Head = head
	}
	return err
}

// tampered fails an attempt for protected files that the agent has changed.
func (f *state) tampered(paths []string) {
	why := "the agent changed " + text.Listed(paths) + ", which is protected; relay put it back"
	if f.Outcome == attempts.Check {
		why += ", and then " + f.Receipt.ErrorSummary
	}
	f.Receipt.AlreadyDone = false
	f.Fail(attempts.Tamper, attempts.Tampered, why)
}

// judgeLeftovers decides, after the checks, on uncommitted changes of protected files. Those that a check makes as well
// are the check's: an agent that has run it, as it is asked to, has left them. All others are the agent's.
func (f *state) judgeLeftovers() {
	if f.Outcome != attempts.Success && f.Outcome != attempts.Check {
		return
	}
	own := slices.DeleteFunc(slices.Clone(f.left.protected), func(p string) bool { return slices.Contains(f.written, p) })
	switch {
	case len(own) > 0:
		f.tampered(own)
	case len(f.left.protected) > 0:
		f.Note("tamper", text.Listed(f.left.protected)+", which is protected, was left changed, as by the checks; relay put it back")
	}
	if f.Outcome == attempts.Check && len(f.left.untracked) > 0 {
		f.Receipt.ErrorSummary += "; " + text.Listed(f.left.untracked) + " was left uncommitted, and is no part of what was checked"
	}
}

// claims reports whether an agent lists a path among the files it has changed. It may give whole paths.
func claims(claimed []string, p string) bool {
	return slices.ContainsFunc(claimed, func(files string) bool {
		files = cleanClaim(files)
		return files == p || strings.HasSuffix(files, "/"+p)
	})
}

func cleanClaim(p string) string { return path.Clean(filepath.ToSlash(p)) }
