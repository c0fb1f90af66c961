package gitcmd

import (
	"io/fs"
	"os"
	"path/filepath"

	"relay/reanchor"
)

// Unblock removes pipes and the like from where git looks for files of its own: it would wait for ever to read one.
func Unblock(repo *reanchor.Git) error {
	own, shared := repo.GitDir(), repo.CommonDir()
	var suspects []string
	for _, dir := range []string{own, shared, filepath.Join(shared, "info"), filepath.Join(shared, "objects", "info")} {
		entries, _ := os.ReadDir(dir) // what is not there blocks nobody
		for _, e := range entries {
			suspects = append(suspects, filepath.Join(dir, e.Name()))
		}
	}
	for _, name := range []string{".git", ".gitignore", ".gitattributes", ".gitmodules"} {
		suspects = append(suspects, filepath.Join(repo.Root(), name))
	}
	_ = filepath.WalkDir(filepath.Join(shared, "refs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			suspects = append(suspects, path)
		}
		return nil
	})
	for _, path := range suspects {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice|fs.ModeDevice) == 0 {
			continue
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}
