package slot

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"

	"relay/reanchor/git"
)

// Pushed lists the branches of remotes that were moved by a push from a slot since this was last asked, as the slot's logs
// say: only the slot's git writes there.
func Pushed(repo *git.Repo) (branches []string) {
	root := filepath.Join(repo.GitDir(), "logs", "refs", "remotes")
	_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error { // there may be none
		if err != nil || !e.Type().IsRegular() {
			return nil //nolint:nilerr // there may be none
		}
		if bytes.Contains([]byte(git.Plain(path, git.MaxPrinted)), []byte("\tupdate by push")) {
			branch, _ := filepath.Rel(root, path)
			branches = append(branches, filepath.ToSlash(branch))
		}
		return nil
	})
	if len(branches) > 0 {
		_ = os.RemoveAll(root)
	}
	return branches
}
