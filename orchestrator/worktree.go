package orchestrator

import (
	"bytes"
	"context"
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
	mine   map[string]bool // untracked files that were there before the run: never committed, never removed
}

func (w *worktree) git(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	call := reanchor.Call{Stdin: stdin, Writes: true, Args: append([]string{"-c", "commit.gpgSign=false", "-c", "gc.auto=0", "-c", "advice.detachedHead=false"}, args...)}
	call.Env = []string{"GIT_LITERAL_PATHSPECS=1", "GIT_EDITOR=true"}
	return w.repo.Run(ctx, call)
}

// remember takes note of the user's own untracked files.
func (w *worktree) remember(ctx context.Context) error {
	w.mine = nil // what an earlier run had noted would be left out
	paths, err := w.untracked(ctx)
	if err != nil {
		return err
	}
	w.mine = make(map[string]bool, len(paths))
	for _, p := range paths {
		w.mine[p] = true
	}
	return nil
}

// untracked lists untracked, not ignored files that are not the user's own.
func (w *worktree) untracked(ctx context.Context) ([]string, error) {
	out, err := w.git(ctx, nil, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, p := range strings.Split(string(out), "\x00") {
		if p != "" && !w.mine[p] {
			paths = append(paths, p)
		}
	}
	return paths, nil
}

// commitLeftovers commits whatever an attempt left uncommitted, so that the tree is exactly the head it returns.
func (w *worktree) commitLeftovers(ctx context.Context, message string) (head string, err error) {
	fresh, err := w.untracked(ctx)
	if err != nil {
		return "", err
	}
	if _, err := w.git(ctx, nil, "add", "--update"); err != nil {
		return "", err
	}
	if len(fresh) > 0 {
		list := strings.NewReader(strings.Join(fresh, "\x00"))
		if _, err := w.git(ctx, list, "add", "--pathspec-from-file=-", "--pathspec-file-nul"); err != nil {
			return "", err
		}
	}
	if err := w.unstageMine(ctx); err != nil {
		return "", err
	}
	if _, err := w.git(ctx, nil, "diff", "--cached", "--quiet"); err == nil {
		return w.head(ctx)
	}
	args := append(w.identity(ctx), "commit", "--quiet", "--no-verify", "--allow-empty-message", "--file=-")
	if _, err := w.git(ctx, strings.NewReader(message), args...); err != nil {
		return "", err
	}
	return w.head(ctx)
}

// identity lets relay commit where nobody has told git a name.
func (w *worktree) identity(ctx context.Context) []string {
	if _, err := w.git(ctx, nil, "var", "GIT_COMMITTER_IDENT"); err == nil {
		return nil
	}
	return []string{"-c", "user.name=relay", "-c", "user.email=relay@localhost"}
}

func (w *worktree) head(ctx context.Context) (string, error) {
	out, err := w.git(ctx, nil, "rev-parse", "--verify", "HEAD^{commit}")
	return strings.TrimSpace(string(out)), err
}

// contains reports whether commit base is part of head's history.
func (w *worktree) contains(ctx context.Context, base, head string) bool {
	_, err := w.git(ctx, nil, "merge-base", "--is-ancestor", base, head)
	return err == nil
}

// readable reports whether git can read the index and knows the commit the attempt began from.
func (w *worktree) readable(ctx context.Context, base string) bool {
	_, err := w.git(ctx, nil, "cat-file", "-e", base+"^{commit}")
	if err == nil {
		_, err = w.repo.Run(ctx, reanchor.Call{Args: []string{"ls-files", "--stage"}, Stdout: io.Discard})
	}
	return err == nil
}

// onBranch reports whether HEAD is still the branch the run works on.
func (w *worktree) onBranch(ctx context.Context) bool {
	out, err := w.git(ctx, nil, "symbolic-ref", "--quiet", "HEAD")
	return err == nil && strings.TrimSpace(string(out)) == w.branch
}

// keep points a ref at a commit, so that an attempt's work stays reachable whatever becomes of the branch.
func (w *worktree) keep(ctx context.Context, ref, commit string) error {
	_, err := w.git(ctx, nil, "update-ref", "--", ref, commit)
	return err
}

// restore puts branch, index and files back to commit. Files the user had untracked before the run stay.
func (w *worktree) restore(ctx context.Context, commit string) error {
	if err := w.forget(); err != nil {
		return err
	}
	if !w.onBranch(ctx) {
		if _, err := w.git(ctx, nil, "symbolic-ref", "HEAD", w.branch); err != nil {
			return err
		}
	}
	if _, err := w.git(ctx, nil, "reset", "--quiet", "--hard", commit, "--"); err != nil {
		return err
	}
	return w.removeFresh(ctx)
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
		if err := root.RemoveAll(filepath.FromSlash(strings.TrimSuffix(p, "/"))); err != nil {
			return fmt.Errorf("remove %s: %w", p, err)
		}
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			if root.Remove(filepath.FromSlash(dir)) != nil {
				break // not empty
			}
		}
	}
	return nil
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
