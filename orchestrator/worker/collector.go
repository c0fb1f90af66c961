package worker

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/facts"
	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/nested"
	"relay/orchestrator/text"
	"relay/reanchor"
)

// collector commits what an agent has left in a checkout, lists what it has changed, and keeps what does not land.
type collector struct{ *checkout }

func collectorIn(c *checkout) collector { return collector{c} }

// collectWork collects an attempt's work, if need be after .git was put back.
func (c collector) collectWork(ctx context.Context, a engine.Attempt, f *state) ([]reanchor.Change, error) {
	ctx, cancel := uninterrupted(ctx)
	defer cancel()
	var names []reanchor.Change
	err := c.tree.Records.Do(ctx, func() (err error) {
		if names, err = c.collect(ctx, a, f); err != nil {
			names, err = c.recollect(ctx, a, f, err)
		}
		return err
	})
	return names, err
}

// collect commits what the agent left uncommitted and fills in what git says was changed.
func (c collector) collect(ctx context.Context, a engine.Attempt, f *state) ([]reanchor.Change, error) {
	f.Changes, f.MoreChanges = nil, 0
	if err := c.tree.Unlock(ctx); err != nil {
		return nil, err
	}
	if err := c.failIfHalfDone(ctx, f); err != nil {
		return nil, err
	}
	if err := c.findHead(ctx, a, f); err != nil {
		return nil, err
	}
	head, err := c.commitWork(ctx, a, f)
	if err != nil {
		return nil, err
	}
	f.Head = head
	if untaken := c.tree.Untaken(); len(untaken) > 0 && f.Outcome == attempts.Success {
		f.Fail(attempts.Agent, attempts.CodeError, "git does not take what the agent left in place of "+text.Listed(untaken)+"; its other work is kept, but not landed")
	}
	c.failIfRefused(f)
	if head == a.Base {
		return nil, nil
	}
	if err := c.failIfOffBranch(ctx, a, f); err != nil {
		return nil, err
	}
	return c.listChanges(ctx, a, f)
}

// listChanges fills in what git says of each changed file.
func (c collector) listChanges(ctx context.Context, a engine.Attempt, f *state) ([]reanchor.Change, error) {
	names, err := c.repo.Names(ctx, a.Base, f.Head)
	var many *reanchor.TooManyError
	switch {
	case errors.As(err, &many) || errors.Is(err, reanchor.ErrTooMuch):
		if f.Outcome == attempts.Success { // what cannot be listed cannot be held against the protected paths
			f.Fail(attempts.Agent, attempts.CodeError, "the change is too large to be looked at: "+err.Error())
		}
	case err != nil:
		return nil, err
	}
	all := names
	names = c.withoutRecords(ctx, a, names, f.Head)
	stat, lines, err := c.repo.StatLines(ctx, a.Base, f.Head, facts.MostChanges)
	f.Receipt.DiffStat = strings.TrimSpace(stat)
	unlisted := 0
	if many != nil {
		unlisted = many.Rest
	}
	f.Changes, f.MoreChanges = facts.Changes(names, lines, unlisted)
	if err := c.failForRepositories(ctx, names, f); err != nil {
		return nil, err
	}
	c.recordUserFiles(all, f)
	for i := range names {
		f.Receipt.FilesChanged = append(f.Receipt.FilesChanged, names[i].Path)
	}
	return names, err
}

// failIfRefused fails an attempt that left what filters and encodings refuse: git would die of it wherever it landed.
func (c collector) failIfRefused(f *state) {
	refused := c.tree.Refused()
	if len(refused) == 0 || f.Outcome != attempts.Success {
		return
	}
	paths := slices.Sorted(maps.Keys(refused))
	f.Fail(attempts.Agent, attempts.CodeError, "git does not take "+text.Listed(paths)+": "+refused[paths[0]].Error()+"; the work is kept as it is, but not landed")
}

// failIfHalfDone fails an attempt that left a merge or the like half done: to commit that would land its conflict marks.
func (c collector) failIfHalfDone(ctx context.Context, f *state) error {
	if f.Outcome != attempts.Success {
		return nil
	}
	if half := gitcmd.Halfway(c.tree.Repo); half != "" {
		f.Fail(attempts.Agent, attempts.CodeError, "the agent left a "+half+" half done; its work is kept, but not landed")
		return nil
	}
	path, err := gitcmd.Unmerged(ctx, c.tree.Repo)
	if path != "" {
		f.Fail(attempts.Agent, attempts.CodeError, "the agent left "+path+" in conflict; its work is kept, but not landed")
	}
	return err
}

// failIfOffBranch fails an attempt that left the branch or rewrote what was there before it.
func (c collector) failIfOffBranch(ctx context.Context, a engine.Attempt, f *state) error {
	if f.Outcome != attempts.Success {
		return nil
	}
	stayed, err := c.tree.OnBranch(ctx)
	kept := true
	if stayed && err == nil {
		kept, err = c.tree.Contains(ctx, a.Base, f.Head)
	}
	switch {
	case err != nil:
		return err
	case !stayed:
		f.Fail(attempts.Agent, attempts.CodeError, "the agent left the branch "+strings.TrimPrefix(c.tree.Branch, "refs/heads/")+"; its work is kept, but not landed")
	case !kept:
		f.Fail(attempts.Agent, attempts.CodeError, "the agent rewrote commits that were there before it; its work is kept, but not landed")
	}
	return nil
}

// setAside keeps the work of an attempt that did not succeed, and puts the checkout back.
func (c collector) setAside(ctx context.Context, a engine.Attempt, p attemptFiles, f *state) error {
	if err := c.keepWork(ctx, a, p, f); err != nil {
		return err
	}
	to := a.Base
	if f.theirs {
		to = f.agentHead
	}
	return c.tree.Restore(ctx, to)
}

// keepWork keeps the work of an attempt that did not succeed as a ref and a patch.
func (c collector) keepWork(ctx context.Context, a engine.Attempt, p attemptFiles, f *state) error {
	ref := salvageRef(c.o.Epic.ID, a)
	if f.Head != "" && f.Head != a.Base {
		c.recordKept(p, f.Head)
		if err := c.salvage(ctx, ref, f.Head, f); err == nil {
			f.Receipt.Salvage = ref
		} else { // an agent can stand in the way of a name; the patch has the work too
			f.Note("salvage", "the work of this attempt is kept in changes.patch only: "+err.Error())
		}
		if err := c.writePatch(ctx, a.Base, f.Head, p.patch); err != nil {
			f.Note("salvage", "changes.patch of this attempt is not complete: "+err.Error())
			if f.Receipt.Salvage == "" {
				return err
			}
		}
	}
	return c.keepBranch(ctx, a, f, ref+"-branch")
}

// keepBranch keeps commits that an agent left on the run's branch when it went on elsewhere: the branch is put back.
func (c collector) keepBranch(ctx context.Context, a engine.Attempt, f *state, ref string) error {
	tip, err := c.repo.Ref(ctx, c.tree.Branch)
	if err != nil || tip == "" || tip == a.Base || tip == f.Head {
		return err
	}
	if kept, err := c.tree.Contains(ctx, tip, f.Head); err != nil || kept {
		return err
	}
	if err := c.salvage(ctx, ref, tip, f); err != nil {
		return err
	}
	f.Receipt.Kept = append(f.Receipt.Kept, ref)
	f.Note("salvage", "what the agent had committed on the branch before it left it is kept in "+ref)
	return nil
}

// patchCap bounds changes.patch, which is there to be read; the ref has everything.
const patchCap = 64 << 20

func (c collector) writePatch(ctx context.Context, base, head, path string) error {
	if err := c.makeRoom(path); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(c.repo.Patch(ctx, base, head, &limited{to: file, left: patchCap}), file.Close())
}

// limited takes no more than so many bytes.
type limited struct {
	to   io.Writer
	left int
}

// Write refuses what does not fit, so that git stops.
func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, reanchor.ErrTooMuch
	}
	return l.to.Write(p)
}

// failForRepositories fails an attempt that has put another repository into its commits: they have its name only, and what is in it
// would be in this checkout alone, or nowhere. Submodules that others can get are as they should be.
func (c collector) failForRepositories(ctx context.Context, names []reanchor.Change, f *state) error {
	var declared []string
	for _, n := range names {
		if n.Link == "" {
			continue
		}
		if declared == nil {
			var err error
			if declared, err = nested.Declared(ctx, c.tree.Repo, f.Head); err != nil {
				return err
			}
		}
		why := ""
		switch {
		case !slices.Contains(declared, n.Path):
			why = "the agent put a repository into the commit: " + n.Path + "; its content would not land"
			if nested.At(c.tree.Repo, n.Path) {
				c.tree.Leave(n.Path + "/")
			}
		case c.ceiling != "" && nested.MadeCommit(ctx, c.tree.Repo, n.Path, n.Link): // a user's own submodule stays with the user
			why = "the agent committed in submodule " + n.Path + ", and only this worktree has that commit; it would not land"
			c.tree.Leave(n.Path + "/")
		}
		if why != "" && f.Outcome == attempts.Success {
			f.Fail(attempts.Agent, attempts.CodeError, why)
		}
	}
	return nil
}

// recollect puts .git back when git could not collect an attempt's work because of what the attempt has done to it,
// and collects again. Any other trouble of git (a full disk, for one) is returned as it is.
func (c collector) recollect(ctx context.Context, a engine.Attempt, f *state, cause error) ([]reanchor.Change, error) {
	var refusal *reanchor.GitError
	if !errors.As(cause, &refusal) || ctx.Err() != nil || gitcmd.Unasked(cause) != nil || c.tree.Readable(ctx, a.Base) {
		return nil, cause
	}
	why, err := c.backup.Restore(ctx, func() bool { return false })
	if err != nil {
		return nil, errors.Join(cause, err)
	}
	f.Note("tamper", why)
	guardIn(c.checkout).failIfAlone(f, why)
	return c.collect(ctx, a, f)
}

// recordUserFiles records files of the user's own that an agent has put into its commits.
func (c collector) recordUserFiles(names []reanchor.Change, f *state) {
	var paths []string
	for _, n := range names {
		if n.Code == "A" && c.tree.User.Has(n.Path) {
			paths = append(paths, n.Path)
		}
	}
	if len(paths) > 0 {
		f.Note("untracked", "the agent committed "+text.Listed(paths)+", which you had not")
	}
}
