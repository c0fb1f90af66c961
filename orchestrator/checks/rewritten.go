package checks

import (
	"os"
	"path"
	"path/filepath"
	"slices"
)

// Rewritten is a file that a check has written, and that the commit which was checked has in another form or not at all.
type Rewritten struct {
	Path string
	Lock []byte // its content, if it is a lock file of a package manager; nil: it is another file, or too large
}

// lockFiles of package managers are written by commands that only build or test: go test with -mod=mod, cargo test, npm install, uv run.
var lockFiles = []string{
	"go.mod", "go.sum", "go.work.sum", "Cargo.lock", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock",
	"poetry.lock", "uv.lock", "pdm.lock", "Pipfile.lock", "Gemfile.lock", "composer.lock", "mix.lock", "pubspec.lock", "Package.resolved",
	"packages.lock.json", "gradle.lockfile", "flake.lock", "deno.lock",
}

// largestLock bounds what is read of a lock file.
const largestLock = 32 << 20

// IsLock reports whether a file is a lock file of a package manager.
func IsLock(name string) bool { return slices.Contains(lockFiles, path.Base(name)) }

// ReadRewritten reads the lock files among the files of a checkout.
func ReadRewritten(checkout string, names []string) ([]Rewritten, error) {
	root, err := os.OpenRoot(checkout)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	list := make([]Rewritten, len(names))
	for i, name := range names {
		list[i].Path = name
		info, err := root.Lstat(filepath.FromSlash(name))
		if err != nil || !IsLock(name) || !info.Mode().IsRegular() || info.Size() > largestLock {
			continue
		}
		if list[i].Lock, err = root.ReadFile(filepath.FromSlash(name)); err != nil {
			list[i].Lock = nil // the check has made it unreadable
		}
	}
	return list, nil
}
