package worktree

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/epic/plaintext"
	"relay/reanchor/git"
)

// IgnoredFiles are the files of a checkout that git ignores and that somebody has named: they are in no commit, and go with the checkout.
type IgnoredFiles struct {
	Named   []string // globs and paths; those that lead elsewhere do not count
	Brought func(path string) bool
	To      string // folder in which they are kept
}

// Keep keeps them, but for those that were there before: in a set, or brought. It returns their names, and a note that ends before the name
// of the folder.
func (g IgnoredFiles) Keep(
	ctx context.Context, run git.Runner, before *UserFiles, room func(files ...string) error,
) (names []string, note string, err error) {
	call := git.Writing("ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--")
	call.Env = nil // the patterns are meant
	given := len(call.Args)
	for _, p := range g.Named {
		if p = strings.TrimPrefix(p, "./"); p != "" && p != "." && filepath.IsLocal(filepath.FromSlash(p)) {
			call.Args = append(call.Args, ":(glob)"+p)
		}
	}
	if len(call.Args) == given {
		return nil, "", nil
	}
	out, err := run.Run(ctx, call)
	names = slices.DeleteFunc(strings.Split(string(out), "\x00"), func(p string) bool {
		info, err := os.Lstat(filepath.Join(run.Repo.Root(), filepath.FromSlash(p)))
		return err != nil || !info.Mode().IsRegular() || before.Has(p) || g.Brought(p) // links of a virtual environment are none
	})
	if err != nil || len(names) == 0 {
		return nil, "", git.Unasked(err) // a name that git does not take as a path
	}
	kept, err := keep(run.Repo.Root(), names, g.To, room)
	return names, "git ignores " + plaintext.Listed(names) + ": it does not land, and " + kept, err
}
