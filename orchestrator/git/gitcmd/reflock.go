package gitcmd

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"relay/reanchor"
)

// lockOf returns the file with which git locks a ref, or another file that all worktrees share.
func lockOf(repo *reanchor.Git, name string) string {
	return filepath.Join(repo.CommonDir(), filepath.FromSlash(name)+".lock")
}

// Unlatch removes the locks of refs, and of all packed ones, that a git that was killed has left; somebody at work holds
// younger ones.
func Unlatch(repo *reanchor.Git, refs ...string) error {
	for _, name := range append(refs, PackedRefs) {
		path := lockOf(repo, name)
		info, err := os.Lstat(path)
		if err != nil {
			continue
		}
		if age := time.Since(info.ModTime()); age < deadRef || name == PackedRefs && age < deadPacked {
			continue
		}
		if err := RemoveTree(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// PackedRefs is the file of a .git with many refs in one.
const PackedRefs = "packed-refs"
