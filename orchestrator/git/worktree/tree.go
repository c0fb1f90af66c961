// Package worktree works in one checkout: it commits, keeps and reverts work, and tells the user's files, relay's records and the
// repositories inside it apart.
//
// tree.go is the checkout that one attempt works in: its changes are committed, kept under refs, taken back, and brought into the
// checkout again. Package worktree knows which files are the user's.
//
// nested.go is about repositories within a checkout: submodules, and folders in which somebody has made one.
//
// recordfiles.go knows which files and lines of a checkout are records of relay, and keeps git's work and these records apart.
//
// The ledger of LedgerSync and the artifacts of sessions lie in the user's checkout and may be tracked there. The user commits what is
// added to them: it does not belong to an attempt, it holds up no command, and no git command of relay loses it. Packages records and
// recordkeeper decide what records say, and when they are written.
//
// userfiles.go knows what in a checkout is the user's and in no commit: untracked, ignored and hidden files, the stash, and how all of it
// was when a run began.
package worktree

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"relay/reanchor/git"
)

// Tree is a checkout that an attempt works in.
type Tree struct {
	Repo   *git.Repo
	Branch string // full ref name the run works on

	Home  *git.Repo                                           // the user's repository, where work is kept when Repo is a slot; nil: Repo
	Bring func(ctx context.Context, commit, ref string) error // brings a commit of Repo into Home, under ref; nil: it is there

	User UserFiles // what in it is the user's own

	Records *RecordsApart // keeps records of relay out of what an attempt has done; nil: none are written here

	left       map[string]bool // files of attempts that git does not take, repositories, and what cannot be removed
	unreported []string        // of left, paths that Noted has not returned yet
	stage      staging         // of the last commit that relay made
}

func (w *Tree) git(ctx context.Context, stdin io.ReadSeeker, args ...string) ([]byte, error) {
	return w.Runner().Git(ctx, stdin, args...)
}

// Runner runs git in the checkout.
func (w *Tree) Runner() git.Runner { return git.Runner{Repo: w.Repo, Branch: w.Branch} }

// untracked lists untracked, not ignored files that are not the user's own.
func untracked(ctx context.Context, w *Tree) ([]string, error) {
	out, err := w.git(ctx, nil, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, err
	}
	var paths []string
	for p := range strings.SplitSeq(string(out), "\x00") {
		if p != "" && !w.User.Has(p) && !w.left[p] {
			paths = append(paths, p)
		}
	}
	return paths, nil
}

// Untracked lists the untracked files, neither ignored nor the user's own, that wanted reports. Repositories are none.
func (w *Tree) Untracked(ctx context.Context, wanted func(path string) bool) (paths []string, err error) {
	err = w.Records.Do(ctx, func() error {
		paths, err = untracked(ctx, w)
		return err
	})
	return slices.DeleteFunc(paths, func(p string) bool { return strings.HasSuffix(p, "/") || !wanted(p) }), err
}

// Leave records paths that are in no commit and must not be removed.
func (w *Tree) Leave(paths ...string) {
	if w.left == nil {
		w.left = make(map[string]bool)
	}
	for _, p := range paths {
		w.left[p] = true
		w.unreported = append(w.unreported, p)
	}
}

// Head returns the commit it stands at.
func (w *Tree) Head(ctx context.Context) (string, error) {
	return w.Repo.HeadCommit(ctx)
}

// Contains reports whether commit base is part of head's history.
func (w *Tree) Contains(ctx context.Context, base, head string) (bool, error) {
	_, err := w.git(ctx, nil, "merge-base", "--is-ancestor", base, head)
	return err == nil, git.Unasked(err)
}

// Readable reports whether git can read the index and knows the commit the attempt began from.
func (w *Tree) Readable(ctx context.Context, base string) bool {
	_, err := w.git(ctx, nil, "cat-file", "-e", base+"^{commit}")
	if err == nil {
		_, err = w.Repo.Run(ctx, git.Call{Args: []string{"ls-files", "--stage"}, Stdout: io.Discard})
	}
	return err == nil || git.Unasked(err) != nil // git could not answer, so no damage is known
}

// OnBranch reports whether HEAD is still the branch the run works on.
func (w *Tree) OnBranch(ctx context.Context) (bool, error) {
	branch, err := w.Repo.Branch(ctx)
	return err == nil && "refs/heads/"+branch == w.Branch, git.Unasked(err)
}

// Restore puts branch, index and files back to commit. Files the user had untracked before the run stay.
func (w *Tree) Restore(ctx context.Context, commit string) error {
	return w.Records.Do(ctx, func() error { return restore(ctx, w, commit) })
}

func restore(ctx context.Context, w *Tree, commit string) error {
	if err := errors.Join(w.Runner().Unlock(), git.Forget(w.Repo)); err != nil {
		return err
	}
	seen, err := untracked(ctx, w) // while what the attempt ignores is ignored
	if err != nil {
		return err
	}
	if on, err := w.OnBranch(ctx); err != nil {
		return err
	} else if !on {
		if _, err := w.git(ctx, nil, "symbolic-ref", "HEAD", w.Branch); err != nil {
			return err
		}
	}
	if err := w.User.Release(ctx, w.Runner(), commit); err != nil {
		return err
	}
	uncover, err := w.User.CoverHidden(ctx, w.Runner())
	if err != nil {
		return err
	}
	if _, err := w.git(ctx, nil, "reset", "--quiet", "--hard", commit, "--"); err != nil {
		return errors.Join(err, uncover())
	}
	return errors.Join(uncover(), removeFresh(ctx, w, seen))
}

// removeFresh deletes untracked files that were not there before the run. Those that were seen before the checkout was put
// back are in a commit, or no work; what the attempt ignored, and is not ignored any more, is in none and stays.
func removeFresh(ctx context.Context, w *Tree, seen []string) error {
	fresh, err := untracked(ctx, w)
	if err != nil || len(fresh) == 0 {
		return err
	}
	root, err := os.OpenRoot(w.Repo.Root())
	if err != nil {
		return err
	}
	defer root.Close()
	listed := make(map[string]bool, len(seen))
	for _, p := range seen {
		listed[p] = true
	}
	for _, p := range fresh {
		if !listed[p] || strings.HasSuffix(p, "/") || removeIn(root, p) != nil {
			w.Leave(p) // a repository of its own is in no commit of this one
		}
	}
	return nil
}

// removeIn removes a file below a root, and the folders that are empty then.
func removeIn(root *os.Root, p string) error {
	if err := root.RemoveAll(filepath.FromSlash(p)); err != nil {
		return err
	}
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if root.Remove(filepath.FromSlash(dir)) != nil {
			break // not empty
		}
	}
	return nil //nolint:nilerr // a folder that is not empty stays
}

// Noted returns what has been left where it is, neither committed nor removed, since it was last asked.
func (w *Tree) Noted() []string {
	paths := w.unreported
	w.unreported = nil
	return paths
}

// Outside lists what is in no commit of this repository: files git does not take, and repositories of their own.
func (w *Tree) Outside() []string {
	kept := append(slices.Collect(maps.Keys(w.left)), standing(w, w.stage.untaken)...)
	slices.Sort(kept)
	return kept
}
