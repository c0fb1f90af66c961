package integration

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"relay/orchestrator/git/gitcmd"
)

// Refs reads the branches and tags of a repository from its files, as git does: those that lie about first, then the
// packed ones. Packing moves them the other way, so none is missed.
type Refs struct {
	Dir    string // the git folder that all worktrees share
	info   fs.FileInfo
	packed map[string]string // as of info
}

// Read returns commits (tag objects, for some tags) by full names, but for relay's own branches and for names that
// stand for other names.
func (r *Refs) Read() (map[string]string, error) {
	all := make(map[string]string)
	for _, below := range []string{"heads", "tags"} {
		err := filepath.WalkDir(filepath.Join(r.Dir, "refs", below), func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			rel, _ := filepath.Rel(r.Dir, path)
			if name := filepath.ToSlash(rel); !ours(name) {
				all[name] = hashIn(path)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if err := r.unpack(); err != nil {
		return nil, err
	}
	for name, commit := range r.packed {
		if _, loose := all[name]; !loose {
			all[name] = commit
		}
	}
	for name, commit := range all {
		if commit == "" {
			delete(all, name)
		}
	}
	return all, nil
}

// ours reports whether a ref is relay's business, of this epic or another one; locks are nobody's.
func ours(name string) bool {
	return strings.HasPrefix(name, "refs/heads/relay/") ||
		strings.HasPrefix(name, "refs/heads/"+gitcmd.TaskBranches) || strings.HasSuffix(name, ".lock")
}

// hashIn returns the hash in the file of a ref, or "".
func hashIn(path string) string {
	info, err := os.Lstat(path)
	if err != nil || info.Size() > mostRefName {
		return ""
	}
	text, _ := os.ReadFile(path) // gone meanwhile: as if it was not there
	hash := strings.TrimSpace(string(text))
	if strings.Trim(hash, "0123456789abcdef") != "" || len(hash) < 40 {
		return ""
	}
	return hash
}

// unpack reads packed-refs when it is another file than before.
func (r *Refs) unpack() error {
	path := filepath.Join(r.Dir, "packed-refs")
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		r.info, r.packed = nil, nil
		return nil // none are packed
	}
	if r.info != nil && os.SameFile(info, r.info) && info.Size() == r.info.Size() && info.ModTime().Equal(r.info.ModTime()) {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r.info, r.packed = info, make(map[string]string)
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		commit, name, ok := strings.Cut(lines.Text(), " ")
		if below := strings.HasPrefix(name, "refs/heads/") || strings.HasPrefix(name, "refs/tags/"); ok && below && !ours(name) {
			r.packed[name] = commit
		}
	}
	return lines.Err()
}
