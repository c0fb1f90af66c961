package provision

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"relay/orchestrator/engine"
	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/repotest"
)

// yard is a checkout with dependencies and a folder with slots of it.
type yard struct {
	*repotest.Repo
	dir string
}

func newYard(t *testing.T) *yard {
	t.Helper()
	y := &yard{Repo: repotest.New(t), dir: t.TempDir()}
	y.Sh(`mkdir -p node_modules/.bin .venv/bin packages/core/node_modules
		for f in a b c d e f; do mkdir -p node_modules/$f/lib; echo $f > node_modules/$f/index.js; echo $f > node_modules/$f/lib/main.js; done
		echo "exec $PWD/x" > node_modules/.bin/tool; chmod 755 node_modules/.bin/tool; ln -s ../a/index.js node_modules/.bin/a
		ln -s "$PWD/seed.txt" node_modules/seed; echo "#!$PWD/.venv/bin/python" > .venv/bin/pip; echo own > packages/core/node_modules/own.js
		mkdir node_modules/empty; chmod 444 node_modules/b/index.js; echo KEY=1 > .env`)
	y.settle()
	return y
}

// settle waits until a change of any file gives it another time.
func (y *yard) settle() {
	for began := time.Now(); time.Since(began) <= 2*tick; {
		y.Sh("true")
	}
}

func (y *yard) files() *Files {
	o := &engine.LocalOptions{}
	o.Dir = y.Path(".agents-os/relay")
	o.Worktree.Copy, o.Worktree.Share = []string{".env"}, []string{"node_modules", ".venv", "packages/core/node_modules"}
	return New(y.Open(), o)
}

// put empties the slot and has the files put there, as for a new attempt.
func (y *yard) put(f *Files) string {
	y.Helper()
	slot := filepath.Join(y.dir, "1")
	f.Copies.SetAside(slot, filepath.Join(y.dir, ".relay", "copies-1"))
	if err := gitcmd.RemoveTree(slot); err != nil {
		y.Fatal(err)
	}
	if err := os.Mkdir(slot, 0o755); err != nil {
		y.Fatal(err)
	}
	if why, err := f.Put(y.Context(), slot); err != nil || why != "" {
		y.Fatal(why, err)
	}
	return slot
}

// list describes all entries; inode says whether each is the same as before, else what is in it.
func (y *yard) list(root, format string) string {
	y.Helper()
	return y.Sh("cd '" + root + "'; find . -mindepth 1 " + format + " | LC_ALL=C sort")
}

// content are type, mode, links, sizes and bytes.
const content = `\( -type f -printf '%p f %m %s ' -exec sh -c 'cksum < "$0"' {} \; -o -printf '%p %y %m %l\n' \)`

// A copy that served an attempt becomes what a new copy is, whatever the attempt and the user have done.
func TestCopiesServeAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ agent, user string }{
		"nothing":            {"", ""},
		"content":            {"echo more >> node_modules/a/index.js; echo x > .venv/bin/pip; echo K > .env", ""},
		"same time and size": {"touch -r node_modules/a/index.js ../t; echo z > node_modules/a/index.js; touch -r ../t node_modules/a/index.js", ""},
		"modes":              {"chmod 755 node_modules/a/index.js; chmod 600 node_modules/.bin/tool; chmod 700 node_modules/b; chmod 0 node_modules/c; chmod g+s node_modules", ""},
		"additions":          {"mkdir -p node_modules/.cache/x node_modules/empty/y; echo x > node_modules/.cache/x/y; echo x > node_modules/a/lib/new; mkfifo node_modules/pipe", ""},
		"deletions":          {"rm -r node_modules/a node_modules/b/lib node_modules/.bin/a; rm node_modules/c/index.js; rmdir node_modules/empty", ""},
		"links":              {"rm node_modules/a/index.js; ln -s ../b/index.js node_modules/a/index.js; rm -r node_modules/b; ln -s a node_modules/b; ln -sf tool node_modules/.bin/a", ""},
		"hard links":         {"ln -f node_modules/b/index.js node_modules/a/index.js; ln node_modules/c/index.js node_modules/c/other.js", ""},
		"renames":            {"mv node_modules/a node_modules/z; mv node_modules/b node_modules/a; mv node_modules/c/index.js node_modules/c/lib/", ""},
		"types":              {"rm -r node_modules/a; echo x > node_modules/a; rm node_modules/b/index.js; mkdir node_modules/b/index.js; echo x > node_modules/b/index.js/x", ""},
		"a repository":       {"git init -q node_modules/a", ""},
		"all gone":           {"rm -r node_modules .venv packages", ""},
		"another in place":   {"cp -a node_modules x; rm -r node_modules; mv x node_modules; echo z > node_modules/a/index.js", ""},
		"a link in place":    {"rm -r node_modules; ln -s \"$USERS/node_modules\" node_modules", ""},
		"a link above":       {"rm -r packages; ln -s \"$USERS/packages\" packages", ""},
		"a link for all":     {"d=$PWD; cd ..; rm -r \"$d\"; ln -s \"$USERS\" \"$d\"", ""},
		"the user's content": {"", "echo more >> node_modules/a/index.js; echo x > .venv/bin/pip; echo \"#!$PWD/x\" > node_modules/.bin/tool"},
		"the user's time":    {"", "touch -r node_modules/a/index.js ../t; echo z > node_modules/a/index.js; touch -r ../t node_modules/a/index.js"},
		"the user's modes":   {"", "chmod 755 node_modules/a/index.js; chmod 700 node_modules/b"},
		"the user's entries": {"", "rm -r node_modules/a node_modules/b/index.js; mkdir node_modules/new; echo x > node_modules/new/x; ln -sf tool node_modules/.bin/a"},
		"the user's types":   {"", "rm -r node_modules/a; echo x > node_modules/a; rm node_modules/b/index.js; mkdir node_modules/b/index.js; rm -r .venv; ln -s node_modules .venv"},
		"the user's removal": {"", "rm -r node_modules packages"},
		"both":               {"echo x > node_modules/a/index.js; rm -r node_modules/b; echo x > node_modules/new", "echo y > node_modules/a/index.js; rm -r node_modules/c; mkdir node_modules/new"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newYard(t)
			f := y.files()
			y.put(f)
			slot := y.put(f)
			y.Sh(c.user)
			before := y.list(y.Root, "-path ./.git -prune -o "+content)
			y.Sh("export USERS=\"$PWD\"; cd '" + slot + "'; " + c.agent)
			got := y.list(y.put(f), content)
			if want := y.list(y.put(y.files()), content); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if after := y.list(y.Root, "-path ./.git -prune -o "+content); after != before {
				t.Errorf("the user's checkout was\n%s\nand is\n%s", before, after)
			}
		})
	}
}

// Entries that have not changed stay, also beside those that have.
func TestUnchangedCopiesStay(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	f := y.files()
	inodes := func(slot string) string {
		return y.list(slot, `-path ./packages -o -path ./packages/core -o -path ./.env -o -printf '%p %i\n'`)
	}
	first := inodes(y.put(f))
	if again := inodes(y.put(f)); again != first {
		t.Errorf("got\n%s\nwant\n%s", again, first)
	}
	y.Sh("cd '" + filepath.Join(y.dir, "1") + "'; echo x > node_modules/a/index.js; echo x > node_modules/new")
	f.Copies.SetAside(filepath.Join(y.dir, "1"), filepath.Join(y.dir, ".relay", "copies-1")) // when the attempt ends
	second := inodes(y.put(f))
	var changed []string
	for line := range strings.Lines(second) {
		if !strings.Contains(first, line) {
			changed = append(changed, strings.Fields(line)[0])
		}
	}
	if strings.Join(changed, " ") != "./node_modules/a/index.js" {
		t.Errorf("made again: %s", changed)
	}
	if left, _ := filepath.Glob(filepath.Join(y.dir, ".relay", "*")); len(left) > 0 {
		t.Errorf("left: %s", left)
	}
}
