package guard

import (
	"bytes"
	"os"
	"sync"

	"relay/attempts"
)

// settingsFiles are the files of relay's own configuration. They are the user's to edit meanwhile, so they stay as they are;
// but an agent that writes there decides how the next run works, and what it counts as done.
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

// compare reports once each file that is not what this run began with.
func (s *settingsFiles) compare(seen *Sightings) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.files {
		file := &s.files[i]
		now := settingsIn(file.path)
		if bytes.Equal(now, file.last) {
			continue
		}
		if file.last = now; !bytes.Equal(now, file.began) {
			seen.Note("settings", attempts.Clean(file.path, 200)+" was changed; this run uses the old version, and the next one the new: if that was not you, look at it")
		}
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

// Readable reports whether a file can be read without waiting for ever, or for room.
func Readable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() <= planCap
}
