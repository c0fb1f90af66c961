package orchestrator

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/reanchor"
	"relay/runners"
	"relay/runners/process"
)

// lab is a repository with one commit and the engine that works in it.
type lab struct {
	*testing.T
	root string
	c    *checkout
}

// noLedger is a ledger nobody touches.
type noLedger struct{}

func (noLedger) Append(...attempts.Event) error { return nil }

func (noLedger) Restore() ([]string, error) { return nil, nil }

// newLab makes a repository that ignores *.log and cache/, with an agent that is a shell script.
func newLab(t *testing.T, agent string) *lab {
	t.Helper()
	l := &lab{T: t, root: filepath.Join(t.TempDir(), "work")}
	l.write("seed.txt", "seed\n")
	l.write("tests/a.txt", "a\n")
	l.write(".gitignore", "*.log\ncache/\n.env\n")
	l.write(".agents-os/relay/.gitignore", "*\n")
	l.git("init", "-q", "-b", "main", "--template=")
	l.git("config", "user.name", "Ada")
	l.git("config", "user.email", "ada@example.com")
	l.git("add", "-A")
	l.git("commit", "-q", "-m", "Begin")
	l.open(agent)
	return l
}

// open opens the engine anew, as another run does.
func (l *lab) open(agent string) {
	l.Helper()
	repo, err := reanchor.OpenGit(l.Context(), l.root)
	if err != nil {
		l.Fatal(err)
	}
	o := &Options{
		Epic: &epic.Epic{ID: "20260101-lab", Title: "lab"}, Root: l.root, Repo: repo, Dir: filepath.Join(l.root, ".agents-os", "relay"), Vault: filepath.Join(l.TempDir(), "vault"),
		Run: "20260101T220000Z-0000", Isolation: IsolationNone, Jobs: 1, Env: os.Environ(), Supervisor: process.NewLocal(), Plan: []byte("plan"),
		Limits: Limits{MaxAttempts: 3, Wall: time.Minute, StopGrace: time.Second, Check: time.Minute},
		NewRunner: func(name string, sup process.Supervisor) (runners.Runner, error) {
			return runners.NewCommand(sup, runners.CommandOptions{Name: name, Argv: []string{"sh", "-c", agent}, Exit: true}), nil
		},
	}
	engine, err := openCheckout(l.Context(), o, make(chan Heard, 100))
	if err != nil {
		l.Fatal(err)
	}
	c, ok := engine.(*checkout)
	if !ok {
		l.Fatalf("the engine is a %T", engine)
	}
	c.remembers(noLedger{}, nil)
	l.c = c
	l.write(".agents-os/relay/epic.yml", "plan")
	if err := os.MkdirAll(filepath.Dir(c.untrackedFile(o.Run)), 0o755); err != nil {
		l.Fatal(err)
	}
}

// begin is what a run does before its first attempt.
func (l *lab) begin() *lab {
	l.Helper()
	if err := l.c.begin(l.Context()); err != nil {
		l.Fatal(err)
	}
	return l
}

// try carries out an attempt at a task.
func (l *lab) try(task epic.Task, change func(*Assignment)) Finding {
	l.Helper()
	if task.ID == "" {
		task.ID, task.Title = "T1", "One"
	}
	a := Assignment{Run: l.c.o.Run, Task: task, Attempt: 1, Runner: "sh"}
	if change != nil {
		change(&a)
	}
	if a.Base == "" {
		base, err := l.c.Prepare(l.Context(), a)
		if err != nil {
			l.Fatal(err)
		}
		a.Base = base
	}
	f, err := l.c.Attempt(l.Context(), a)
	if err != nil {
		l.Fatal(err)
	}
	return f
}

func (l *lab) path(name string) string { return filepath.Join(l.root, filepath.FromSlash(name)) }

func (l *lab) write(name, text string) {
	l.Helper()
	if err := os.MkdirAll(filepath.Dir(l.path(name)), 0o755); err != nil {
		l.Fatal(err)
	}
	if err := os.WriteFile(l.path(name), []byte(text), 0o644); err != nil {
		l.Fatal(err)
	}
}

// wants compares files with what they should have in them; "-" is a file that is not there.
func (l *lab) wants(files map[string]string) {
	l.Helper()
	for name, want := range files {
		got, err := os.ReadFile(l.path(name))
		if err != nil {
			got = []byte("-")
		}
		if string(got) != want {
			l.Errorf("%q has %q, want %q", name, got, want)
		}
	}
}

// sh runs a script in the checkout, as an agent would.
func (l *lab) sh(script string) string {
	l.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = l.root
	out, err := cmd.CombinedOutput()
	if err != nil {
		l.Fatalf("%s: %v\n%s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (l *lab) git(args ...string) string {
	l.Helper()
	out, err := reanchor.Run(l.Context(), reanchor.Call{Dir: l.root, Args: args, Writes: true})
	if err != nil {
		l.Fatalf("git %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// leftovers commits what is there and returns the commit.
func (l *lab) leftovers() string {
	l.Helper()
	head, err := l.c.tree.commitLeftovers(l.Context(), "T1: One\n")
	if err != nil {
		l.Fatal(err)
	}
	return head
}

func (l *lab) restore(commit string) {
	l.Helper()
	if err := l.c.tree.restore(context.WithoutCancel(l.Context()), commit); err != nil {
		l.Fatal(err)
	}
}
