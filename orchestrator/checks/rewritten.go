package checks

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// Rewritten is a file that a check has written, and that the commit which was checked has in another form or not at all.
type Rewritten struct {
	Path    string
	Content []byte // nil: a work does not take it in, or it is too large
	Mode    fs.FileMode
}

// lockFiles of package managers are written by commands that only build or test: go test with -mod=mod, cargo test, npm install, uv run.
var lockFiles = []string{
	"go.mod", "go.sum", "go.work.sum", "Cargo.lock", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock",
	"poetry.lock", "uv.lock", "pdm.lock", "Pipfile.lock", "Gemfile.lock", "composer.lock", "mix.lock", "pubspec.lock", "Package.resolved",
	"packages.lock.json", "gradle.lockfile", "flake.lock", "deno.lock",
}

// largestTaken bounds what is read of a file.
const largestTaken = 32 << 20

// IsLock reports whether a file is a lock file of a package manager.
func IsLock(name string) bool { return slices.Contains(lockFiles, path.Base(name)) }

// ReadRewritten reads those files of a checkout that a work takes in.
func ReadRewritten(checkout string, names []string, takes func(path string) bool) ([]Rewritten, error) {
	root, err := os.OpenRoot(checkout)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	list := make([]Rewritten, len(names))
	for i, name := range names {
		list[i].Path = name
		info, err := root.Lstat(filepath.FromSlash(name))
		if err != nil || !takes(name) || !info.Mode().IsRegular() || info.Size() > largestTaken {
			continue
		}
		list[i].Mode = info.Mode()
		if list[i].Content, err = root.ReadFile(filepath.FromSlash(name)); err != nil {
			list[i].Content = nil // the check has made it unreadable
		}
	}
	return list, nil
}
