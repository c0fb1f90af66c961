package runners

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// OwnSessions says where a program keeps its sessions itself, and how to read them.
type OwnSessions struct {
	Folder func(env []string) string  // its usual folder; "": there is none
	Names  []string                   // globs below that folder of the files that hold sessions
	Files  func(path string) []string // the files of the session that a file holds, in order; nil: that one
	Reader func(path string) MessageReader
}

// Find returns the files with sessions in the program's usual folder, or in any folder inside it or with a copy of its contents.
func (o *OwnSessions) Find(folder string) (paths []string) {
	for _, name := range o.Names {
		for here := len(paths); name != "" && len(paths) == here; _, name, _ = strings.Cut(name, "/") {
			paths = append(paths, Glob(folder, name)...)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// Glob returns the paths of files below a folder, in order.
func Glob(folder, pattern string) []string {
	names, _ := fs.Glob(os.DirFS(folder), pattern) // the patterns are right
	for i, name := range names {
		names[i] = filepath.Join(folder, filepath.FromSlash(name))
	}
	return names
}
