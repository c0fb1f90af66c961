package checks

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// directories returns those that a command may work in, from the root of the checkout.
func directories(command string) []string {
	dirs := []string{"."}
	for _, m := range changeDir.FindAllStringSubmatch(command, -1) {
		dirs = append(dirs, path.Clean(m[1]))
	}
	return dirs
}

// environments are folders that python's virtual environments are in as a rule.
var environments = []string{".venv", "venv"}

// inEnvironment returns the path of a program that is not on the PATH in a virtual environment of the user's, or "".
func inEnvironment(f finder, name string) string {
	if strings.HasPrefix(name, ".") || strings.ContainsAny(name, "/*?") {
		return ""
	}
	for _, dir := range f.dirs {
		for _, environment := range environments {
			if in := path.Join(dir, environment, "bin", name); f.users(in) && f.lacks(in) && !f.onPath(name) {
				return in
			}
		}
	}
	return ""
}

// isDependency reports whether a path leads into a folder of dependencies, or to a file of settings that stays on one machine.
func isDependency(name string) bool {
	return path.Base(name) == ".env" || slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		return part == "node_modules" || part == ".venv" || part == "venv" || part == "vendor"
	})
}

// wordsOf returns the words of a command. A > is one.
func wordsOf(command string) []string {
	command = strings.ReplaceAll(command, ">", " > ")
	return strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\r\n;&|()<\"'`=$:,", r) })
}

// lacks reports whether git ignores a path, so that no commit has it, and task checkouts get it in no other way.
func (f finder) lacks(in string) bool {
	return f.users(in) && !f.declared(in) && !f.committed(in) && f.topIgnored(in) != "" && !f.provided(in)
}

// provided reports whether task checkouts are given a path, or have something set up that may make it.
func (f finder) provided(in string) bool {
	w := f.r.Options.Worktree
	for at := in; at != "."; at = path.Dir(at) {
		for _, glob := range slices.Concat(w.Copy, w.Share) {
			if ok, err := doublestar.Match(path.Clean(glob), at); ok && err == nil {
				return true
			}
		}
	}
	return isDependency(in) && len(w.Setup) > 0
}

// advice says what gives task checkouts a path.
func advice(in string) string {
	key := "relay.worktree.share"
	if path.Base(in) == ".env" {
		key = "relay.worktree.copy"
	}
	return fmt.Sprintf("%s: [%s]", key, in)
}
