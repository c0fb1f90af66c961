package trees

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Altered lists files that were there before an attempt, or are in folders that were, and that it has changed since then
// without committing them: those by name, and what is not ignored any more.
func (w *Tree) Altered(ctx context.Context, since time.Time) ([]string, error) {
	newer := func(p string) bool {
		info, err := os.Lstat(filepath.Join(w.Repo.Root(), filepath.FromSlash(p)))
		return err == nil && info.Mode().IsRegular() && info.ModTime().After(since)
	}
	if len(w.mine) == 0 {
		return nil, nil
	}
	var altered []string
	for p := range w.mine {
		if newer(p) {
			altered = append(altered, p)
		}
	}
	if len(altered) > 0 {
		out, err := w.git(ctx, nil, append([]string{"ls-files", "-z", "--"}, altered...)...)
		if err != nil {
			return nil, err
		}
		committed := strings.Split(string(out), "\x00")
		altered = slices.DeleteFunc(altered, func(p string) bool { return slices.Contains(committed, p) })
	}
	out, err := w.git(ctx, nil, "ls-files", "--others", "--exclude-standard", "-z")
	for p := range strings.SplitSeq(string(out), "\x00") {
		if p != "" && !w.mine[p] && w.Own(p) && newer(p) {
			altered = append(altered, p)
		}
	}
	slices.Sort(altered)
	return altered, err
}
