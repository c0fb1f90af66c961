package relayfiles

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"relay/runners"
)

// RunFolder is what the transcripts of one run take on the disk.
type RunFolder struct {
	ID    string
	Began time.Time // by its id; zero for a folder that no run has made
	Files []string  // transcripts, and the times of their lines
	Bytes int64
}

// RunFolders returns the runs below a folder that have transcripts, the oldest first. There may be no such folder.
func RunFolders(dir string) (list []RunFolder, err error) {
	folders, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, f := range folders {
		if !f.IsDir() {
			continue
		}
		r := RunFolder{ID: f.Name(), Began: began(f.Name())}
		if err := r.measure(filepath.Join(dir, f.Name())); err != nil {
			return nil, err
		}
		if len(r.Files) > 0 {
			list = append(list, r)
		}
	}
	return list, err
}

func began(id string) time.Time {
	const layout = "20060102T150405Z"
	at, _ := time.Parse(layout, id[:min(len(id), len(layout))]) // zero for another name
	return at
}

func (r *RunFolder) measure(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		names := []string{Transcript, Transcript + Compressed, runners.TimesFile}
		if err != nil || !d.Type().IsRegular() || !slices.Contains(names, d.Name()) {
			return err
		}
		if info, err := d.Info(); err == nil { // else it has just been removed
			r.Files, r.Bytes = append(r.Files, path), r.Bytes+info.Size()
		}
		return nil
	})
}

// Remove removes a run's transcripts, and nothing else of it.
func (r *RunFolder) Remove() error {
	var failed error
	for _, path := range r.Files {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}
