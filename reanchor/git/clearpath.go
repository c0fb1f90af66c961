package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// MovedRefs is where commits stay reachable whose ref relay has given to others.
const MovedRefs = "refs/relay-moved/"

// ClearPath makes sure that a file of relay's can be made below top, with the folders it is in: an agent that knows its
// name can have put anything there, and a pipe would be waited for for ever.
func ClearPath(top, file string) error {
	made, err := ClearFolder(top, filepath.Dir(file))
	if err != nil || made {
		return err
	}
	return RemoveTree(file)
}

// ClearFolder makes sure that a folder of relay's is there below top, whatever an agent has put in its place. It reports whether it has
// made it: then nothing is in it.
func ClearFolder(top, folder string) (made bool, err error) {
	below, err := filepath.Rel(top, folder)
	if err != nil {
		return false, err
	}
	at := top
	for name := range strings.SplitSeq(below, string(filepath.Separator)) {
		at = filepath.Join(at, name)
		info, err := os.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return true, os.MkdirAll(folder, 0o700)
		case err != nil:
			return false, err
		case !info.IsDir():
			err = errors.Join(os.Remove(at), os.Mkdir(at, 0o700))
		case info.Mode().Perm()&0o700 != 0o700:
			err = os.Chmod(at, 0o700)
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// TaskBranches is where the branches are that tasks work on.
const TaskBranches = "relay-tasks/"
