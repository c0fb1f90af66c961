package worker

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"relay/attempts"
	"relay/orchestrator/text"
	"relay/reanchor"
)

// settingsFiles are the files of relay's own configuration. They are the user's to edit meanwhile, so they stay as they are;
// but an agent that writes there decides how the next run goes, and what it counts as done.
type settingsFiles struct {
	mu    sync.Mutex
	files []settingsFile
}

type settingsFile struct {
	path        string
	began, last []byte // nil: it is not there, or cannot be read as one
}

func (s *settingsFiles) begin(paths []string) {
	for _, path := range paths {
		content := settingsIn(path)
		s.files = append(s.files, settingsFile{path, content, content})
	}
}

// compare tells once of a file that is not what this run began with.
func (s *settingsFiles) compare(f *state) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.files {
		file := &s.files[i]
		now := settingsIn(file.path)
		if bytes.Equal(now, file.last) {
			continue
		}
		if file.last = now; !bytes.Equal(now, file.began) {
			f.Note("settings", attempts.Clean(file.path, 200)+" was changed; this run uses the old version, and the next one the new: if that was not you, look at it")
		}
	}
}

// noteSettings tells of work that changes how relay goes where it lands.
func (c verifier) noteSettings(names []reanchor.Change, f *state) {
	var changed []string
	for _, path := range c.o.Files {
		rel, err := filepath.Rel(c.o.Root, path)
		if err == nil && slices.ContainsFunc(names, func(n reanchor.Change) bool {
			return n.Path == filepath.ToSlash(rel) || n.From == filepath.ToSlash(rel)
		}) {
			changed = append(changed, rel)
		}
	}
	if len(changed) > 0 {
		f.Note("settings", "the agent changed "+text.Listed(changed)+", which configures relay wherever that lands")
	}
}

func settingsIn(path string) []byte {
	if !Readable(path) {
		return nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return content
}
