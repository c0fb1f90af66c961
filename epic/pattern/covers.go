// Package pattern matches text by regular expressions, compiled at first use, and paths by the globs of tasks.
//
// covers.go says which files the globs and paths that an epic declares cover.
//
// glob.go finds files by a pattern.
//
// lazyregexp.go holds regular expressions that are compiled when they are first used. Package variables are made of them, so that no
// start of relay or of its guardian compiles what that process never needs.
package pattern

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

// bracketless returns a glob with a backslash before each bracket: in many a file's name brackets stand for themselves.
func bracketless(glob string) string {
	if !strings.Contains(glob, "[") {
		return glob
	}
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		switch {
		case glob[i] == '[':
			b.WriteByte('\\')
		case glob[i] == '\\' && i+1 < len(glob):
			b.WriteByte(glob[i])
			i++
		}
		b.WriteByte(glob[i])
	}
	return b.String()
}
