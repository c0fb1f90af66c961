package trees

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/orchestrator/git/gitcmd"
	"relay/reanchor"
)

// unstageMine takes the user's own untracked files out of the index again: an agent that stages everything there is
// would have relay commit them.
func (w *Tree) unstageMine(ctx context.Context) error {
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
func (w *Tree) releaseMine(ctx context.Context, commit string) error {
	out, err := w.git(ctx, nil, "diff", "--cached", "--name-only", "--no-renames", "--diff-filter=A", "-z", commit, "--")
	if err != nil {
		return err
	}
	added := w.ofMine(out)
	return w.flag(ctx, "--force-remove", added)
}

// Remember takes note of what is the user's own: files that are not tracked, ignored ones among them (an agent that
// rewrites .gitignore would have them committed), and changes that git was told not to look at.
func (w *Tree) Remember(ctx context.Context) error {
	var said bytes.Buffer
	call := gitcmd.Writing(statusAll()...)
	call.Stderr = &said
	out, err := w.runner().Run(ctx, call)
	if err != nil {
		return err
	}
	w.mine = make(map[string]bool)
	for _, folder := range closed(said.String()) {
		w.mine[folder] = true
	}
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

// Own reports whether a path is the user's own, or below a folder that is.
func (w *Tree) Own(p string) bool {
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
func (w *Tree) flagged(ctx context.Context) (assumed, skipped []string, err error) {
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

// Hidden lists tracked files that are there and that git was told not to look at, in either way.
func Hidden(ctx context.Context, repo *reanchor.Git) ([]string, error) {
	assumed, skipped, err := (&Tree{Repo: repo}).flagged(ctx)
	return append(assumed, skipped...), err
}

// coverHidden protects the user's own hidden changes from git reset, which heeds only one of the two ways to hide
// them. The function it returns ends that.
func (w *Tree) coverHidden(ctx context.Context) (uncover func() error, err error) {
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

func (w *Tree) flag(ctx context.Context, name string, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	_, err := w.git(ctx, strings.NewReader(strings.Join(paths, "\x00")+"\x00"), "update-index", name, "-z", "--stdin")
	return err
}

// unhide has git look again at what an attempt told it not to look at: a change that is hidden so would help the
// checks to pass and be in no commit.
func (w *Tree) unhide(ctx context.Context) error {
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

func (w *Tree) there(path string) bool {
	_, err := os.Lstat(filepath.Join(w.Repo.Root(), filepath.FromSlash(path)))
	return err == nil
}

// ofMine returns the user's own among paths that git printed with -z.
func (w *Tree) ofMine(printed []byte) []string {
	var found []string
	for path := range strings.SplitSeq(string(printed), "\x00") {
		if path != "" && w.Own(path) {
			found = append(found, path)
		}
	}
	return found
}

// OwnNothing takes whatever is there for an attempt's work.
func (w *Tree) OwnNothing() { w.mine, w.hidden = make(map[string]bool), make(map[string]bool) }

// HideNothing takes whatever is hidden from git for an attempt's doing: nothing is the user's own here.
func (w *Tree) HideNothing() { w.hidden = make(map[string]bool) }

// Inherit takes over what is known to be the user's own from the same checkout, opened before.
func (w *Tree) Inherit(from *Tree) { w.mine, w.hidden = from.mine, from.hidden }

// RemoveMine removes what was there before the attempt, as far as it can be removed.
func (w *Tree) RemoveMine() {
	root, err := os.OpenRoot(w.Repo.Root())
	if err != nil {
		return
	}
	for p := range w.mine {
		_ = root.RemoveAll(filepath.FromSlash(strings.TrimSuffix(p, "/")))
	}
	_ = root.Close()
}

// Noted returns what has been left where it is, neither committed nor removed, since it was last asked.
func (w *Tree) Noted() []string {
	paths := w.untold
	w.untold = nil
	return paths
}

// Outside lists what is in no commit of this repository: files git does not take, and repositories of their own.
func (w *Tree) Outside() []string {
	kept := append(slices.Collect(maps.Keys(w.left)), w.files(w.untaken)...)
	slices.Sort(kept)
	return kept
}

// WriteMine writes down what is the user's own, for a run that has to bring this one to its end. Names are bytes,
// with a NUL behind each: JSON would change those that are no text.
func (w *Tree) WriteMine(file string) error {
	var list bytes.Buffer
	for path := range w.mine {
		list.WriteString(path)
		list.WriteByte(0)
	}
	list.WriteString(listEnd)
	return os.WriteFile(file, list.Bytes(), 0o600)
}

// listEnd ends a whole list: no path is empty.
const listEnd = "\x00\x00"

// ReadMine reads what writeMine of an earlier run has written. When that is gone, everything that is there and not
// tracked counts as the user's: nothing of theirs may be taken for an agent's.
func (w *Tree) ReadMine(ctx context.Context, file string) error {
	var list []byte
	info, err := os.Lstat(file)
	if err == nil && !info.Mode().IsRegular() { // an agent has put something else there
		err = fs.ErrNotExist
	}
	if err == nil {
		list, err = os.ReadFile(file)
	}
	list, whole := bytes.CutSuffix(list, []byte(listEnd))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !whole {
		err = w.Remember(ctx)
		w.hidden = nil
		return err
	}
	w.mine, w.hidden = make(map[string]bool), nil
	for path := range strings.SplitSeq(string(list), "\x00") {
		if path != "" {
			w.mine[path] = true
		}
	}
	return err
}
