package worker

import (
	"bytes"
	"os"

	"relay/attempts"
)

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
