package orchestrator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"relay/reanchor"
)

// worktree is the checkout tasks work in, and the only code that writes with git. Every command runs without the
// repository's hooks and without asking for a signature: an agent may have put hooks there, and nobody is awake to type.
type worktree struct {
	repo   *reanchor.Git
	branch string          // full ref name the run works on
	mine   map[string]bool // untracked and ignored files and folders that were there before the run: never committed, never removed
	hidden map[string]bool // tracked files git was told not to look at before the run; nil: not known
	left   map[string]bool // files of attempts that git does not take, or that cannot be removed
	untold []string        // of left, what nobody was told of yet
	nested []string        // repositories of their own inside it: a commit has only their names
}

func (w *worktree) git(ctx context.Context, stdin io.ReadSeeker, args ...string) ([]byte, error) {
	call := writing(args...)
	if stdin != nil {
		call.Stdin = stdin
	}
	out, err := w.repo.Run(ctx, call)
	if err == nil || ctx.Err() != nil || !w.locked() {
		return out, err
	}
	// What was killed a moment ago has left its lock, or an editor's git was quicker.
	if err := w.unlockOwn(); err != nil {
		return out, err
	}
	if stdin != nil {
		if _, err := stdin.Seek(0, io.SeekStart); err != nil {
			return out, err
		}
	}
	return w.repo.Run(ctx, call)
}

// untracked lists untracked, not ignored files that are not the user's own.
func (w *worktree) untracked(ctx context.Context) ([]string, error) {
	out, err := w.git(ctx, nil, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, err
	}
	var paths []string
	for p := range strings.SplitSeq(string(out), "\x00") {
		if p != "" && !w.own(p) && !w.left[p] {
			paths = append(paths, p)
		}
	}
	return paths, nil
}

// commitLeftovers commits whatever an attempt left uncommitted, so that the tree is exactly the head it returns.
func (w *worktree) commitLeftovers(ctx context.Context, message string) (head string, err error) {
	if err := w.unhide(ctx); err != nil {
		return "", err
	}
	if _, err := w.git(ctx, nil, "add", "--update"); err != nil {
		return "", err
	}
	if err := w.addFresh(ctx); err != nil {
		return "", err
	}
	if err := w.unstageMine(ctx); err != nil {
		return "", err
	}
	if _, err := w.git(ctx, nil, "diff", "--cached", "--quiet", "--ignore-submodules=none"); err == nil {
		return w.head(ctx)
	}
	// Not by stdin: what it reads of a relay that is killed is an empty message.
	args := append(w.identity(ctx), "commit", "--quiet", "--no-verify", "--allow-empty-message", "--message="+message)
	if _, err := w.git(ctx, nil, args...); err != nil {
		return "", err
	}
	return w.head(ctx)
}

// addFresh stages new files. What git does not take (a repository without a commit, a file that cannot be read) is
// left where it is: neither committed nor removed.
func (w *worktree) addFresh(ctx context.Context) error {
	fresh, err := w.untracked(ctx)
	if err != nil || len(fresh) == 0 {
		return err
	}
	for _, p := range fresh {
		if strings.HasSuffix(p, "/") {
			w.nested = append(w.nested, p)
		}
	}
	list := strings.NewReader(strings.Join(fresh, "\x00"))
	_, refused := w.git(ctx, list, "add", "--pathspec-from-file=-", "--pathspec-file-nul")
	if refused == nil {
		return nil
	}
	list = strings.NewReader(strings.Join(fresh, "\x00"))
	_, _ = w.git(ctx, list, "add", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul")
	still, err := w.untracked(ctx)
	if err != nil || len(still) == len(fresh) && len(fresh) > 1 { // nothing at all was taken: a full disk, for one
		return errors.Join(refused, err)
	}
	w.leave(still...)
	return nil
}

// leave takes note of files that are neither committed nor removed.
func (w *worktree) leave(paths ...string) {
	if w.left == nil {
		w.left = make(map[string]bool)
	}
	for _, p := range paths {
		w.left[p] = true
		w.untold = append(w.untold, p)
	}
}

// identity lets relay commit where nobody has told git a name.
func (w *worktree) identity(ctx context.Context) []string {
	if _, err := w.git(ctx, nil, "var", "GIT_COMMITTER_IDENT"); err == nil {
		return nil
	}
	return nameless()
}

func (w *worktree) head(ctx context.Context) (string, error) {
	out, err := w.git(ctx, nil, "rev-parse", "--verify", "HEAD^{commit}")
	return strings.TrimSpace(string(out)), err
}

// contains reports whether commit base is part of head's history.
func (w *worktree) contains(ctx context.Context, base, head string) (bool, error) {
	_, err := w.git(ctx, nil, "merge-base", "--is-ancestor", base, head)
	return err == nil, unasked(err)
}

// unasked keeps only the error of a question that git could not be asked: it has no answer.
func unasked(err error) error {
	if errors.Is(err, reanchor.ErrNoRoom) {
		return err
	}
	return nil
}

// readable reports whether git can read the index and knows the commit the attempt began from.
func (w *worktree) readable(ctx context.Context, base string) bool {
	_, err := w.git(ctx, nil, "cat-file", "-e", base+"^{commit}")
	if err == nil {
		_, err = w.repo.Run(ctx, reanchor.Call{Args: []string{"ls-files", "--stage"}, Stdout: io.Discard})
	}
	return err == nil || unasked(err) != nil // then nobody knows of anything wrong
}

// onBranch reports whether HEAD is still the branch the run works on.
func (w *worktree) onBranch(ctx context.Context) (bool, error) {
	out, err := w.git(ctx, nil, "symbolic-ref", "--quiet", "HEAD")
	return err == nil && strings.TrimSpace(string(out)) == w.branch, unasked(err)
}

// keep points a ref at a commit, so that an attempt's work stays reachable whatever becomes of the branch.
func (w *worktree) keep(ctx context.Context, ref, commit string) error {
	release, err := lockRepository(ctx, w.repo)
	if err != nil {
		return err
	}
	for range keepTries { // git removes folders of refs that are empty, a neighbour's at this moment
		if _, err = w.git(ctx, nil, "update-ref", "--", ref, commit); err == nil || ctx.Err() != nil {
			break
		}
	}
	return errors.Join(err, release())
}

// keepTries bounds how often a ref is written that git could not write.
const keepTries = 3

// detach takes a worktree off its branch, so that the branch can go. One that cannot be read is not on any.
func (w *worktree) detach(ctx context.Context, commit string) {
	if commit != "" {
		_, _ = w.git(ctx, nil, "update-ref", "--no-deref", "--", "HEAD", commit)
	}
}

// standApart takes a worktree off a branch that is not its own, so that what is collected in it moves nobody's branch.
func (w *worktree) standApart(ctx context.Context) {
	if name, err := w.repo.Branch(ctx); err == nil && "refs/heads/"+name == w.branch {
		return
	}
	if head, err := w.head(ctx); err == nil {
		w.detach(ctx, head)
	}
}

// restore puts branch, index and files back to commit. Files the user had untracked before the run stay.
func (w *worktree) restore(ctx context.Context, commit string) error {
	if err := errors.Join(w.unlock(ctx), w.forget()); err != nil {
		return err
	}
	if on, err := w.onBranch(ctx); err != nil {
		return err
	} else if !on {
		if _, err := w.git(ctx, nil, "symbolic-ref", "HEAD", w.branch); err != nil {
			return err
		}
	}
	if err := w.releaseMine(ctx, commit); err != nil {
		return err
	}
	uncover, err := w.coverHidden(ctx)
	if err != nil {
		return err
	}
	if _, err := w.git(ctx, nil, "reset", "--quiet", "--hard", commit, "--"); err != nil {
		return errors.Join(err, uncover())
	}
	return errors.Join(uncover(), w.removeFresh(ctx))
}

// removeFresh deletes untracked files that were not there before the run. Call it only when they are kept in a commit.
func (w *worktree) removeFresh(ctx context.Context) error {
	fresh, err := w.untracked(ctx)
	if err != nil || len(fresh) == 0 {
		return err
	}
	root, err := os.OpenRoot(w.repo.Root())
	if err != nil {
		return err
	}
	defer root.Close()
	for _, p := range fresh {
		if strings.HasSuffix(p, "/") || root.RemoveAll(filepath.FromSlash(p)) != nil {
			w.leave(p) // a repository of its own is in no commit of this one
			continue
		}
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			if root.Remove(filepath.FromSlash(dir)) != nil {
				break // not empty
			}
		}
	}
	return nil
}

// peel returns the commit below those that relay itself made for an attempt.
func (w *worktree) peel(ctx context.Context, head, message string) (string, error) {
	for {
		out, err := w.git(ctx, nil, "log", "-1", "--format=%P%x00%B", head, "--")
		if err != nil {
			return "", err
		}
		parents, body, _ := strings.Cut(string(out), "\x00")
		parent, _, _ := strings.Cut(parents, " ")
		if parent == "" || strings.TrimSpace(body) != strings.TrimSpace(message) {
			return head, nil
		}
		head = parent
	}
}

// bringBack puts the work kept under ref into the checkout again, if there is any and nothing is in its way.
func (w *worktree) bringBack(ctx context.Context, head, ref string) (string, error) {
	kept, err := w.repo.Ref(ctx, ref)
	if err != nil || kept == "" {
		return head, err
	}
	if _, err := w.git(ctx, nil, "diff", "--quiet", "HEAD"); err != nil {
		return head, nil // somebody is at work here
	}
	if _, err := w.git(ctx, nil, "merge", "--quiet", "--ff-only", "--no-autostash", "--", kept); err != nil {
		return head, nil // files that would be overwritten, or a history that does not follow
	}
	return kept, nil
}

// commitTimes returns the committer times of base..head in seconds since 1970, without commits that relay made itself.
func (w *worktree) commitTimes(ctx context.Context, base, head string) ([]int64, error) {
	out, err := w.git(ctx, nil, "log", "--format=%ct", "--invert-grep", "--grep=^"+attemptTrailer, base+".."+head, "--")
	if err != nil {
		return nil, err
	}
	var times []int64
	for _, line := range bytes.Fields(out) {
		var t int64
		if _, err := fmt.Sscan(string(line), &t); err != nil {
			return nil, fmt.Errorf("git log: %w", err)
		}
		times = append(times, t)
	}
	return times, nil
}
