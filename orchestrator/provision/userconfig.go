package provision

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"relay/epic/plaintext"
	"relay/reanchor/git"
)

// ConfigWatch holds the files. Changes while no agent is at work are the user's.
type ConfigWatch struct {
	Env    []string  // of checks, by which tools find their files
	Repo   *git.Repo // of the user; nil: none
	Shared bool      // agents may change the configuration of the repository
	Folder string    // for copies of what agents wrote

	mu         sync.Mutex
	atWork     int
	files      []watchedFile
	aside      int
	unreported []string // in words
}

// Enter begins a time in which an agent's code runs. If no other is at work, it reads the files as the user has them.
func (w *ConfigWatch) Enter() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.atWork++; w.atWork == 1 {
		w.take()
	}
}

// Leave ends it. The next Mend reports what it restores.
func (w *ConfigWatch) Leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mend()
	w.atWork--
}

// RunForUser runs commands of the user's own, and takes what they change for the user's.
func (w *ConfigWatch) RunForUser(run func() error) error {
	w.PutBack()
	err := run()
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.files {
		if f := &w.files[i]; !f.ofRepo {
			f.was = stateOf(f.path)
		}
	}
	return err
}

// take reads the files.
func (w *ConfigWatch) take() {
	if w.files == nil {
		w.files = filesOf(w.Env)
		if w.Repo != nil {
			w.files = append(w.files, filesOfRepo(w.Repo, w.Shared)...)
		}
	}
	for i := range w.files {
		w.files[i].was = stateOf(w.files[i].path)
	}
}

// PutBack restores changed files, for the next Mend to report.
func (w *ConfigWatch) PutBack() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mend()
}

// Mend restores changed files, and returns in words all that was restored since its last call.
func (w *ConfigWatch) Mend() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mend()
	found := w.unreported
	w.unreported = nil
	return found
}

func (w *ConfigWatch) mend() {
	if w.atWork == 0 { // whatever has changed is the user's
		return
	}
	for i := range w.files {
		f := &w.files[i]
		now := stateOf(f.path)
		switch {
		case f.was.same(&now):
		case f.config && now.content != nil && f.was.whole && onlyNotes(string(f.was.content), string(now.content)):
			f.was = now
		default:
			w.unreported = append(w.unreported, w.putBack(f, &now))
		}
	}
}

// putBack restores a file, keeps what was in its place, and says so.
func (w *ConfigWatch) putBack(f *watchedFile, now *state) string {
	shown := func(path string) string { return path }
	if w.Repo != nil {
		shown = func(path string) string { return plaintext.Relative(w.Repo.Root(), path) }
	}
	message := shown(f.path) + ", which configures " + f.tool + ", was changed during the attempt"
	kept, err := w.keep(f.path, now)
	if f.ofRepo && now.info != nil && now.info.IsDir() { // git could not work
		err = errors.Join(err, git.RemoveTree(f.path))
	}
	if err == nil && f.was.whole {
		err = f.was.restore(f.path)
	}
	if err != nil || !f.was.whole {
		f.was = *now
		message += ", and relay cannot put it back"
		if err != nil {
			message += fmt.Sprintf(" (%v)", err)
		}
		return message + ": look at it"
	}
	f.was = stateOf(f.path)
	message += "; relay put it back"
	if kept != "" {
		message += ": cp " + plaintext.ShellWord(shown(kept)) + " " + plaintext.ShellWord(shown(f.path)) + " brings the change back"
	}
	return message
}

// keep copies what an agent wrote, for a user whose own change it was.
func (w *ConfigWatch) keep(path string, now *state) (string, error) {
	if now.content == nil {
		return "", nil
	}
	w.aside++
	name := filepath.Join(w.Folder, fmt.Sprintf("changed-%d-%s", w.aside, strings.TrimLeft(filepath.Base(path), ".")))
	return name, errors.Join(os.MkdirAll(w.Folder, 0o700), os.WriteFile(name, now.content, 0o600))
}
