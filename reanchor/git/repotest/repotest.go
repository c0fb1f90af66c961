// Package repotest makes repositories for tests.
package repotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"relay/reanchor/git"
)

// Repo is a repository in a folder that goes with the test.
type Repo struct {
	*testing.T
	Root string // the checkout
}

// New makes one with one commit; options are for git init.
func New(t *testing.T, options ...string) *Repo {
	t.Helper()
	l := &Repo{T: t, Root: filepath.Join(t.TempDir(), "work")}
	l.Write("seed.txt", "seed\n")
	l.Write(".gitignore", "*.log\n.agents-os/\n")
	l.Git(append([]string{"init", "-q", "-b", "main", "--template="}, options...)...)
	l.Git("config", "user.name", "Ada")
	l.Git("config", "user.email", "ada@example.com")
	l.Git("config", "maintenance.auto", "false") // some gits leave it running behind an agent's own commit
	l.Git("add", "-A")
	l.Git("commit", "-q", "-m", "Begin")
	return l
}

// Path returns where a file of the checkout is, named with slashes.
func (l *Repo) Path(name string) string { return filepath.Join(l.Root, filepath.FromSlash(name)) }

// Write writes a file, and makes its folder. Nothing is started beside while the file is written: that would hold it open
// for writing for a moment, and what is cannot be executed.
func (l *Repo) Write(name, text string) {
	l.Helper()
	if err := os.MkdirAll(filepath.Dir(l.Path(name)), 0o755); err != nil {
		l.Fatal(err)
	}
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(l.Path(name), []byte(text), 0o644); err != nil {
		l.Fatal(err)
	}
}

// Wants compares files with what they should have in them; "-" is a file that is not there.
func (l *Repo) Wants(files map[string]string) {
	l.Helper()
	for name, want := range files {
		got, err := os.ReadFile(l.Path(name))
		if err != nil {
			got = []byte("-")
		}
		if string(got) != want {
			l.Errorf("%q has %q, want %q", name, got, want)
		}
	}
}

// Sh runs a script in the checkout, as an agent would.
func (l *Repo) Sh(script string) string {
	l.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = l.Root
	out, err := cmd.CombinedOutput()
	if err != nil {
		l.Fatalf("%s: %v\n%s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

// Git runs git in the checkout and returns what it prints.
func (l *Repo) Git(args ...string) string {
	l.Helper()
	out, err := git.Run(l.Context(), git.Call{Dir: l.Root, Args: args, Writes: true})
	if err != nil {
		l.Fatalf("git %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// Open opens it.
func (l *Repo) Open() *git.Repo {
	l.Helper()
	repo, err := git.Open(l.Context(), l.Root)
	if err != nil {
		l.Fatal(err)
	}
	return repo
}

// There reports whether a path is there.
func (l *Repo) There(path string) bool {
	_, err := os.Lstat(filepath.Join(l.Root, path))
	return err == nil
}

// Want fails the test unless a step gave no error.
func Want[V any](t *testing.T) func(V, error) V {
	t.Helper()
	return func(v V, err error) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// Landed is the integration branch of NewLanded.
const Landed = "relay/20260101-lab"

// NewLanded returns a repository in whose integration branch two tasks have landed: new.txt and deep/er.txt are there,
// and seed.txt has another line.
func NewLanded(t *testing.T) *Repo {
	t.Helper()
	l := New(t)
	l.Write("tests/a.txt", "a\n")
	l.Write(".agents-os/relay/.gitignore", "*\n")
	l.Git("add", "-A")
	l.Git("commit", "-q", "-m", "Tests")
	l.Sh(`git switch -q -c ` + Landed + `
		echo new > new.txt; mkdir deep; echo er > deep/er.txt; git add -A; git commit -q -m 'T1: One'
		echo line >> seed.txt; git commit -q -am 'T2: Two'
		git update-ref refs/relay-tip/20260101-lab HEAD
		git switch -q main`)
	return l
}
