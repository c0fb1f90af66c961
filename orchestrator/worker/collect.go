package worker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"relay/epic/globs"
	"relay/orchestrator/attemptfiles"
	"relay/orchestrator/changes"
	"relay/orchestrator/engine"
	"relay/orchestrator/facts"
	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/nested"
	"relay/orchestrator/git/recordfiles"
	"relay/orchestrator/git/worktree"
	"relay/orchestrator/merge"
	"relay/orchestrator/steering"
	"relay/orchestrator/text"
	"relay/orchestrator/verdict"
	"relay/reanchor"
	"relay/review"
)

// work collects what the agent made, sees what there is of it, and keeps what does not land.
type work struct{ t *attempt }

// commit commits what the agent left, and lists what git says was changed.
func (wk *work) commit(ctx context.Context) ([]reanchor.Change, error) {
	t := wk.t
	f, w, tree := &t.f, t.ev.Work, t.c.tree
	f.Changes, f.MoreChanges, f.Receipt.FilesChanged = nil, 0, nil
	if err := tree.Unlock(ctx); err != nil {
		return nil, err
	}
	if verdict.Stands(&t.ev) {
		if err := wk.halfDone(ctx); err != nil {
			return nil, err
		}
	}
	if err := wk.findHead(ctx); err != nil {
		return nil, err
	}
	head, err := wk.commitLeft(ctx)
	if err != nil {
		return nil, err
	}
	f.Head = head
	w.Untaken = tree.Untaken()
	if refused := tree.Refused(); len(refused) > 0 {
		w.Refused = slices.Sorted(maps.Keys(refused))
		w.RefusedBy = refused[w.Refused[0]].Error()
	}
	if head == t.a.Base {
		return nil, nil
	}
	if verdict.Stands(&t.ev) {
		if err := wk.onBranch(ctx); err != nil {
			return nil, err
		}
	}
	return wk.list(ctx)
}

// halfDone sees whether the agent left a merge or the like half done: to commit that would land its conflict marks.
func (wk *work) halfDone(ctx context.Context) (err error) {
	t := wk.t
	w := t.ev.Work
	if w.HalfDone = gitcmd.Halfway(t.c.tree.Repo); w.HalfDone == "" {
		w.Unmerged, err = gitcmd.Unmerged(ctx, t.c.tree.Repo)
	}
	return err
}

// findHead takes note of where the agent left the branch. An attempt of a killed run may have been set aside already, or
// half: then it is put back to how the agent left it, and judged again.
func (wk *work) findHead(ctx context.Context) error {
	t := wk.t
	tree := t.c.tree
	head, err := tree.Head(ctx)
	if kept := t.files.Kept(); err == nil && t.a.Ended && head == t.a.Base && kept != "" {
		head, err = tree.BringBack(ctx, head, kept)
	}
	if err != nil {
		return err
	}
	t.f.AgentHead = head
	if !t.a.Ended || head == t.a.Base {
		return nil
	}
	if t.f.AgentHead, err = worktree.Peel(ctx, tree.Repo, head, merge.LeftMessage(t.run.o, t.a)); err != nil {
		return err
	}
	t.ev.Work.Theirs, err = t.place.theirs(ctx, t)
	return err
}

// onBranch sees whether the agent left the branch or rewrote what was there before it.
func (wk *work) onBranch(ctx context.Context) error {
	t := wk.t
	stayed, err := t.c.tree.OnBranch(ctx)
	kept := true
	if stayed && err == nil {
		kept, err = t.c.tree.Contains(ctx, t.a.Base, t.f.Head)
	}
	if err == nil && !stayed {
		t.ev.Work.OffBranch = strings.TrimPrefix(t.c.tree.Branch, "refs/heads/")
	}
	t.ev.Work.Rewrote = err == nil && !kept
	return err
}

// list fills in what git says of each changed file.
func (wk *work) list(ctx context.Context) ([]reanchor.Change, error) {
	t := wk.t
	f, repo := &t.f, t.c.repo
	names, err := repo.Names(ctx, t.a.Base, f.Head)
	var many *reanchor.TooManyError
	switch {
	case errors.As(err, &many) || errors.Is(err, reanchor.ErrTooMuch):
		t.ev.Work.TooLarge = err.Error() // what cannot be listed cannot be held against the protected paths
	case err != nil:
		return nil, err
	}
	all := names
	names = wk.withoutRecords(ctx, names)
	stat, lines, err := repo.StatLines(ctx, t.a.Base, f.Head, facts.MostChanges)
	f.Receipt.DiffStat = strings.TrimSpace(stat)
	unlisted := 0
	if many != nil {
		unlisted = many.Rest
	}
	f.Changes, f.MoreChanges = facts.Changes(names, lines, unlisted)
	if err := wk.findRepositories(ctx, names); err != nil {
		return nil, err
	}
	wk.recordUserFiles(all)
	for i := range names {
		f.Receipt.FilesChanged = append(f.Receipt.FilesChanged, names[i].Path)
	}
	return names, err
}

// withoutRecords leaves out of the changes of an attempt what of relay's records the agent has committed: they are not its work.
func (wk *work) withoutRecords(ctx context.Context, names []reanchor.Change) []reanchor.Change {
	t := wk.t
	records := t.c.tree.Records
	if records == nil {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), func(n reanchor.Change) bool {
		return t.c.tree.User.Also(n.Path) || n.Path == recordfiles.Ledger && records.Between(ctx, t.a.Base, t.f.Head)
	})
}

// findRepositories sees whether another repository was put into the commits, or a commit of a submodule that only this checkout has.
func (wk *work) findRepositories(ctx context.Context, names []reanchor.Change) error {
	t := wk.t
	tree, w := t.c.tree, t.ev.Work
	repository, submodule, leave, err := nested.Foreign(ctx, tree.Repo, t.f.Head, names, !t.inUsers())
	w.Repository, w.Submodule = text.FirstOf(w.Repository, repository), text.FirstOf(w.Submodule, submodule)
	tree.Leave(leave...)
	return err
}

// recordUserFiles records files of the user's own that an agent has put into its commits.
func (wk *work) recordUserFiles(names []reanchor.Change) {
	t := wk.t
	var paths []string
	for _, n := range names {
		if n.Code == "A" && t.c.tree.User.Has(n.Path) {
			paths = append(paths, n.Path)
		}
	}
	if len(paths) > 0 {
		t.f.Note("untracked", "the agent committed "+text.Listed(paths)+", which you had not")
	}
}

// commitLeft commits what the agent left uncommitted, as far as it is work, and keeps the rest under a ref. Changes of
// tracked files are work, but those of protected ones; so are all untracked files when the agent has not committed
// anything, else those that its result or the task's files name. An attempt that has not succeeded keeps everything.
func (wk *work) commitLeft(ctx context.Context) (head string, err error) {
	t := wk.t
	f, tree := &t.f, t.c.tree
	message := merge.LeftMessage(t.run.o, t.a)
	f.Left, f.PutBack = nil, nil
	if !verdict.Stands(&t.ev) {
		return tree.CommitLeftovers(ctx, message, nil)
	}
	committed, err := wk.committed(ctx)
	if err != nil {
		return "", err
	}
	protected, hasProtected := wk.protects(), len(wk.protected()) > 0
	takes := func(p string) bool {
		return changes.Claims(f.ClaimedFiles, p) || !protected(p) && (!committed || changes.Declared(&t.a.Task, p))
	}
	if hasProtected {
		f.PutBack, err = tree.Differing(ctx, f.AgentHead, protected)
	}
	if err == nil && (committed || hasProtected) {
		f.Left, err = tree.Untracked(ctx, func(p string) bool { return !takes(p) })
	}
	if err == nil {
		err = wk.keepLeft(ctx)
	}
	if err != nil {
		return "", err
	}
	if len(f.PutBack) > 0 {
		if _, err := tree.PutBack(ctx, f.AgentHead, protected); err != nil {
			return "", err
		}
	}
	t.ev.Work.Left = f.Left
	return tree.CommitLeftovers(ctx, message, takes)
}

// committed reports whether the agent has committed a change: an empty commit, or a merge of what its base has, is none.
func (wk *work) committed(ctx context.Context) (bool, error) {
	t := wk.t
	if t.f.AgentHead == t.a.Base || t.ev.Work.Theirs {
		return false, nil
	}
	names, err := t.c.repo.Names(ctx, t.a.Base, t.f.AgentHead)
	var many *reanchor.TooManyError
	if errors.As(err, &many) || errors.Is(err, reanchor.ErrTooMuch) {
		return true, nil
	}
	return len(names) > 0, err
}

// keepLeft keeps what is no part of the work under a ref of its own.
func (wk *work) keepLeft(ctx context.Context) error {
	t := wk.t
	f := &t.f
	all := slices.Concat(f.Left, f.PutBack)
	if len(all) == 0 {
		return nil
	}
	commit, err := t.c.tree.SetAside(ctx, all, merge.LeftMessage(t.run.o, t.a))
	if err != nil {
		return err
	}
	ref := wk.ref() + "-left/files"
	if f.Rounds > 0 {
		ref += fmt.Sprintf("-%d", f.Rounds+1)
	}
	if err := wk.salvage(ctx, ref, commit); err != nil {
		return err
	}
	f.Receipt.Kept = append(f.Receipt.Kept, ref)
	if len(f.Left) > 0 {
		f.Note("left", text.Listed(f.Left)+" was left uncommitted, and is no part of the work: it is kept in "+ref)
	}
	if t.c.ceiling != "" { // checks run elsewhere, and a further turn of the agent may need what it has made
		return nil
	}
	return t.c.tree.Discard(f.Left)
}

// protected returns the patterns of paths that the attempt must not change; protects tells whether it must not change one.
func (wk *work) protected() []string {
	t := wk.t
	return slices.Concat(t.run.o.Epic.Protected, t.a.Task.Protected)
}

func (wk *work) protects() func(path string) bool {
	patterns := wk.protected()
	return func(p string) bool {
		return slices.ContainsFunc(patterns, func(glob string) bool { return globs.Covers(glob, p) })
	}
}

// lookAtDiff sees what the work shows beside itself: changes of protected files, which are taken back so that the next attempt can
// continue from the rest, tests that are gone or prove less, files that decide what checks say.
func (wk *work) lookAtDiff(ctx context.Context, names []reanchor.Change) error {
	t := wk.t
	f, w := &t.f, t.ev.Work
	f.Found, f.Receipt.WeakerTests = changes.Found{}, nil
	stands := verdict.Stands(&t.ev)
	if w.Empty = len(names) == 0; !stands {
		w.Further = changes.Further(ctx, t.c.repo, t.a.Previous.Head, f.Head, names)
		return nil
	}
	w.Protected = changes.ProtectedHits(wk.protected(), names)
	w.Protected = slices.DeleteFunc(w.Protected, func(p string) bool { return gitcmd.Converted(ctx, t.c.tree.Repo, p, t.a.Base, f.Head) })
	if len(w.Protected) > 0 {
		w.LeftProtected = f.PutBack
		ctx, cancel := gitcmd.Uninterrupted(ctx)
		defer cancel()
		head, err := t.c.tree.Withdraw(ctx, t.a.Base, merge.LeftMessage(t.run.o, t.a), wk.protects())
		if err == nil {
			f.Head = head
		}
		return err
	}
	if w.Empty {
		w.Outside, w.Claimed = t.c.tree.Outside(), f.ClaimedFiles
		if !t.ev.Task.HasChecks {
			wk.leftProtected()
		}
		return nil
	}
	if missing := changes.Unchanged(f.ClaimedFiles, names); len(missing) > 0 {
		f.Receipt.Claimed += ", naming files it did not change: " + strings.Join(missing, ", ")
	}
	changes.NotePaths(&f.Result, t.c.repo.Root(), names)
	changes.NoteSettings(&f.Result, t.run.o, names)
	diff := changes.Diff{
		Repo: t.c.repo, Plan: t.run.o.Epic, Task: &t.a.Task, Base: t.a.Base, Head: f.Head, Names: names, Steers: steering.Matches,
		Result: &f.Result,
	}
	if err := diff.Look(ctx); err != nil {
		return err
	}
	f.Found, w.DeletedTests, w.Weaker = diff.Found, diff.Deleted, diff.Weaker
	if f.Rounds == 0 || !verdict.Stands(&t.ev) {
		return nil
	}
	since, err := t.c.repo.Names(ctx, f.Judged, f.Head)
	if err == nil && len(since) == 0 { // the reviewers would say the same again
		f.Receipt.Verdict, f.Receipt.Findings = review.NeedsChanges, f.Earlier
		w.AsJudged = f.Before[0].InShort()
	}
	return err
}

// leftProtected sees which uncommitted changes of protected files were the agent's. Those that a check makes as well are the check's: an
// agent that has run it, as it is asked to, has left them.
func (wk *work) leftProtected() {
	t := wk.t
	own := slices.DeleteFunc(slices.Clone(t.f.PutBack), func(p string) bool { return slices.Contains(t.f.Written, p) })
	if t.ev.Work.LeftProtected = own; len(own) == 0 && len(t.f.PutBack) > 0 {
		t.f.Note("tamper", text.Listed(t.f.PutBack)+", which is protected, was left changed, as by the checks; relay put it back")
	}
}

// salvageRef is where the work of an attempt is kept that did not succeed.
func salvageRef(epicID string, a engine.Attempt) string {
	return fmt.Sprintf("refs/relay/%s/%s/%d", epicID, a.Task.ID, a.Number)
}

func (wk *work) ref() string { return salvageRef(wk.t.run.o.Epic.ID, wk.t.a) }

// salvage points a ref at what is kept of the attempt. Another ledger of the epic may have used its name: one that was
// removed, or that of another checkout.
func (wk *work) salvage(ctx context.Context, ref, commit string) error {
	t := wk.t
	aside, err := t.c.tree.Salvage(ctx, ref, commit)
	if aside != "" {
		t.f.Note("salvage", ref+" was there from elsewhere: what it led to is kept as "+aside)
	}
	return err
}

// keepWork keeps the work of an attempt that does not land as a ref and a patch.
func (wk *work) keepWork(ctx context.Context) error {
	t := wk.t
	f := &t.f
	if f.Head != "" && f.Head != t.a.Base {
		// For a relay that finds the attempt open and put back: without it the work is where it was kept, and no more.
		_ = t.files.Note(t.run.o.Dir, attemptfiles.KeptName, f.Head)
		if err := wk.salvage(ctx, wk.ref(), f.Head); err == nil {
			f.Receipt.Salvage = wk.ref()
		} else { // an agent can stand in the way of a name; the patch has the work too
			f.Note("salvage", "the work of this attempt is kept in changes.patch only: "+err.Error())
		}
		if err := wk.writePatch(ctx); err != nil {
			f.Note("salvage", "changes.patch of this attempt is not complete: "+err.Error())
			if f.Receipt.Salvage == "" {
				return err
			}
		}
	}
	return wk.keepBranch(ctx)
}

// keepBranch keeps commits that an agent left on the run's branch when it continued elsewhere: the branch is put back.
func (wk *work) keepBranch(ctx context.Context) error {
	t := wk.t
	f, tree := &t.f, t.c.tree
	tip, err := t.c.repo.Ref(ctx, tree.Branch)
	if err != nil || tip == "" || tip == t.a.Base || tip == f.Head {
		return err
	}
	if kept, err := tree.Contains(ctx, tip, f.Head); err != nil || kept {
		return err
	}
	ref := wk.ref() + "-branch"
	if err := wk.salvage(ctx, ref, tip); err != nil {
		return err
	}
	f.Receipt.Kept = append(f.Receipt.Kept, ref)
	f.Note("salvage", "what the agent had committed on the branch before it left it is kept in "+ref)
	return nil
}

// patchCap bounds changes.patch, which is there to be read; the ref has everything.
const patchCap = 64 << 20

func (wk *work) writePatch(ctx context.Context) error {
	t := wk.t
	if err := t.run.makeRoom(t.files.Patch); err != nil {
		return err
	}
	file, err := os.OpenFile(t.files.Patch, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(t.c.repo.Patch(ctx, t.a.Base, t.f.Head, file, patchCap), file.Close())
}
