package orchestrator

import (
	"bytes"
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"relay/attempts"
	"relay/orchestrator/words"
	"relay/reanchor"
)

// furnished reports whether a path is, or is below, something of the user's checkout that worktrees are furnished with.
func (l *lanes) furnished(name string) bool {
	for at := name; at != "."; at = path.Dir(at) {
		for _, glob := range slices.Concat(l.o.Worktree.Copy, l.o.Worktree.Link) {
			if ok, err := doublestar.Match(path.Clean(glob), at); err == nil && ok {
				_, err := os.Lstat(filepath.Join(l.home.Root(), filepath.FromSlash(name)))
				return err == nil
			}
		}
	}
	return false
}

// refuseFurnished fails work that has files of the user's in it which nobody has ever committed: they would land, and be
// pushed with the rest.
func (w *lane) refuseFurnished(names []reanchor.Change, f *Finding) {
	var taken []string
	for _, n := range names {
		if n.Code != "M" && n.Code != "D" && w.furnished(n.Path) {
			taken = append(taken, n.Path)
		}
	}
	if len(taken) > 0 && f.Outcome == attempts.Success {
		f.fail(attempts.Agent, attempts.CodeError, "the agent committed "+words.Listed(taken)+", which the user has in no commit and relay had brought here; it is kept, but not landed")
	}
}

// excludesName lists, below a run's folder, what agents' git ignores.
const excludesName = "excludes"

// ignoreFurnished has agents' git ignore what worktrees are furnished with, and what the user has it ignore everywhere: an
// agent that adds all there is would commit an .env, or a link that the .gitignore has as a folder.
func (l *lanes) ignoreFurnished(ctx context.Context) error {
	w := l.o.Worktree
	if len(w.Copy)+len(w.Link) == 0 {
		return nil
	}
	var list bytes.Buffer
	if users, err := os.ReadFile(l.usersExcludes(ctx)); err == nil {
		list.Write(users)
		list.WriteByte('\n')
	}
	for _, glob := range slices.Concat(w.Copy, w.Link) {
		names, err := doublestar.Glob(os.DirFS(l.home.Root()), path.Clean(glob), doublestar.WithNoFollow())
		if err != nil {
			return err
		}
		for _, name := range names {
			if name != "." && !strings.Contains(name, "\n") {
				list.WriteString("/" + pattern(name) + "\n")
			}
		}
	}
	l.excludes = filepath.Join(l.o.Dir, "runs", l.o.Run, excludesName)
	return os.WriteFile(l.excludes, list.Bytes(), 0o600)
}

// usersExcludes is the file of patterns that the user's git ignores in every repository (gitignore(5)).
func (l *lanes) usersExcludes(ctx context.Context) string {
	out, err := l.home.Run(ctx, reanchor.Call{Args: []string{"config", "--type=path", "--get", "core.excludesFile"}})
	if err == nil {
		return strings.TrimSuffix(string(out), "\n")
	}
	home := ""
	for _, variable := range l.o.Env {
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
