package checks

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"relay/internal/lazyregexp"
)

// Lacking is something of the user's checkout that a check names, and that git ignores: task checkouts lack it.
type Lacking struct {
	What string // a path, with slashes
	Set  string // what to set
}

// Lacks returns the paths that a command names and will not find in task checkouts that are made of a commit, without running it. Paths
// that a task declares are left out: it makes them. Only running it proves anything.
func (r *Runner) Lacks(ctx context.Context, command, base string) (lacks []Lacking) {
	f := finder{r: r, ctx: ctx, base: base, dirs: directories(command), apart: true}
	words := wordsOf(command)
	if slices.Contains(words, "install") || slices.Contains(words, "ci") {
		return nil // it brings what it needs
	}
	for _, in := range f.named(words) {
		what, set := in, "have the check make it, or relay.worktree.copy: ["+in+"]"
		if isDependency(in) {
			what = f.topIgnored(in)
			set = f.advice(what)
		}
		if !slices.ContainsFunc(lacks, func(l Lacking) bool { return l.What == what }) {
			lacks = append(lacks, Lacking{what, set})
		}
	}
	return lacks
}

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
func (f finder) inEnvironment(name string) string {
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

var ownFolder = lazyregexp.New(`\$(?:PWD|\{PWD\}|\(pwd\))/`)

// wordsOf returns the words of a command. A > is one.
func wordsOf(command string) []string {
	command = strings.ReplaceAll(ownFolder.ReplaceAllString(command, ""), ">", " > ")
	return strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\r\n;&|()<\"'`=$:,", r) })
}

// makers are words before a path that the command itself makes.
var makers = []string{">", "-o", "-O", "-B", "--out", "--output", "mkdir", "-p", "touch", "tee", "rm", "-f", "-rf", "-r", "venv"}

// named returns the paths that words of a command name and that task checkouts lack, without those that the command itself makes.
func (f finder) named(words []string) (paths []string) {
	var made []string
	for i, word := range words {
		name := path.Clean(word)
		if path.IsAbs(name) || name == "." || strings.HasPrefix(name, "..") || strings.ContainsAny(name, "*?[{~") {
			continue
		}
		for _, dir := range f.dirs {
			in := path.Join(dir, name)
			if i > 0 && slices.Contains(makers, words[i-1]) {
				made = append(made, in)
			}
			ours := slices.ContainsFunc(made, func(m string) bool { return in == m || strings.HasPrefix(in, m+"/") })
			if !ours && !slices.Contains(paths, in) && f.lacks(in) {
				paths = append(paths, in)
			}
		}
	}
	return paths
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
func (f finder) advice(in string) string {
	key := "relay.worktree.share"
	if path.Base(in) == ".env" {
		key = "relay.worktree.copy"
	}
	return fmt.Sprintf("%s: [%s]", key, in)
}
