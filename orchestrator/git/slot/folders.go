package slot

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Folder is a folder with the slots of one repository.
type Folder struct {
	Path       string `json:"path"`
	Repository string `json:"repository"` // the git folder that the slots borrow from; "": they do not say
	Gone       bool   `json:"gone"`       // it is not there any more
	Slots      int    `json:"worktrees"`
	Bytes      int64  `json:"bytes"`
}

// Folders lists the folders with slots in a folder, with their sizes.
func Folders(in string) ([]Folder, error) {
	entries, err := os.ReadDir(in)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []Folder
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		f := Folder{Path: filepath.Join(in, e.Name())}
		lenders, _ := filepath.Glob(filepath.Join(f.Path, "*", ".git", "objects", "info", "alternates"))
		for _, file := range lenders {
			objects := strings.TrimSpace(fileText(file))
			if plain, err := strconv.Unquote(objects); err == nil {
				objects = plain
			}
			f.Slots, f.Repository = f.Slots+1, filepath.Dir(objects)
			_, err := os.Stat(objects)
			f.Gone = errors.Is(err, fs.ErrNotExist)
		}
		_ = filepath.WalkDir(f.Path, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				if info, err := d.Info(); err == nil {
					f.Bytes += info.Size()
				}
			}
			return nil // what cannot be read is not counted
		})
		list = append(list, f)
	}
	return list, err
}
