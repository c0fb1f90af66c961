package orchestrator

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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

// returnMine puts the user's own untracked files back that went away with the commit an agent had put them into.
func (w *worktree) returnMine(ctx context.Context, from string) error {
	gone := false
	for path := range w.mine {
		if !w.there(path) {
			gone = true
			break
		}
	}
	if !gone || from == "" {
		return nil
	}
	out, err := w.git(ctx, nil, "ls-tree", "-r", "--name-only", "-z", from)
	if err != nil {
		return err
	}
	var paths []string
	for _, path := range w.ofMine(out) {
		if !w.there(path) {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	list := strings.NewReader(strings.Join(paths, "\x00"))
	_, err = w.git(ctx, list, "restore", "--source="+from, "--worktree", "--pathspec-from-file=-", "--pathspec-file-nul")
	return err
}

func (w *worktree) there(path string) bool {
	_, err := os.Lstat(filepath.Join(w.repo.Root(), filepath.FromSlash(path)))
	return err == nil
}

// ofMine returns the user's own among paths that git printed with -z.
func (w *worktree) ofMine(printed []byte) []string {
	var found []string
	for path := range strings.SplitSeq(string(printed), "\x00") {
		if w.mine[path] {
			found = append(found, path)
		}
	}
	return found
}

// noteMine tells of files of the user's own that an agent has put into its commits.
func (c *checkout) noteMine(names []reanchor.Change, f *Finding) {
	for _, n := range names {
		if c.tree.mine[n.Path] {
			f.note("untracked", "the agent committed "+attempts.Clean(n.Path, 200)+", which you had not")
		}
	}
}

// noteUntracked writes down what is the user's own, for a run that has to bring this one to its end. Names are bytes,
// with a NUL behind each: JSON would change those that are no text.
func (c *checkout) noteUntracked() error {
	var list bytes.Buffer
	for path := range c.tree.mine {
		list.WriteString(path)
		list.WriteByte(0)
	}
	return os.WriteFile(c.untrackedFile(c.o.Run), list.Bytes(), 0o600)
}

// recall reads what noteUntracked of an earlier run has written.
func (c *checkout) recall(run string) error {
	if c.tree == nil {
		return nil
	}
	list, err := os.ReadFile(c.untrackedFile(run))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	c.tree.mine = make(map[string]bool)
	for path := range strings.SplitSeq(string(list), "\x00") {
		if path != "" {
			c.tree.mine[path] = true
		}
	}
	return err
}

func (c *checkout) untrackedFile(run string) string {
	return filepath.Join(c.o.Dir, "runs", run, "untracked")
}
