package orchestrator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/attempts"
	"relay/reanchor"
)

// unstageMine takes the user's own untracked files out of the index again: an agent that stages everything there is
// would have relay commit them.
func (w *worktree) unstageMine(ctx context.Context) error {
	if len(w.mine) == 0 {
		return nil
	}
	out, err := w.git(ctx, nil, "diff", "--cached", "--name-only", "--no-renames", "--diff-filter=A", "-z")
	if err != nil {
		return err
	}
	staged := w.ofMine(out)
	if len(staged) == 0 {
		return nil
	}
	_, err = w.git(ctx, strings.NewReader(strings.Join(staged, "\x00")), "reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul")
	return err
}

// releaseMine takes the user's own untracked files out of the index when commit does not have them: git then leaves
// them where they are when the commits are put back that an agent had put them into.
func (w *worktree) releaseMine(ctx context.Context, commit string) error {
	out, err := w.git(ctx, nil, "diff", "--cached", "--name-only", "--no-renames", "--diff-filter=A", "-z", commit, "--")
	if err != nil {
		return err
	}
	added := w.ofMine(out)
	return w.flag(ctx, "--force-remove", added)
}

// remember takes note of what is the user's own: files that are not tracked, ignored ones among them (an agent that
// rewrites .gitignore would have them committed), and changes that git was told not to look at.
func (w *worktree) remember(ctx context.Context) error {
	out, err := w.git(ctx, nil, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignored=matching", "--ignore-submodules=all")
	if err != nil {
		return err
	}
	w.mine = make(map[string]bool)
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if p, ok := strings.CutPrefix(entry, "?? "); ok {
			w.mine[p] = true
		} else if p, ok := strings.CutPrefix(entry, "!! "); ok {
			w.mine[p] = true
		}
	}
	assumed, skipped, err := w.flagged(ctx)
	w.hidden = make(map[string]bool)
	for _, p := range append(assumed, skipped...) {
		w.hidden[p] = true
	}
	return err
}

// own reports whether a path is the user's own, or below a folder that is.
func (w *worktree) own(p string) bool {
	if w.mine[p] {
		return true
	}
	for at, b := range []byte(p) {
		if b == '/' && w.mine[p[:at+1]] {
			return true
		}
	}
	return false
}

// flagged lists tracked files that git was told not to look at, and that are there.
func (w *worktree) flagged(ctx context.Context) (assumed, skipped []string, err error) {
	out, err := w.git(ctx, nil, "ls-files", "-v", "-z")
	for entry := range strings.SplitSeq(string(out), "\x00") {
		tag, p, ok := strings.Cut(entry, " ")
		if !ok {
			continue
		}
		if tag >= "a" {
			assumed = append(assumed, p)
		}
		if strings.EqualFold(tag, "S") && w.there(p) {
			skipped = append(skipped, p)
		}
	}
	return assumed, skipped, err
}

// coverHidden protects the user's own hidden changes from git reset, which heeds only one of the two ways to hide
// them. The function it returns ends that.
func (w *worktree) coverHidden(ctx context.Context) (uncover func() error, err error) {
	nothing := func() error { return nil }
	if w.hidden != nil && len(w.hidden) == 0 {
		return nothing, nil
	}
	assumed, _, err := w.flagged(ctx)
	assumed = slices.DeleteFunc(assumed, func(p string) bool { return w.hidden != nil && !w.hidden[p] })
	if err != nil || len(assumed) == 0 {
		return nothing, err
	}
	flag := func(name string) error { return w.flag(ctx, name, assumed) }
	return func() error { return flag("--no-skip-worktree") }, flag("--skip-worktree")
}

func (w *worktree) flag(ctx context.Context, name string, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	_, err := w.git(ctx, strings.NewReader(strings.Join(paths, "\x00")+"\x00"), "update-index", name, "-z", "--stdin")
	return err
}

// unhide has git look again at what an attempt told it not to look at: a change that is hidden so would help the
// checks to pass and be in no commit.
func (w *worktree) unhide(ctx context.Context) error {
	if w.hidden == nil {
		return nil
	}
	assumed, skipped, err := w.flagged(ctx)
	if err != nil {
		return err
	}
	users := func(p string) bool { return w.hidden[p] }
	err = w.flag(ctx, "--no-assume-unchanged", slices.DeleteFunc(assumed, users))
	return errors.Join(err, w.flag(ctx, "--no-skip-worktree", slices.DeleteFunc(skipped, users)))
}

func (w *worktree) there(path string) bool {
	_, err := os.Lstat(filepath.Join(w.repo.Root(), filepath.FromSlash(path)))
	return err == nil
}

// ofMine returns the user's own among paths that git printed with -z.
func (w *worktree) ofMine(printed []byte) []string {
	var found []string
	for path := range strings.SplitSeq(string(printed), "\x00") {
		if path != "" && w.own(path) {
			found = append(found, path)
		}
	}
	return found
}

// maxNoted is how many files of a kind are named.
const maxNoted = 3

// noteMine tells of files of the user's own that an agent has put into its commits.
func (c *checkout) noteMine(names []reanchor.Change, f *Finding) {
	var paths []string
	for _, n := range names {
		if n.Code == "A" && c.tree.own(n.Path) {
			paths = append(paths, n.Path)
		}
	}
	if len(paths) > 0 {
		f.note("untracked", "the agent committed "+listed(paths)+", which you had not")
	}
}

// noteLeft tells of files of an attempt that are in no commit and were not removed either.
func (c *checkout) noteLeft(f *Finding) {
	if paths := c.tree.untold; len(paths) > 0 {
		f.note("left", "git does not take "+listed(paths)+": left as it is, neither committed nor removed")
	}
	c.tree.untold = nil
}

func listed(paths []string) string {
	shown := make([]string, 0, maxNoted)
	for _, p := range paths[:min(maxNoted, len(paths))] {
		shown = append(shown, attempts.Clean(p, 200))
	}
	text := strings.Join(shown, ", ")
	if more := len(paths) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// noteUntracked writes down what is the user's own, for a run that has to bring this one to its end. Names are bytes,
// with a NUL behind each: JSON would change those that are no text.
func (c *checkout) noteUntracked(path string) error {
	var list bytes.Buffer
	for path := range c.tree.mine {
		list.WriteString(path)
		list.WriteByte(0)
	}
	list.WriteString(listEnd)
	return os.WriteFile(path, list.Bytes(), 0o600)
}

// listEnd ends a whole list: no path is empty.
const listEnd = "\x00\x00"

// recall reads what noteUntracked of an earlier run has written. When that is gone, everything that is there and not
// tracked counts as the user's: nothing of theirs may be taken for an agent's.
func (c *checkout) recall(ctx context.Context, path string) error {
	list, err := os.ReadFile(path)
	list, whole := bytes.CutSuffix(list, []byte(listEnd))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !whole {
		err = c.tree.remember(ctx)
		c.tree.hidden = nil
		return err
	}
	c.tree.mine, c.tree.hidden = make(map[string]bool), nil
	for path := range strings.SplitSeq(string(list), "\x00") {
		if path != "" {
			c.tree.mine[path] = true
		}
	}
	return err
}

func (c *checkout) untrackedFile(run string) string {
	return filepath.Join(c.o.Dir, "runs", run, untrackedName)
}

const untrackedName = "untracked"
