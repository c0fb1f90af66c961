package pattern

import (
	"io/fs"
	"path"
	"strings"
)

// Glob returns what a pattern means below a folder. (That of package fs opens whatever may be a folder, and waits where it is a pipe.)
func Glob(files fs.FS, folder, pattern string) (names []string) {
	if info, err := fs.Stat(files, folder); err != nil || !info.IsDir() {
		return nil
	}
	entries, _ := fs.ReadDir(files, folder)
	first, rest, more := strings.Cut(pattern, "/")
	for _, e := range entries { // which are sorted
		name := path.Join(folder, e.Name())
		switch matches, err := path.Match(first, e.Name()); {
		case err != nil || !matches:
		case more:
			names = append(names, Glob(files, name, rest)...)
		default:
			names = append(names, name)
		}
	}
	return names
}
