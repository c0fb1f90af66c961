package trees

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Refused says in git's words why it does not take files as their filters or encodings want them, by path. They are
// committed as they are.
func (w *Tree) Refused() map[string]error { return w.refused }

// stageRefused puts into the index, as they are, files that a filter or an encoding refuses.
func (w *Tree) stageRefused(ctx context.Context) error {
	paths := slices.DeleteFunc(slices.Sorted(maps.Keys(w.refused)), func(p string) bool { return !w.readable(p) })
	if len(paths) == 0 {
		return nil
	}
	out, err := w.git(ctx, nil, append([]string{"hash-object", "-w", "--no-filters", "--"}, paths...)...)
	if err != nil {
		return err
	}
	var entries strings.Builder
	for i, hash := range strings.Fields(string(out)) {
		mode := "100644"
		if info, err := os.Lstat(filepath.Join(w.Repo.Root(), filepath.FromSlash(paths[i]))); err == nil && info.Mode()&0o100 != 0 {
			mode = "100755"
		}
		fmt.Fprintf(&entries, "%s %s\t%s\x00", mode, hash, paths[i])
	}
	_, err = w.git(ctx, strings.NewReader(entries.String()), "update-index", "-z", "--index-info")
	return err
}

// commitIndex commits the index as git commit does, but looks at no file: it would have to pass them through the filters
// that refuse them.
func (w *Tree) commitIndex(ctx context.Context, message string) error {
	tree, err := w.git(ctx, nil, "write-tree")
	if err != nil {
		return err
	}
	head, err := w.Head(ctx)
	if err != nil {
		return err
	}
	args := append([]string{"-c", "i18n.commitEncoding=UTF-8"}, w.identity(ctx)...)
	made, err := w.git(ctx, nil, append(args, "commit-tree", "-p", head, "-m", message, strings.TrimSpace(string(tree)))...)
	if err != nil {
		return err
	}
	_, err = w.git(ctx, nil, "update-ref", "-m", keptWords, "HEAD", strings.TrimSpace(string(made)), head)
	return err
}
