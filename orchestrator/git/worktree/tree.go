// Package worktree works in one checkout: it commits, keeps and reverts work, and tells the user's files, relay's records and the
// repositories inside it apart.
//
// tree.go is the checkout that one attempt works in, and keeps its work under refs. work.go commits its changes, takes them back, and
// brings them into the checkout again. Package worktree knows which files are the user's.
//
// nested.go is about repositories within a checkout: submodules, and folders in which somebody has made one.
//
// products.go tells products of tools, such as node_modules, from work.
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
	return slices.DeleteFunc(paths(out), func(p string) bool { return w.User.Has(p) || w.left[p] }), nil
}

// Untracked lists the untracked files, neither ignored nor the user's own, that wanted reports. Repositories are none.
func (w *Tree) Untracked(ctx context.Context, wanted func(path string) bool) ([]string, error) {
	paths, err := apart(ctx, w.Records, func() ([]string, error) { return untracked(ctx, w) })
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

// Keep points a ref at a commit, so that an attempt's work stays reachable whatever becomes of the branch.
func (w *Tree) Keep(ctx context.Context, ref, commit string) error {
	return point(ctx, w, ref, commit, func() ([]string, error) { return nil, nil })
}

// Salvage keeps a commit as Keep does, under a name that another ledger of the epic may have used. A commit that was there and
// is not part of the new one stays reachable as aside.
func (w *Tree) Salvage(ctx context.Context, ref, commit string) (aside string, err error) {
	err = point(ctx, w, ref, commit, func() ([]string, error) {
		was, err := homeOf(w).Ref(ctx, ref)
		switch {
		case err != nil: // it leads nowhere
			return nil, nil //nolint:nilerr // it leads nowhere
		case was == "":
			return []string{strings.Repeat("0", len(commit))}, nil
		}
		if held, err := w.Contains(ctx, was, commit); err != nil || held {
			return []string{was}, err
		}
		aside = git.MovedRefs + was
		_, err = homeOf(w).Run(ctx, git.Writing("update-ref", "-m", git.KeptMessage, "--", aside, was))
		return []string{was}, err
	})
	return aside, err
}

// point writes a ref, which must be at the value that expect returns, if it returns one.
func point(ctx context.Context, w *Tree, ref, commit string, expect func() ([]string, error)) error {
	release, err := git.LockRepository(ctx, homeOf(w))
	if err != nil {
		return err
	}
	for range keepTries { // git removes folders of refs that are empty, a neighbour's at this moment
		was, lookErr := expect()
		if err = lookErr; err != nil {
			break
		}
		if err = writeRef(ctx, w, ref, commit, was); err == nil || ctx.Err() != nil {
			break
		}
		if making := git.Unlatch(homeOf(w), ref); making != nil {
			err = errors.Join(err, making)
			break
		}
	}
	return errors.Join(err, release())
}

// writeRef writes a ref of the user's repository that must be at the value was, if one is given.
func writeRef(ctx context.Context, w *Tree, ref, commit string, was []string) error {
	if w.Bring != nil {
		return w.Bring(ctx, commit, ref)
	}
	_, err := w.git(ctx, nil, append([]string{"update-ref", "--no-deref", "-m", git.KeptMessage, "--", ref, commit}, was...)...)
	return err
}

// homeOf returns the repository in which work is kept.
func homeOf(w *Tree) *git.Repo {
	if w.Home != nil {
		return w.Home
	}
	return w.Repo
}

// Follow moves the branch of a slot to a commit that relay has made of what is on it.
func (w *Tree) Follow(ctx context.Context, commit string) error {
	_, err := w.git(ctx, nil, "update-ref", "-m", git.KeptMessage, "--", w.Branch, commit)
	return err
}

// keepTries bounds how often a ref is written that git could not write.
const keepTries = 3

// Detach takes a worktree off its branch, so that the branch can go. One that cannot be read is not on any.
func (w *Tree) Detach(ctx context.Context, commit string) {
	if commit != "" && w.Home != nil { // a slot has its refs in files
		_ = os.WriteFile(filepath.Join(w.Repo.GitDir(), git.HeadFile), []byte(commit+"\n"), 0o644)
	} else if commit != "" {
		_, _ = w.git(ctx, nil, "update-ref", "--no-deref", "--", "HEAD", commit)
	}
}
