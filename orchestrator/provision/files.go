// Package provision gives slots the untracked files of the user's checkout, and watches over the files that steer agent CLIs and the
// user's tools.
//
// files.go brings what a fresh slot lacks from the user's checkout: the untracked files that relay.worktree.copy and relay.worktree.share
// name. It finds them once for a run, copies them into slots, has agents' git ignore them, and says of a path whether it is one of them:
// they are in no commit, and must not land. Nothing in a slot leads to the user's checkout: a write there would be one into the user's
// file.
//
// steering.go knows the files of a repository that steer agent CLIs: their configuration, and what they read as instructions. Work that
// changes them changes how later agents and reviewers behave.
//
// userconfig.go watches the files that configure the user's tools wherever they work: an agent has the same home. It restores files that
// an agent has changed, and reports them; such a change never gates a task. Package guard does the same for git's configuration.
package provision

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"

	"relay/orchestrator/engine"
	"relay/reanchor/git"
)

// Files is the untracked files of the user's checkout that slots get. Several goroutines may use it.
type Files struct {
	home *git.Repo // the user's checkout
	o    *engine.LocalOptions

	mu    sync.Mutex
	found *names // nil: not looked for yet
}

// names are paths below the user's checkout, with slashes.
type names struct {
	copy, share []string
	tracked     map[string]bool // of these and what is below them, what is in commits: a slot that lacks it is to lack it
}

// New returns the files of a checkout that the options name. It does not look for them.
func New(home *git.Repo, o *engine.LocalOptions) *Files { return &Files{home: home, o: o} }

// Configured reports whether the options name any files.
func (f *Files) Configured() bool { return len(f.o.Worktree.Copy)+len(f.o.Worktree.Share) > 0 }

// find looks for the files, once: to look through a large checkout for each slot takes longer than most checks.
func (f *Files) find(ctx context.Context) (*names, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.found != nil {
		return f.found, nil
	}
	found := names{tracked: make(map[string]bool)}
	var err, sharing error
	found.copy, err = f.match(f.o.Worktree.Copy)
	found.share, sharing = f.match(f.o.Worktree.Share)
	out, listing := f.home.Run(ctx, git.Call{Args: []string{"ls-files", "-z"}, Limit: git.MaxPrinted})
	if err := errors.Join(err, sharing, listing); err != nil {
		return nil, err
	}
	copied, shared := setOf(found.copy), setOf(found.share)
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name != "" && (copied[name] || shared[name] || isBelow(name, copied) || isBelow(name, shared)) {
			found.tracked[name] = true
		}
	}
	found.copy = slices.DeleteFunc(found.copy, func(name string) bool { return isBelow(name, copied) }) // comes with its folder
	found.share = slices.DeleteFunc(found.share, func(name string) bool { return isBelow(name, shared) })
	f.found = &found
	return f.found, nil
}

func setOf(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, name := range list {
		set[name] = true
	}
	return set
}

// isBelow reports whether a folder of a path is in a set.
func isBelow(name string, folders map[string]bool) bool {
	for at := path.Dir(name); at != "."; at = path.Dir(at) {
		if folders[at] {
			return true
		}
	}
	return false
}

// match lists what globs name in the user's checkout. A plain name is itself, also when it comes to be there later.
func (f *Files) match(globs []string) ([]string, error) {
	root, _ := os.DirFS(f.home.Root()).(fs.StatFS)
	var list []string
	for _, glob := range globs {
		glob = path.Clean(glob)
		found := []string{glob}
		if strings.ContainsAny(glob, `*?[{\`) {
			var err error
			if found, err = doublestar.Glob(checkoutFS{root, f.isRelays}, glob, doublestar.WithNoFollow()); err != nil {
				return nil, fmt.Errorf("%s: %w", glob, err)
			}
		}
		list = append(list, slices.DeleteFunc(found, func(name string) bool { return f.isRelays(name) || !fs.ValidPath(name) })...)
	}
	return list, nil
}

// checkoutFS is a checkout without what is git's and relay's own in it.
type checkoutFS struct {
	fs.StatFS
	isRelays func(name string) bool
}

// ReadDir lists a folder.
func (c checkoutFS) ReadDir(folder string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(c.StatFS, folder)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return c.isRelays(path.Join(folder, e.Name())) }), err
}

// isRelays reports whether a path is git's or relay's own.
func (f *Files) isRelays(name string) bool {
	for _, folder := range []string{filepath.Join(f.home.Root(), ".git"), cmp.Or(f.o.Home, f.o.Dir), f.o.Worktree.Dir} {
		own, err := filepath.Rel(f.home.Root(), folder)
		own = filepath.ToSlash(own)
		if err == nil && (name == own || strings.HasPrefix(name, own+"/")) {
			return true
		}
	}
	return name == "."
}

// Has reports whether a path is, or is below, a file of the user's checkout that slots get and that is in no commit.
func (f *Files) Has(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.found != nil && f.found.tracked[name] {
		return false
	}
	for at := name; at != "."; at = path.Dir(at) {
		for _, glob := range slices.Concat(f.o.Worktree.Copy, f.o.Worktree.Share) {
			if ok, err := doublestar.Match(path.Clean(glob), at); err == nil && ok {
				_, err := os.Lstat(filepath.Join(f.home.Root(), filepath.FromSlash(name)))
				return err == nil
			}
		}
	}
	return false
}

// WriteExcludes writes a file of patterns for agents' git to ignore: what slots get, and what the user has git ignore everywhere. An
// agent that adds all there is would commit an .env.
func (f *Files) WriteExcludes(ctx context.Context, file string) error {
	var list bytes.Buffer
	if users, err := os.ReadFile(f.usersExcludes(ctx)); err == nil {
		list.Write(users)
		list.WriteByte('\n')
	}
	found, err := f.find(ctx)
	if err != nil {
		return err
	}
	for _, name := range slices.Concat(found.copy, found.share) {
		if !found.tracked[name] && !strings.Contains(name, "\n") {
			list.WriteString("/" + ignoreLine(name) + "\n")
		}
	}
	return os.WriteFile(file, list.Bytes(), 0o600)
}

// usersExcludes returns the file of patterns that the user's git ignores in every repository (gitignore(5)).
func (f *Files) usersExcludes(ctx context.Context) string {
	out, err := f.home.Run(ctx, git.Call{Args: []string{"config", "--type=path", "--get", "core.excludesFile"}})
	if err == nil {
		return strings.TrimSuffix(string(out), "\n")
	}
	home := ""
	for _, variable := range f.o.Env {
		switch name, value, _ := strings.Cut(variable, "="); {
		case name == "XDG_CONFIG_HOME" && value != "":
			return filepath.Join(value, "git", "ignore")
		case name == "HOME":
			home = filepath.Join(value, ".config", "git", "ignore")
		}
	}
	return home
}

// ignoreLine writes a path so that git takes it for itself alone.
func ignoreLine(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if strings.IndexByte(`\*?[ `, name[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(name[i])
	}
	return b.String()
}
