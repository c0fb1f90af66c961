package trees

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"

	"relay/reanchor"
)

// plot is how relay has left a worktree. What is not so any more an agent has changed.
type plot struct {
	admin  string      // the worktree's own folder below the repository's common one
	links  []string    // what stands in the files by which the two find each other
	rules  []string    // what stands in the files that say which part of a commit is checked out, and how
	mode   fs.FileMode // permissions of a folder that git makes here
	commit string
	index  [sha256.Size]byte // checksum of keptIndex
}

// keptIndex is a second name for the index as relay has left it. An agent's git replaces the index and does not write
// into it, so this one stays: it knows exactly which files have not been touched since, whatever an agent told git to
// look away from.
const keptIndex = "relay-index"

// ownMark is a file in a worktree's own folder that says which worktree it is: an agent can spoil git's own word on it.
const ownMark = "relay-worktree"

// LeadsBelow reports whether a worktree's own folder below .git is of one of relay's, or of one that is in dir as well.
func LeadsBelow(admin, dir string) bool {
	texts := Contents(admin, []string{ownMark, "gitdir"})
	return texts[0] != "" || strings.HasPrefix(texts[1], dir+string(filepath.Separator))
}

// linkFiles and ruleFiles are named from the worktree's own folder.
var (
	linkFiles = []string{"gitdir", "commondir", ownMark}
	ruleFiles = []string{"config.worktree", "info/sparse-checkout"}
)

// adminFiles are all that is left in a worktree's own folder when it is used again; with them, what other ways to keep
// refs need. The rest is an operation that is half done, a lock, or refs of an earlier task.
var adminFiles = []string{"HEAD", "gitdir", "commondir", "config.worktree", "info", "logs", "reftable", ownMark, keptIndex}

func (y *Yard) plot(name string) *plot {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.plots[name]
}

func (y *Yard) remember(name string, p *plot) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.plots == nil {
		y.plots = make(map[string]*plot)
	}
	y.plots[name] = p
}

func (y *Yard) forget(name string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	delete(y.plots, name)
}

// siteName is what a worktree may be called: nothing that leads out of dir, nor into a folder of it.
var siteName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

func isSiteName(name string) bool { return len(name) <= 64 && siteName.MatchString(name) }

// path is where worktree name is, without symbolic links; the folder it lies in is made when it is not there.
func (y *Yard) path(name string) (string, error) {
	if !isSiteName(name) {
		return "", fmt.Errorf("worktree %q: not a name", name)
	}
	dir, err := y.ground(true)
	return filepath.Join(dir, name), err
}

// ground returns dir without symbolic links, and makes it when it is needed. A link or a file where there has been a
// folder an agent has put there since: it is removed, and never followed.
func (y *Yard) ground(needed bool) (string, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.real == "" {
		real, err := y.firstLook(needed)
		if err != nil || real == "" {
			return y.Dir, err
		}
		y.real = real
	}
	for at := y.real; at == y.real || strings.HasPrefix(at, y.Repo.Root()+string(filepath.Separator)); at = filepath.Dir(at) {
		if info, err := os.Lstat(at); err == nil && !info.IsDir() {
			if err := os.Remove(at); err != nil {
				return "", err
			}
		}
	}
	if !needed {
		return y.real, nil
	}
	return y.real, os.MkdirAll(y.real, 0o755)
}

// firstLook is dir without symbolic links, or "" when there is no such folder and none is needed. The name is relay's
// own; what stands in the place of a folder above it a person may have put, and it stays.
func (y *Yard) firstLook(needed bool) (string, error) {
	if needed {
		if info, err := os.Lstat(y.Dir); err == nil && info.Mode().IsRegular() {
			if err := os.Remove(y.Dir); err != nil {
				return "", err
			}
		}
		if err := os.MkdirAll(y.Dir, 0o755); err != nil {
			return "", err
		}
	}
	real, err := filepath.EvalSymlinks(y.Dir)
	if !needed && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", err
	}
	return real, nil
}

// admins is where git keeps what belongs to one worktree each.
func (y *Yard) admins() string { return filepath.Join(y.Repo.CommonDir(), "worktrees") }

// entry is a worktree that git knows of.
type entry struct{ admin, path string }

// entries returns the worktrees below dir that git knows of. Those of others are never among them: relay's own mark
// counts only where git's word does not lead to a worktree that leads back.
func (y *Yard) entries(dir string) ([]entry, error) {
	found, err := os.ReadDir(y.admins())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var entries []entry
	for _, f := range found {
		admin := filepath.Join(y.admins(), f.Name())
		texts := Contents(admin, []string{"gitdir", ownMark})
		at := strings.TrimSpace(texts[0])
		if at != "" && !filepath.IsAbs(at) {
			at = filepath.Join(admin, at)
		}
		back := strings.TrimSpace(strings.TrimPrefix(Contents(filepath.Dir(at), []string{".git"})[0], "gitdir:"))
		if filepath.Base(back) != f.Name() && texts[1] != "" {
			at = filepath.Join(texts[1], ".git")
		}
		if path := filepath.Dir(at); at != "" && filepath.Dir(path) == dir {
			entries = append(entries, entry{admin, path})
		}
	}
	return entries, err
}

// settings are what a checkout by relay needs.
func (y *Yard) settings() []string {
	workers := y.workers
	if workers <= 0 {
		workers = runtime.NumCPU()
	}
	return []string{
		"-c", fmt.Sprintf("checkout.workers=%d", workers),
		// So that the index knows of every change, and is all in one file.
		"-c", "core.trustctime=true", "-c", "core.checkStat=default", "-c", "core.splitIndex=false", "-c", "core.untrackedCache=false",
	}
}

func (y *Yard) git(args ...string) reanchor.Call { return Writing(append(y.settings(), args...)...) }
