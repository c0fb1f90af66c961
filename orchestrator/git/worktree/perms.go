package worktree

import (
	"bytes"
	"context"
	"os"
	"path/filepath"

	"relay/orchestrator/git/gitcmd"
)

// openFolders opens folders that an attempt has protected against being read: git passes over them, and says it is done.
func (w *Tree) openFolders(ctx context.Context) error {
	if os.Geteuid() == 0 { // nothing is protected against that
		return nil
	}
	for opened := true; opened && ctx.Err() == nil; {
		var stderr bytes.Buffer
		call := gitcmd.Writing(gitcmd.StatusAll()...)
		call.Stderr = &stderr
		if _, err := w.Repo.Run(ctx, call); err != nil {
			return gitcmd.Unasked(err) // what is wrong with it, the next one tells
		}
		opened = false
		for _, folder := range gitcmd.ClosedFolders(stderr.String()) {
			opened = w.grantAccess(folder) || opened
		}
	}
	return nil
}

// grantAccess gives relay access to a folder and those above it, and reports whether it had none before.
func (w *Tree) grantAccess(folder string) (opened bool) {
	for at, b := range []byte(folder) {
		if b != '/' || w.User.Has(folder[:at+1]) {
			continue
		}
		full := filepath.Join(w.Repo.Root(), filepath.FromSlash(folder[:at]))
		if info, err := os.Lstat(full); err == nil && info.IsDir() && info.Mode().Perm()&0o700 != 0o700 {
			opened = os.Chmod(full, info.Mode().Perm()|0o700) == nil || opened
		}
	}
	return opened
}
