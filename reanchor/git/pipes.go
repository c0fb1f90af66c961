package git

import (
	"io/fs"
	"os"
	"path/filepath"

	"relay/epic/each"
)

// Unblock removes pipes and devices from where git looks for files of its own: it would wait for ever to open one.
func Unblock(repo *Repo) error {
	own, shared := repo.GitDir(), repo.CommonDir()
	suspects := each.Of([]string{".git", ".gitignore", ".gitattributes", ".gitmodules"}, func(name string) string {
		return filepath.Join(repo.Root(), name)
	})
	for _, dir := range []string{own, shared, filepath.Join(shared, "info"), filepath.Join(shared, "objects", "info")} {
		entries, _ := os.ReadDir(dir) // a folder that is not there blocks nothing
		suspects = append(suspects, each.Of(entries, func(e os.DirEntry) string { return filepath.Join(dir, e.Name()) })...)
	}
	for _, top := range []string{filepath.Join(shared, "refs"), filepath.Join(own, "logs")} {
		_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				suspects = append(suspects, path)
			}
			return nil
		})
	}
	for _, path := range suspects {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice|fs.ModeDevice) == 0 {
			continue
		}
		if err := RemoveIfThere(path); err != nil {
			return err
		}
	}
	return nil
}
