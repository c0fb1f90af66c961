// Package slot keeps relay's own repositories, in which attempts, checks and reviewers work.
//
// pool.go makes and reuses slots: repositories of relay's own in which agents, checks and reviewers work. A slot borrows the objects of
// the user's repository (objects/info/alternates) and shares nothing else with it: refs, stash, configuration, index, hooks and reflogs
// are its own, so that nothing done inside one changes the user's repository. An attempt's commits enter the user's repository by a fetch
// that checks every object.
//
// Pool makes slots in files, without a clone, so that a shallow, partial, sparse or SHA-256 repository gives slots of its kind. Each use
// begins with a new .git; only the index is kept, under a name and checksum that agents do not change, so that git writes just the files
// that differ. Before relay works where an agent has been, Open restores the files that steer git, and creates a damaged repository again
// around the files. Pool.Fetch brings commits into the user's repository, with every object checked, under relay's own refs:
// refs/heads/relay-tasks and refs/relay. Bases in use are below refs/relay-tip, and what is about to land is refs/relay-pin/EPIC, so that
// git gc in the user's repository keeps them.
//
// support.go says beforehand whether tasks can work in slots of a repository, and what a user can do when they cannot.
package slot

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"

	"relay/epic/each"
	"relay/epic/pattern"
	"relay/epic/plaintext"
	"relay/reanchor/git"
)

// Pool makes, reuses and removes the slots below one folder. Its methods may be called side by side, for different slots.
type Pool struct {
	Repo     *git.Repo // the user's repository
	folder   *slotFolder
	template *template
	left     sync.Map // the *state of slots that this pool has left, by name
	fetches  atomic.Int64
}

// NewPool returns the pool of slots of a repository in a folder, absolute.
func NewPool(repo *git.Repo, dir string) *Pool {
	folder := &slotFolder{path: dir}
	return &Pool{Repo: repo, folder: folder, template: &template{repo: repo, folder: folder}}
}

// state is how relay left a slot.
type state struct {
	commit string
	mode   fs.FileMode       // permissions of a folder that git makes here
	index  [sha256.Size]byte // checksum of keptIndex
}

// Files of a slot's .git that are relay's.
const (
	// keptIndex is a second name for the index as relay left it. An agent's git replaces the index and does not write
	// into it, so this one stays: it knows which files have not been touched since, whatever an agent told git to look
	// away from.
	keptIndex = "relay-index"
	// slotMark tells a slot's repository from one that an agent has put in its place.
	slotMark = "relay-slot"
	// scratch is a folder beside the slots for what is being made or removed.
	scratch = ".relay"
)

// buildTries is how often a slot is made: objects that it borrows may be repacked at the same time.
const buildTries = 2

var (
	// ErrSpoiled means that a slot is not as relay left it.
	ErrSpoiled = errors.New("the slot was damaged")
	// ErrRest means that a slot is removed but for files that a container, for one, has left in it. They are out of the way.
	ErrRest = errors.New("files of another user that relay may not remove")
)

// Acquire returns slot name with exactly the files of commit: on branch (its name without refs/heads/), which is made or
// moved there, or detached when branch is "". Whatever was in the slot before is gone: see [Pool.Unsaved].
//
// A slot that this pool has left is used again: git then writes only the files that differ. Its repository is always a
// new one. After an error nothing is left of it.
func (p *Pool) Acquire(ctx context.Context, name, commit, branch string) (*git.Repo, error) {
	path, err := p.path(name)
	if err != nil {
		return nil, err
	}
	if err := git.RemoveTree(tempName(path)); err != nil {
		return nil, err
	}
	a := acquisition{pool: p, name: name, path: path, commit: commit, branch: branch}
	var repo *git.Repo
	if s := p.state(name); s != nil {
		repo, err = a.reuse(ctx, s)
	}
	for try := 0; repo == nil && try < buildTries && (try == 0 || ctx.Err() == nil); try++ {
		if repo, err = a.build(ctx); try == 0 {
			git.AwaitRoom(ctx, err)
		}
	}
	if err != nil { // there is nothing in it but a part of the commit
		return nil, errors.Join(fmt.Errorf("slot %s: %w", name, err), p.clear(name, path))
	}
	return repo, nil
}

// Remove removes slot name and all that is in it. Ask [Pool.Unsaved] first. Its error may be [ErrRest].
func (p *Pool) Remove(_ context.Context, name string) error {
	path, err := p.path(name)
	if err != nil {
		return err
	}
	return p.clear(name, path)
}

// clear removes a slot's folder. It is moved away first: what is cut short then leaves no slot with half its files.
func (p *Pool) clear(name, path string) error {
	p.left.Delete(name)
	if err := git.RemoveTree(tempName(path)); err != nil {
		return err
	}
	_ = os.Remove(filepath.Dir(tempName(path))) // unless other slots have theirs there
	if _, err := os.Lstat(path); err == nil {
		gone, err := p.folder.scratch("gone-" + name)
		if err != nil {
			return err
		}
		if err := os.Rename(path, gone); err != nil {
			gone = path // a folder that cannot be moved
		}
		if err := git.RemoveTree(gone); err != nil {
			return keepRest(gone, filepath.Dir(path), err)
		}
	}
	return nil
}

// keepRest moves what could not be removed of a slot into a folder, out of the way, and returns [ErrRest] with what a person can type.
func keepRest(gone, dir string, cause error) error {
	for n := 1; errors.Is(cause, fs.ErrPermission) && n <= 100; n++ {
		if to := filepath.Join(dir, fmt.Sprint(ForRest, n)); os.Rename(gone, to) == nil {
			return restError(to)
		}
	}
	return cause
}

func restError(path string) error {
	return fmt.Errorf("%w: sudo rm -rf %s", ErrRest, plaintext.ShellWord(path))
}

// Close removes the scratch folder, with what a pool that was killed had been making or removing. It stays until then: another slot may be
// about to be made there.
func (p *Pool) Close() error {
	dir, err := p.folder.real(false)
	if err != nil {
		return err
	}
	err = git.RemoveTree(filepath.Join(dir, scratch))
	_ = os.Remove(dir) // unless a slot stays in it
	return err
}

// oldGit is where in the scratch folder the repository of a slot is while the slot gets another.
func oldGit(name string) string { return "git-" + name }

// renewing reports whether a pool that was killed left a slot without a repository, while it gave it another.
func renewing(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name, ".git"))
	return errors.Is(err, fs.ErrNotExist) && isDir(filepath.Join(dir, scratch, oldGit(name)))
}

// Names lists what stands in the folder.
func (p *Pool) Names(context.Context) ([]string, error) {
	dir, err := p.folder.real(false)
	if err != nil {
		return nil, err
	}
	found, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return nil, err
	}
	return each.Where(found, func(f os.DirEntry) (string, bool) { return f.Name(), f.Name() != scratch }), nil
}

// borrower returns the repository of the slot at path, which borrows from another.
func borrower(from *git.Repo, path string) *git.Repo {
	return from.Borrower(path, filepath.Join(path, ".git"))
}

// writing returns a git command that may write into a slot.
func writing(args ...string) git.Call {
	return git.Writing(append([]string{
		"-c", fmt.Sprintf("checkout.workers=%d", runtime.NumCPU()),
		// So that the index knows of every change, and is all in one file.
		"-c", "core.trustctime=true", "-c", "core.checkStat=default", "-c", "core.splitIndex=false", "-c", "core.untrackedCache=false",
	}, args...)...)
}

// state returns how this pool has left slot name; nil if it has not.
func (p *Pool) state(name string) *state {
	s, _ := p.left.Load(name)
	left, _ := s.(*state)
	return left
}

// slotName is what a slot may be called: nothing that leads out of the folder, nor into a folder of it.
var slotName = pattern.New(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

func isSlotName(name string) bool { return len(name) <= 64 && slotName.MatchString(name) }

// path returns where slot name is, without symbolic links; the folder is made when it is not there.
func (p *Pool) path(name string) (string, error) {
	if !isSlotName(name) {
		return "", fmt.Errorf("slot %q: not a name", name)
	}
	dir, err := p.folder.real(true)
	return filepath.Join(dir, name), err
}

// slotFolder is the folder that has the slots of a pool.
type slotFolder struct {
	path string // absolute

	mu       sync.Mutex
	resolved string // path without symbolic links, when it was first used
}

// real returns the folder without symbolic links, when it was first used, and makes it when it is needed.
func (f *slotFolder) real(needed bool) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	dir := cmp.Or(f.resolved, f.path)
	if needed {
		if err := errors.Join(os.MkdirAll(filepath.Dir(dir), 0o700), os.MkdirAll(dir, 0o755)); err != nil {
			return "", err
		}
	}
	if f.resolved == "" {
		real, err := filepath.EvalSymlinks(dir)
		if !needed && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)) {
			return dir, nil
		}
		if err != nil {
			return "", err
		}
		f.resolved = real
	}
	return f.resolved, nil
}

// scratch returns a path in the scratch folder at which there is nothing.
func (f *slotFolder) scratch(name string) (string, error) {
	dir, err := f.real(true)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, scratch, name)
	return path, errors.Join(git.RemoveTree(path), os.MkdirAll(filepath.Dir(path), 0o755))
}
