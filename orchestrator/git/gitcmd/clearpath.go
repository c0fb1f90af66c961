package gitcmd

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"relay/reanchor"
)

// MovedRefs is where commits stay reachable whose ref relay has given to others.
const MovedRefs = "refs/relay-moved/"

// ClearRef removes refs that keep one of relay's own refs from being written: those whose names are a prefix of its name,
// or begin with it. An agent has put them there; their commits stay reachable as refs/relay-moved/<commit>.
func ClearRef(ctx context.Context, repo *reanchor.Git, ref string) error {
	top := ""
	for _, own := range []string{"refs/relay", "refs/heads/" + strings.TrimSuffix(TaskBranches, "/")} {
		if strings.HasPrefix(ref, own+"/") {
			top = own
		}
	}
	if top == "" {
		return nil
	}
	list, err := repo.Run(ctx, Writing("for-each-ref", "--format=%(objectname) %(refname)", top))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(list)) {
		commit, other, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasPrefix(ref, other+"/") && !strings.HasPrefix(other, ref+"/") {
			continue
		}
		_, keeping := repo.Run(ctx, Writing("update-ref", "--", MovedRefs+commit, commit))
		if keeping == nil {
			_, keeping = repo.Run(ctx, Writing("update-ref", "--no-deref", "-d", other, commit))
		}
		if keeping != nil {
			return keeping
		}
	}
	return makeRoom(repo, top, ref)
}

// makeRoom removes files and folders where a ref's file must be that are no refs.
func makeRoom(repo *reanchor.Git, top, ref string) error {
	at := filepath.Join(repo.CommonDir(), filepath.FromSlash(ref))
	if info, err := os.Lstat(at); err == nil && info.IsDir() { // with files in it that are no refs
		if err := RemoveTree(at); err != nil {
			return err
		}
	}
	for at := path.Dir(ref); strings.HasPrefix(at, top); at = path.Dir(at) {
		file := filepath.Join(repo.CommonDir(), filepath.FromSlash(at))
		if info, err := os.Lstat(file); err == nil && !info.IsDir() {
			if err := os.Remove(file); err != nil {
				return err
			}
		}
	}
	return nil
}

// ClearPath makes sure that a file of relay's can be made anew below top, with the folders it is in: an agent that knows its
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
