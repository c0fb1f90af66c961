package slot

import (
	"errors"
	"os"
	"path/filepath"

	"relay/reanchor/git"
)

// DropRefs removes the refs of a slot and their logs, but for HEAD: what they lead to is kept elsewhere.
func DropRefs(repo *git.Repo) (err error) {
	for _, name := range []string{"refs", "logs", git.PackedRefs} {
		err = errors.Join(err, git.RemoveTree(filepath.Join(repo.GitDir(), name)))
	}
	return errors.Join(err, os.MkdirAll(filepath.Join(repo.GitDir(), "refs", "heads"), 0o755)) // else git takes it for no repository
}
