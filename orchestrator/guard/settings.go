package guard

import (
	"bytes"
	"os"
	"sync"
)

// watchedFiles are the plan and the files of relay's own configuration. The user may edit them meanwhile, so they stay as they are; but an
// agent that writes there decides how the next run works, and what it counts as done.
type watchedFiles struct {
	mu    sync.Mutex
	files []watchedFile
}

type watchedFile struct {
	kind, path, changed string // of the note, and its text
	began, last         []byte // nil: it is not there, or cannot be read as one
}

func (w *watchedFiles) add(kind, path string, began []byte, changed string) {
	w.files = append(w.files, watchedFile{kind, path, changed, began, began})
}

// compare reports once each file that is not what this run began with.
func (w *watchedFiles) compare(seen *Sightings) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.files {
		f := &w.files[i]
		now := contentOf(f.path)
		if bytes.Equal(now, f.last) {
			continue
		}
		if f.last = now; !bytes.Equal(now, f.began) {
			seen.Note(f.kind, f.changed)
		}
	}
}

// contentOf returns the content of a file; nil if it is not there, or not readable.
func contentOf(path string) []byte {
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
