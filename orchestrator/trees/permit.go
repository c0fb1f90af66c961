package trees

import (
	"bytes"
	"context"
	"os"
	"path"
	"path/filepath"
	"relay/orchestrator/git/gitcmd"
	"slices"
	"strings"
)

// statusAll asks git for all that is not as in the commit.
func statusAll() []string {
	return []string{"status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignored=matching", "--ignore-submodules=all"}
}

// permit opens folders that an attempt has protected against being read: git passes over them, and says it is done.
func (w *Tree) permit(ctx context.Context) error {
	if os.Geteuid() == 0 { // nothing is protected against that
		return nil
	}
	for opened := true; opened && ctx.Err() == nil; {
		var said bytes.Buffer
		call := gitcmd.Writing(statusAll()...)
		call.Stderr = &said
		if _, err := w.Repo.Run(ctx, call); err != nil {
			return gitcmd.Unasked(err) // what is wrong with it, the next one tells
		}
		opened = false
		for _, folder := range closed(said.String()) {
			opened = w.unclose(folder) || opened
		}
	}
	return nil
}

// unclose lets relay into a folder, and those it is in, and reports whether it could not before.
func (w *Tree) unclose(folder string) (opened bool) {
	for at, b := range []byte(folder) {
		if b != '/' || w.Own(folder[:at+1]) {
			continue
		}
		full := filepath.Join(w.Repo.Root(), filepath.FromSlash(folder[:at]))
		if info, err := os.Lstat(full); err == nil && info.IsDir() && info.Mode().Perm()&0o700 != 0o700 {
			opened = os.Chmod(full, info.Mode().Perm()|0o700) == nil || opened
		}
	}
	return opened
}

// closed lists the folders, each with a slash at its end, that git complains of because it may not look into them.
func closed(complaints string) (folders []string) {
	for line := range strings.Lines(complaints) {
		name, ok := strings.CutSuffix(strings.TrimSuffix(line, "\n"), ": Permission denied")
		if !ok {
			continue
		}
		if quoted, ok := strings.CutPrefix(name, "warning: could not open directory '"); ok {
			name = strings.TrimSuffix(strings.TrimSuffix(quoted, "'"), "/")
		} else {
			name = path.Dir(name) // of a file
		}
		if name != "." && filepath.IsLocal(filepath.FromSlash(name)) {
			folders = append(folders, name+"/")
		}
	}
	slices.Sort(folders)
	return slices.Compact(folders)
}
