// Package globs compares the globs and paths that an epic declares: which files they cover, and whether two lists of them can
// cover the same file.
package globs

import (
	"cmp"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Covers reports whether a glob or a path of an epic is about the file p: it matches p, or a folder that p is in.
func Covers(glob, p string) bool {
	glob = oneSpelling(glob)
	if glob == "." {
		return true
	}
	if plain := bracketless(glob); plain != glob && Covers(plain, p) {
		return true // as in app/[id]/page.tsx
	}
	for ; p != "." && p != "/"; p = path.Dir(p) {
		if ok, _ := doublestar.Match(glob, p); ok || p == glob {
			return true
		}
	}
	return false
}

func oneSpelling(glob string) string { return CleanPath(strings.TrimSuffix(glob, "/")) }

// CleanPath drops a leading ./ so that one file has one spelling.
func CleanPath(p string) string {
	for strings.HasPrefix(p, "./") {
		p = cmp.Or(strings.TrimLeft(p[2:], "/"), ".")
	}
	return p
}
