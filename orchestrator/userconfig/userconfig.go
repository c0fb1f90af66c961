// Package userconfig holds what the user's tools go by wherever they work, as it was before agents began: an agent has the same
// home. Checks are pointed to copies of it, where a tool can be, and what an agent has changed is put back and told.
//
// These files are ~/.gitconfig and what is beside it in git/, but not what they include, and those of other tools. A change of
// them never gates a task. Package trees holds .git/config and the info files of the user's repository in the same way: nothing
// records who has changed them, so a change while no agent works is the user's. While one works, what steers git (filters, merge
// drivers, core.*, the address of an existing remote, attributes, the part of a commit that is checked out) is taken for the
// agent's: it is restored before anything is collected, checked out or merged, and an agent that was alone is gated, but for
// info/exclude. Everything else stays, and is reported when a user will want to know (identity, aliases), not when it is git's
// own record (branch.*).
package userconfig

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"relay/internal/lazyregexp"
	"relay/orchestrator/text"
)

// Watch holds the files. What changes while no agent is at work is the user's.
type Watch struct {
	Env    []string // of checks, by which tools find their files
	Files  []string // more of them, absolute: of the repository, which git would go by
	Folder string   // for the copies that checks are pointed to, and for what was put aside

	mu         sync.Mutex
	tools      []tool
	atWork     int
	files      []watchedFile
	aside      int
	unreported []string // in words
}

// maxBytes bounds what is kept of all files together.
const maxBytes = 8 << 20

// watchedFile is one file as it is to be.
type watchedFile struct {
	tool
	path string // of the tool's file
	was  state
}

// Enter begins a time in which an agent's code runs. When there was none before, what is there now is the user's.
func (w *Watch) Enter() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.atWork++; w.atWork == 1 {
		w.take()
	}
}

// Leave ends it. What is put back then is told to whoever asks next.
func (w *Watch) Leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mend()
	w.atWork--
}

// RunForUser runs commands of the user's own, and takes what they change for the user's.
func (w *Watch) RunForUser(run func() error) error {
	w.mu.Lock()
	w.mend()
	w.mu.Unlock()
	err := run()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.take()
	return err
}

// take reads the files as they are, but for those that are as they were.
func (w *Watch) take() {
	previous := map[string]*watchedFile{}
	for i := range w.files {
		previous[w.files[i].path] = &w.files[i]
	}
	var files []watchedFile
	bytes := 0
	add := func(h watchedFile) {
		if old := previous[h.path]; old != nil && !old.was.touched(h.path) {
			h.was = old.was
		} else {
			h.was = stateOf(h.path)
		}
		if bytes += len(h.was.content); bytes > maxBytes {
			h.was.content, h.was.whole = nil, false
		}
		files = append(files, h)
	}
	if w.tools == nil {
		w.tools = toolsOf(w.Env)
		for _, path := range w.Files {
			w.tools = append(w.tools, tool{name: "git", path: path, held: true})
		}
	}
	for _, t := range w.tools {
		add(watchedFile{tool: t, path: t.path})
	}
	w.files = files
}

// Mend puts back what has changed, and returns in words what was found since it was last asked. It reads nothing of what has the same
// stat as before.
func (w *Watch) Mend() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mend()
	found := w.unreported
	w.unreported = nil
	return found
}

func (w *Watch) mend() {
	if w.atWork == 0 { // whatever has changed is the user's
		return
	}
	for i := range w.files {
		h := &w.files[i]
		if !h.held || !h.was.touched(h.path) {
			continue
		}
		now := stateOf(h.path)
		if h.was.same(&now) {
			h.was = now
			continue
		}
		w.unreported = append(w.unreported, w.putBack(h, &now))
	}
}

// putBack puts a file back, keeps what was in its place, and says so.
func (w *Watch) putBack(h *watchedFile, now *state) string {
	what := h.path + ", which " + h.name + " goes by,"
	kept, err := w.keep(h.path, now)
	if err == nil && h.was.whole {
		err = h.was.restore(h.path)
	}
	if err != nil || !h.was.whole {
		h.was = *now
		what += " was changed during the attempt, and relay cannot put it back"
		if err != nil {
			what += fmt.Sprintf(" (%v)", err)
		}
		return what + ": look at it"
	}
	h.was = stateOf(h.path)
	message := what + " was changed during the attempt; relay put it back"
	if kept != "" {
		message += ": cp " + text.ShellWord(kept) + " " + text.ShellWord(h.path) + " brings the change back"
	}
	return message
}

// keep copies what is put aside, for a user whose own change it was.
func (w *Watch) keep(path string, now *state) (string, error) {
	if now.content == nil {
		return "", nil
	}
	w.aside++
	name := filepath.Join(w.Folder, fmt.Sprintf("changed-%d-%s", w.aside, strings.TrimLeft(filepath.Base(path), ".")))
	return name, errors.Join(os.MkdirAll(w.Folder, 0o700), os.WriteFile(name, now.content, 0o600))
}

// relative is a line of git's configuration that names a file beside it: a copy elsewhere would not find that.
var relative = lazyregexp.New(`(?im)^\s*(path|\[include[^\]]*\]\s*path)\s*=\s*"?[^/~"\s]`)

// Point returns an environment in which tools go by copies of their files, as these were before agents began.
func (w *Watch) Point(env []string) ([]string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.atWork == 0 {
		w.take()
	}
	pointed := map[string]string{}
	for i := range w.files {
		h := &w.files[i]
		if !w.pointable(h) {
			continue
		}
		path := filepath.Join(w.Folder, h.variable)
		if err := h.was.copyTo(path); err != nil {
			return nil, err
		}
		pointed[h.variable] = path
	}
	out := make([]string, 0, len(env)+len(pointed))
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		if pointed[name] == "" {
			out = append(out, entry)
		}
	}
	for _, t := range w.tools { // in the same order each time
		if path := pointed[t.variable]; t.variable != "" && path != "" {
			out = append(out, t.variable+"="+path)
		}
	}
	return out, nil
}

// pointable reports whether a tool can go by a copy of a file, and by nothing else then.
func (w *Watch) pointable(h *watchedFile) bool {
	switch {
	case h.variable == "" || !h.was.whole || h.was.dest != "":
		return false
	case h.name == "git":
		return !relative.Match(h.was.content)
	}
	// pip would no longer read a second file of the user's when it is pointed to one.
	return h.name != "pip" || !slices.ContainsFunc(w.files, func(o watchedFile) bool {
		return o.name == "pip" && o.variable == "" && o.was.info != nil
	})
}

// Close removes the copies: they may hold tokens. What was put aside stays.
func (w *Watch) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var err error
	for i := range w.files {
		if v := w.files[i].variable; v != "" {
			err = errors.Join(err, os.RemoveAll(filepath.Join(w.Folder, v)))
		}
	}
	_ = os.Remove(w.Folder) // unless something was put aside
	return err
}
