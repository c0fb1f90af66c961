package git

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// lockOf returns the file with which git locks a ref, or another file that all worktrees share.
func lockOf(repo *Repo, name string) string {
	return filepath.Join(repo.CommonDir(), filepath.FromSlash(name)+".lock")
}

// Unlatch removes the locks of refs, and of all packed ones, that a git that was killed has left; somebody at work holds
// younger ones.
func Unlatch(repo *Repo, refs ...string) error {
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

// KeptMessage is what a log of refs says of relay's own moves: a checkout's HEAD comes along with its branch.
const KeptMessage = "relay: kept"
