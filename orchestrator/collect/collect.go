// Package collect finds an agent's work wherever it is in the slot, commits, observes and keeps it, and keeps account of the attempt for
// the ledger and for further turns.
//
// collect.go gathers what an attempt's agent made: it commits what the agent left uncommitted, observes what there is of work, and keeps
// what does not land. It observes and does not judge.
//
// account.go keeps the account of an attempt: what the ledger will record of it, and what its further turns need to know. It is pure:
// what the evidence means is for package verdict.
//
// facts.go records of an attempt what runners and git tell: what the agent says of its work.
package collect

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"relay/epic/each"
	"relay/epic/pattern"
	"relay/epic/plaintext"
	"relay/orchestrator/changes"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/worktree"
	"relay/orchestrator/merge"
	"relay/orchestrator/provision"
	"relay/orchestrator/relayfiles"
	"relay/orchestrator/verdict"
	"relay/reanchor/git"
	"relay/review"
)

// Work is the work of one attempt, in the checkout that its agent worked in.
type Work struct {
	Attempt  *engine.Attempt
	Options  *engine.LocalOptions
	Files    relayfiles.Files
	Evidence *verdict.Evidence
	State    *Account

	Tree    *worktree.Tree
	Repo    *git.Repo
	InUsers bool                                    // it is the user's own checkout
	Theirs  func(ctx context.Context) (bool, error) // reports whether a person has committed since the run of the attempt was killed
}

// Commit commits what the agent left, and lists what git says was changed.
func (wk *Work) Commit(ctx context.Context) ([]git.Change, error) {
	f, w, tree := wk.State, wk.Evidence.Work, wk.Tree
	f.Changes, f.MoreChanges, f.Receipt.FilesChanged = nil, 0, nil
	if err := tree.Runner().Unlock(); err != nil {
		return nil, err
	}
	if verdict.Stands(wk.Evidence) {
		// To commit a merge or the like that the agent left half done would land its conflict marks.
		var err error
		if w.HalfDone = tree.Repo.Operation(); w.HalfDone == "" {
			w.Unmerged, err = git.Unmerged(ctx, tree.Repo)
		}
		if err != nil {
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
	if head == wk.Attempt.Base {
		return nil, nil
	}
	if verdict.Stands(wk.Evidence) {
		if err := onBranch(ctx, wk); err != nil {
			return nil, err
		}
	}
	return wk.list(ctx)
}

// findHead takes note of where the agent left the branch. An attempt of a killed run may have been set aside already, or
// half: then it is put back to how the agent left it, and judged again.
func (wk *Work) findHead(ctx context.Context) error {
	tree := wk.Tree
	head, err := tree.Head(ctx)
	if kept := wk.Files.Kept(); err == nil && wk.Attempt.Ended && head == wk.Attempt.Base && kept != "" {
		head, err = worktree.BringBack(ctx, tree, head, kept)
	}
	if err != nil {
		return err
	}
	wk.State.AgentHead = head
	if !wk.Attempt.Ended || head == wk.Attempt.Base {
		return nil
	}
	if wk.State.AgentHead, err = worktree.Peel(ctx, tree.Repo, head, merge.LeftMessage(wk.Options, *wk.Attempt)); err != nil {
		return err
	}
	wk.Evidence.Work.Theirs, err = wk.Theirs(ctx)
	return err
}

// onBranch sees whether the agent left the branch or rewrote what was there before it.
func onBranch(ctx context.Context, wk *Work) error {
	stayed, err := wk.Tree.OnBranch(ctx)
	kept := true
	if stayed && err == nil {
		kept, err = wk.Tree.Contains(ctx, wk.Attempt.Base, wk.State.Head)
	}
	if err == nil && !stayed {
		wk.Evidence.Work.OffBranch = strings.TrimPrefix(wk.Tree.Branch, "refs/heads/")
	}
	wk.Evidence.Work.Rewrote = err == nil && !kept
	return err
}

// list fills in what git says of each changed file.
func (wk *Work) list(ctx context.Context) ([]git.Change, error) {
	f, repo := wk.State, wk.Repo
	names, err := repo.Names(ctx, wk.Attempt.Base, f.Head)
	var many *git.TooManyError
	switch {
	case errors.As(err, &many) || errors.Is(err, git.ErrTooMuch):
		wk.Evidence.Work.TooLarge = err.Error() // what cannot be listed cannot be held against the protected paths
	case err != nil:
		return nil, err
	}
	all := names
	names = withoutRecords(ctx, wk, names)
	stat, lines, err := repo.StatLines(ctx, wk.Attempt.Base, f.Head, MostChanges)
	f.Receipt.DiffStat = strings.TrimSpace(stat)
	unlisted := 0
	if many != nil {
		unlisted = many.Rest
	}
	f.Changes, f.MoreChanges = FileChanges(names, lines, unlisted)
	if err := findRepositories(ctx, wk, names); err != nil {
		return nil, err
	}
	own := each.Where(all, func(n git.Change) (string, bool) { return n.Path, n.Code == "A" && wk.Tree.User.Has(n.Path) })
	if len(own) > 0 {
		f.Note("untracked", "the agent committed "+plaintext.Listed(own)+", which you had not")
	}
	change := sha256.New()
	for i := range names {
		f.Receipt.FilesChanged = append(f.Receipt.FilesChanged, names[i].Path)
		fmt.Fprintf(change, "%s %s %s\n", names[i].Code, names[i].Blob, names[i].Path)
	}
	if len(names) > 0 && unlisted == 0 {
		f.Receipt.Change = hex.EncodeToString(change.Sum(nil))
	}
	return names, err
}

// withoutRecords leaves out of the changes of an attempt what of relay's records the agent has committed: they are not its work.
func withoutRecords(ctx context.Context, wk *Work, names []git.Change) []git.Change {
	if wk.Tree.Records == nil {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), func(n git.Change) bool {
		return wk.Tree.User.Also(n.Path) || n.Path == worktree.LedgerFile && worktree.Between(ctx, wk.Repo, wk.Attempt.Base, wk.State.Head)
	})
}

// findRepositories sees whether another repository was put into the commits, or a commit of a submodule that only this checkout has.
func findRepositories(ctx context.Context, wk *Work, names []git.Change) error {
	tree, w := wk.Tree, wk.Evidence.Work
	repository, submodule, leave, err := worktree.ForeignNested(ctx, tree.Repo, wk.State.Head, names, !wk.InUsers)
	w.Repository, w.Submodule = plaintext.FirstOf(w.Repository, repository), plaintext.FirstOf(w.Submodule, submodule)
	tree.Leave(leave...)
	return err
}

// commitLeft commits what the agent left uncommitted, as far as it is work, and keeps the rest under a ref. Changes of
// tracked files are work, but those of protected ones; so are all untracked files when the agent has not committed
// anything, else those that its result or the task's files name. An attempt that has not succeeded keeps everything.
func (wk *Work) commitLeft(ctx context.Context) (head string, err error) {
	f, tree := wk.State, wk.Tree
	message := merge.LeftMessage(wk.Options, *wk.Attempt)
	f.Left, f.PutBack = nil, nil
	takes, protected, hasProtected := func(string) bool { return true }, wk.Protects(), false
	if verdict.Stands(wk.Evidence) {
		named, err := namedFiles(ctx, wk)
		if err != nil {
			return "", err
		}
		hasProtected = len(wk.Protected()) > 0
		takes = func(p string) bool { return changes.Claims(f.ClaimedFiles, p) || !protected(p) && named(p) }
	}
	if hasProtected {
		f.PutBack, err = tree.Differing(ctx, f.AgentHead, protected)
	}
	out := junk{wk: wk, ctx: ctx, known: make(map[string]string)}
	if err == nil {
		f.Left, err = tree.Untracked(ctx, func(p string) bool { return (!takes(p) || out.is(p)) && !inProduct(p) })
	}
	wk.Evidence.Work.LeftOut = out.listed()
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
	wk.Evidence.Work.Left = f.Left
	return tree.CommitLeftovers(ctx, message, func(p string) bool { return takes(p) && !out.is(p) })
}

// namedFiles returns which untracked files are work, beside those that the agent claims: all, if it has committed nothing, else those that
// the task declares and those that it has deleted in a commit and put back.
func namedFiles(ctx context.Context, wk *Work) (func(p string) bool, error) {
	committed, deleted, err := committedFiles(ctx, wk)
	return func(p string) bool {
		return !committed || slices.Contains(deleted, p) || changes.Declared(&wk.Attempt.Task, p)
	}, err
}

// committedFiles reports whether the agent has committed a change, and which files that deleted. An empty commit is not a change, nor is a
// merge of commits that the base has.
func committedFiles(ctx context.Context, wk *Work) (yes bool, deleted []string, err error) {
	if wk.State.AgentHead == wk.Attempt.Base || wk.Evidence.Work.Theirs {
		return false, nil, nil
	}
	names, err := wk.Repo.Names(ctx, wk.Attempt.Base, wk.State.AgentHead)
	if errors.As(err, new(*git.TooManyError)) || errors.Is(err, git.ErrTooMuch) {
		return true, nil, nil
	}
	return len(names) > 0, each.Where(names, func(n git.Change) (string, bool) { return n.Path, n.Code == "D" }), err
}

// keepLeft keeps files that are not part of the work under a ref of their own.
func (wk *Work) keepLeft(ctx context.Context) error {
	f := wk.State
	if out := wk.Evidence.Work.LeftOut; len(out) > 0 {
		f.Note("left", "relay did not commit "+plaintext.Listed(out)+", as the task does not name "+plaintext.Verb(len(out), "it", "them"))
	}
	all := slices.Concat(f.Left, f.PutBack)
	if len(all) == 0 {
		return nil
	}
	commit, err := wk.Tree.SetAside(ctx, all, merge.LeftMessage(wk.Options, *wk.Attempt))
	if err != nil {
		return err
	}
	ref := wk.Ref() + "-left/files"
	if f.Rounds > 0 {
		ref += fmt.Sprintf("-%d", f.Rounds+1)
	}
	if err := wk.salvage(ctx, ref, commit); err != nil {
		return err
	}
	f.Receipt.Kept = append(f.Receipt.Kept, ref)
	if len(f.Left) > 0 {
		f.Note("left", plaintext.Listed(f.Left)+" was left uncommitted, and is not part of the work: it is kept in "+ref)
	}
	if !wk.InUsers { // checks run elsewhere, and a further turn of the agent may need what it has made
		return nil
	}
	return wk.Tree.Discard(f.Left)
}

// Protected returns the patterns of paths that the attempt must not change.
func (wk *Work) Protected() []string {
	return slices.Concat(wk.Options.Epic.Protected, wk.Attempt.Task.Protected)
}

// Protects returns what tells whether the attempt must not change a path.
func (wk *Work) Protects() func(path string) bool {
	patterns := wk.Protected()
	return func(p string) bool {
		return slices.ContainsFunc(patterns, func(glob string) bool { return pattern.Covers(glob, p) })
	}
}

// LookAtDiff sees what the work shows beside itself: changes of protected files, which are taken back so that the next attempt can
// continue from the rest, tests that are gone or prove less, files that decide what checks say.
func (wk *Work) LookAtDiff(ctx context.Context, names []git.Change) error {
	f, w := wk.State, wk.Evidence.Work
	f.Found, f.Receipt.WeakerTests = changes.Found{}, nil
	stands := verdict.Stands(wk.Evidence)
	if w.Empty = len(names) == 0; !stands {
		w.Further = changes.Further(ctx, wk.Repo, wk.Attempt.Previous.Head, f.Head, names)
		return nil
	}
	w.Protected = changes.ProtectedHits(wk.Protected(), names)
	w.Protected = slices.DeleteFunc(w.Protected, func(p string) bool {
		return worktree.Converted(ctx, wk.Tree.Repo, p, wk.Attempt.Base, f.Head)
	})
	if len(w.Protected) > 0 {
		w.LeftProtected = f.PutBack
		ctx, cancel := git.Uninterrupted(ctx)
		defer cancel()
		head, err := wk.Tree.Withdraw(ctx, wk.Attempt.Base, merge.LeftMessage(wk.Options, *wk.Attempt), wk.Protects())
		if err == nil {
			f.Head = head
		}
		return err
	}
	if w.Empty {
		w.Outside, w.Claimed, w.Absent = wk.Tree.Outside(), f.ClaimedFiles, wk.absent(ctx)
		if !wk.Evidence.Task.HasChecks {
			wk.LeftProtected()
		}
		return nil
	}
	if missing := changes.Unchanged(f.ClaimedFiles, names); len(missing) > 0 {
		f.Receipt.Claimed += ", naming files it did not change: " + strings.Join(missing, ", ")
	}
	changes.NoteLinks(&f.Result, wk.Repo.Root(), names)
	changes.NoteSettings(&f.Result, wk.Options, names)
	diff := changes.Diff{
		Repo: wk.Repo, Plan: wk.Options.Epic, Task: &wk.Attempt.Task, Base: wk.Attempt.Base, Head: f.Head, Names: names,
		Steers: provision.IsSteering,
		Result: &f.Result,
	}
	if err := errors.Join(diff.Look(ctx), lookForUnasked(ctx, wk, names)); err != nil {
		return err
	}
	f.Found, w.DeletedTests, w.Weaker = diff.Found, diff.Deleted, diff.Weaker
	w.Documents, w.Reviewed = onlyDocuments(&wk.Attempt.Task, names), reviewed(&wk.Attempt.Task, names)
	if f.Rounds == 0 || !verdict.Stands(wk.Evidence) {
		return nil
	}
	since, err := wk.Repo.Names(ctx, f.Judged, f.Head)
	if err == nil && len(since) == 0 { // the reviewers would say the same again
		f.Receipt.Verdict, f.Receipt.Findings = review.NeedsChanges, f.Earlier
		w.AsJudged = f.Before[0].InShort()
	}
	return err
}

// LeftProtected sees which uncommitted changes of protected files were the agent's. Those that a check makes as well are the check's: an
// agent that has run it, as it is asked to, has left them.
func (wk *Work) LeftProtected() {
	own := slices.DeleteFunc(slices.Clone(wk.State.PutBack), func(p string) bool { return slices.Contains(wk.State.Written, p) })
	if wk.Evidence.Work.LeftProtected = own; len(own) == 0 && len(wk.State.PutBack) > 0 {
		wk.State.Note("tamper", plaintext.Listed(wk.State.PutBack)+", which is protected, was left changed, as by the checks; relay put it back")
	}
}

// Ref is where the work of an attempt is kept that did not succeed.
func Ref(epicID string, a engine.Attempt) string {
	return fmt.Sprintf("refs/relay/%s/%s/%d", epicID, a.Task.ID, a.Number)
}

// Ref returns the name of the ref that keeps the work if it does not land.
func (wk *Work) Ref() string { return Ref(wk.Options.Epic.ID, *wk.Attempt) }

// salvage points a ref at what is kept of the attempt. Another ledger of the epic may have used its name: one that was
// removed, or that of another checkout.
func (wk *Work) salvage(ctx context.Context, ref, commit string) error {
	aside, err := wk.Tree.Salvage(ctx, ref, commit)
	if aside != "" {
		wk.State.Note("salvage", ref+" was there from elsewhere: what it led to is kept as "+aside)
	}
	return err
}

// Keep keeps the work of an attempt that does not land as a ref and a patch.
func (wk *Work) Keep(ctx context.Context) error {
	f := wk.State
	if f.Head != "" && f.Head != wk.Attempt.Base {
		// For a relay that finds the attempt open and put back: without it the work is where it was kept, and no more.
		_ = wk.Files.Note(wk.Options.Dir, relayfiles.KeptName, f.Head)
		if err := wk.salvage(ctx, wk.Ref(), f.Head); err == nil {
			f.Receipt.Salvage = wk.Ref()
		} else { // an agent can stand in the way of a name; the patch has the work too
			f.Note("salvage", "the work of this attempt is kept in changes.patch only: "+err.Error())
		}
		if err := writePatch(ctx, wk); err != nil {
			f.Note("salvage", "changes.patch of this attempt is not complete: "+err.Error())
			if f.Receipt.Salvage == "" {
				return err
			}
		}
	}
	return keepBranch(ctx, wk)
}

// keepBranch keeps commits that an agent left on the run's branch when it continued elsewhere: the branch is put back.
func keepBranch(ctx context.Context, wk *Work) error {
	f, tree := wk.State, wk.Tree
	tip, err := wk.Repo.Ref(ctx, tree.Branch)
	if err != nil || tip == "" || tip == wk.Attempt.Base || tip == f.Head {
		return err
	}
	if kept, err := tree.Contains(ctx, tip, f.Head); err != nil || kept {
		return err
	}
	ref := wk.Ref() + "-branch"
	if err := wk.salvage(ctx, ref, tip); err != nil {
		return err
	}
	f.Receipt.Kept = append(f.Receipt.Kept, ref)
	f.Note("salvage", "what the agent had committed on the branch before it left it is kept in "+ref)
	return nil
}

// patchCap bounds changes.patch, which is there to be read; the ref has everything.
const patchCap = 64 << 20

func writePatch(ctx context.Context, wk *Work) error {
	if err := relayfiles.MakeRoom(wk.Options.Dir, wk.Files.Patch); err != nil {
		return err
	}
	file, err := os.OpenFile(wk.Files.Patch, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(wk.Repo.Patch(ctx, wk.Attempt.Base, wk.State.Head, file, patchCap), file.Close())
}
