package provision

import (
	"path/filepath"
	"strings"
	"testing"

	"relay/orchestrator/engine"
	"relay/reanchor/git"
	"relay/reanchor/git/repotest"
)

func TestMain(m *testing.M) { repotest.Main(m) }

// Without a setting git has a place for what is ignored everywhere.
func TestUsersExcludes(t *testing.T) {
	t.Parallel()
	r := &repotest.Repo{T: t, Root: t.TempDir()}
	r.Git("init", "-q")
	home, err := git.Open(t.Context(), r.Root)
	if err != nil {
		t.Fatal(err)
	}
	for env, want := range map[string]string{"HOME=/h": "/h/.config/git/ignore", "XDG_CONFIG_HOME=/x HOME=/h": "/x/git/ignore", "HOME=/h XDG_CONFIG_HOME=": "/h/.config/git/ignore", "": ""} {
		if got := New(home, &engine.LocalOptions{Options: engine.Options{Env: strings.Fields(env)}}).usersExcludes(t.Context()); got != want {
			t.Errorf("%s: got %q, want %q", env, got, want)
		}
	}
}

// What dependencies name of the user's checkout is the slot's own in the copy, and what lies outside of it stays.
func TestPutShared(t *testing.T) {
	t.Parallel()
	l := repotest.New(t)
	l.Write(".gitignore", "node_modules/\n.venv/\ngo.work\n")
	l.Write("packages/core/index.js", "core\n")
	l.Git("add", "-A")
	l.Git("commit", "-qm", "workspace")
	l.Write("node_modules/dep/index.js", "dep\n")
	l.Write("node_modules/.bin/tool", "#!/bin/sh\nexec "+l.Root+"/node_modules/dep/tool "+l.Root+"-other\n")
	l.Write("packages/core/node_modules/own.js", "own\n")
	l.Write(".venv/bin/pytest", "#!"+l.Root+"/.venv/bin/python\n")
	l.Write(".venv/lib/site-packages/app.pth", l.Root+"\n")
	l.Write(".venv/lib/site-packages/text.py", "root = '"+l.Root+"'\n")
	l.Write("go.work", "use (\n\t./app\n\t../lib\n)\n")
	l.Sh("ln -s ../packages/core node_modules/core; ln -s \"$PWD/packages/core\" node_modules/absolute; touch -d '2001-01-01 00:00:00 UTC' node_modules/dep/index.js")
	shared, err := FindShared(t.Context(), l.Open(), []string{Auto}, false, Limits{Slots: 3, Bytes: 1 << 20, Free: 1 << 30})
	if got := strings.Join(shared.Names, " "); err != nil || got != ".venv go.work node_modules packages/core/node_modules" || shared.Files != 7 {
		t.Fatalf("shared are %q, %d files, %v", got, shared.Files, err)
	}
	slot := &repotest.Repo{T: t, Root: t.TempDir()}
	l.Git("worktree", "add", "-q", "--detach", slot.Root)
	o := &engine.LocalOptions{}
	o.Dir = l.Path(".agents-os/relay")
	o.Worktree.Share = shared.Names
	if why, err := New(l.Open(), o).Put(t.Context(), slot.Root); err != nil || why != "" {
		t.Fatal(why, err)
	}
	slot.Wants(map[string]string{
		"node_modules/dep/index.js": "dep\n", "packages/core/node_modules/own.js": "own\n",
		"node_modules/.bin/tool":          "#!/bin/sh\nexec " + slot.Root + "/node_modules/dep/tool " + l.Root + "-other\n",
		".venv/bin/pytest":                "#!" + slot.Root + "/.venv/bin/python\n",
		".venv/lib/site-packages/app.pth": slot.Root + "\n",
		".venv/lib/site-packages/text.py": "root = '" + l.Root + "'\n",
		"go.work":                         "use (\n\t./app\n\t" + filepath.Join(filepath.Dir(l.Root), "lib") + "\n)\n",
	})
	slot.Sh("echo broken > node_modules/core/index.js; echo mine > node_modules/dep/index.js")
	for _, link := range []string{"core", "absolute"} {
		slot.Wants(map[string]string{"node_modules/" + link + "/index.js": "broken\n"})
	}
	l.Wants(map[string]string{"packages/core/index.js": "core\n", "node_modules/dep/index.js": "dep\n"})
}

// Nothing is copied by itself that is large, or that set-up commands make.
func TestFindSharedHasLimits(t *testing.T) {
	t.Parallel()
	l := repotest.New(t)
	l.Write(".gitignore", "node_modules/\n")
	l.Write("package-lock.json", "{}")
	l.Git("add", "-A")
	l.Git("commit", "-qm", "app")
	l.Write("node_modules/large.js", strings.Repeat("x", 2000))
	for name, c := range map[string]struct {
		entries []string
		setUp   bool
		most    Limits
		names   string
		tooMuch string
	}{
		"it fits":           {[]string{Auto}, false, Limits{1, 2000, 20000}, "node_modules", ""},
		"it is made":        {[]string{Auto}, true, Limits{1, 2000, 20000}, "", ""},
		"two are too large": {[]string{Auto}, false, Limits{2, 2000, 80000}, "", "node_modules (less than 1 MiB in 1 file) is too much for 2 task checkouts: name it in relay.worktree.share, or the command that installs it in relay.worktree.setup"},
		"no room":           {[]string{Auto}, false, Limits{1, 2000, 19000}, "", "node_modules (less than 1 MiB in 1 file) is too much for 1 task checkout: name it in relay.worktree.share, or the command that installs it in relay.worktree.setup"},
		"it is named":       {[]string{"node_modules"}, true, Limits{9, 1, 1}, "node_modules", ""},
		"nothing":           {nil, false, Limits{9, 1 << 20, 1 << 30}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := FindShared(t.Context(), l.Open(), c.entries, c.setUp, c.most)
			if got := strings.Join(s.Names, " "); err != nil || got != c.names || s.TooMuch != c.tooMuch {
				t.Errorf("got %q, %q, %v", got, s.TooMuch, err)
			}
		})
	}
}
