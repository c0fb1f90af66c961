package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"relay/attempts"
	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/text"
	"relay/reanchor"
)

// furniture is what of the user's checkout worktrees are furnished with.
type provisioned struct {
	copy, link []string
	tracked    map[string]bool // of that, what is in commits: a worktree that lacks it is to lack it
}

// furniture finds it, once: to look through a large checkout for each worktree takes longer than most checks.
func (s *slotEngine) furniture(ctx context.Context) (*provisioned, error) {
	s.finding.Lock()
	defer s.finding.Unlock()
	if s.found != nil {
		return s.found, nil
	}
	found := provisioned{tracked: make(map[string]bool)}
	var err, linking error
	found.copy, err = s.match(s.o.Worktree.Copy)
	found.link, linking = s.match(s.o.Worktree.Link)
	out, listing := s.home.Run(ctx, reanchor.Call{Args: []string{"ls-files", "-z"}, Limit: gitcmd.MaxPrinted})
	if err := errors.Join(err, linking, listing); err != nil {
		return nil, err
	}
	copied, linked := setOf(found.copy), setOf(found.link)
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name != "" && (copied[name] || linked[name] || isBelow(name, copied) || isBelow(name, linked)) {
			found.tracked[name] = true
		}
	}
	found.copy = slices.DeleteFunc(found.copy, func(name string) bool { return isBelow(name, copied) }) // comes with its folder
	found.link = slices.DeleteFunc(found.link, func(name string) bool { return found.tracked[name] })
	s.found = &found
	return s.found, nil
}

func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
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
func (s *slotEngine) match(globs []string) ([]string, error) {
	root, _ := os.DirFS(s.home.Root()).(fs.StatFS)
	var names []string
	for _, glob := range globs {
		glob = path.Clean(glob)
		found := []string{glob}
		if strings.ContainsAny(glob, `*?[{\`) {
			var err error
			if found, err = doublestar.Glob(usersOwn{root, s.relays}, glob, doublestar.WithNoFollow()); err != nil {
				return nil, fmt.Errorf("%s: %w", glob, err)
			}
		}
		names = append(names, slices.DeleteFunc(found, func(name string) bool { return s.relays(name) || !fs.ValidPath(name) })...)
	}
	return names, nil
}

// usersOwn is a checkout without what is git's and relay's own in it.
type usersOwn struct {
	fs.StatFS
	relays func(name string) bool
}

// ReadDir lists a folder.
func (u usersOwn) ReadDir(folder string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(u.StatFS, folder)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return u.relays(path.Join(folder, e.Name())) }), err
}

// furnished reports whether a path is, or is below, something of the user's checkout that worktrees are furnished with.
func (s *slotEngine) furnished(name string) bool {
	if s.found != nil && s.found.tracked[name] {
		return false
	}
	for at := name; at != "."; at = path.Dir(at) {
		for _, glob := range slices.Concat(s.o.Worktree.Copy, s.o.Worktree.Link) {
			if ok, err := doublestar.Match(path.Clean(glob), at); err == nil && ok {
				_, err := os.Lstat(filepath.Join(s.home.Root(), filepath.FromSlash(name)))
				return err == nil
			}
		}
	}
	return false
}

// refuseFurnished fails work that has files of the user's in it which nobody has ever committed: they would land, and be
// pushed with the rest.
func (w *slotAttempt) refuseFurnished(names []reanchor.Change, f *state) {
	var taken []string
	for _, n := range names {
		if n.Code != "M" && n.Code != "D" && w.furnished(n.Path) {
			taken = append(taken, n.Path)
		}
	}
	if len(taken) > 0 && f.Outcome == attempts.Success {
		f.Fail(attempts.Agent, attempts.CodeError, "the agent committed "+text.Listed(taken)+", which the user has in no commit and relay had brought here; it is kept, but not landed")
	}
}

// excludesName lists, below a run's folder, what agents' git ignores.
const excludesName = "excludes"

// ignoreFurnished has agents' git ignore what worktrees are furnished with, and what the user has it ignore everywhere: an
// agent that adds all there is would commit an .env, or a link that the .gitignore has as a folder.
func (s *slotEngine) ignoreFurnished(ctx context.Context) error {
	w := s.o.Worktree
	if len(w.Copy)+len(w.Link) == 0 {
		return nil
	}
	var list bytes.Buffer
	if users, err := os.ReadFile(s.usersExcludes(ctx)); err == nil {
		list.Write(users)
		list.WriteByte('\n')
	}
	found, err := s.furniture(ctx)
	if err != nil {
		return err
	}
	for _, name := range slices.Concat(found.copy, found.link) {
		if !found.tracked[name] && !strings.Contains(name, "\n") {
			list.WriteString("/" + pattern(name) + "\n")
		}
	}
	s.excludes = filepath.Join(s.o.Dir, "runs", s.o.Run, excludesName)
	return os.WriteFile(s.excludes, list.Bytes(), 0o600)
}

// usersExcludes is the file of patterns that the user's git ignores in every repository (gitignore(5)).
func (s *slotEngine) usersExcludes(ctx context.Context) string {
	out, err := s.home.Run(ctx, reanchor.Call{Args: []string{"config", "--type=path", "--get", "core.excludesFile"}})
	if err == nil {
		return strings.TrimSuffix(string(out), "\n")
	}
	home := ""
	for _, variable := range s.o.Env {
		switch name, value, _ := strings.Cut(variable, "="); {
		case name == "XDG_CONFIG_HOME" && value != "":
			return filepath.Join(value, "git", "ignore")
		case name == "HOME":
			home = filepath.Join(value, ".config", "git", "ignore")
		}
	}
	return home
}

// pattern writes a path so that git takes it for itself alone.
func pattern(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if strings.IndexByte(`\*?[ `, name[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(name[i])
	}
	return b.String()
}
