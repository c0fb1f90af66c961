package worker

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/collect"
	"relay/orchestrator/engine"
	"relay/reanchor/git"
	"relay/reanchor/git/repotest"
	"relay/runners"
	"relay/runners/command"
	"relay/runners/process"
)

func TestMain(m *testing.M) { repotest.Main(m) }

// lab is a repository with one commit and the engine that works in it.
type lab struct {
	*repotest.Repo
	c *userEngine
}

// noLedger is a ledger nobody touches.
type noLedger struct{}

func (noLedger) Append(...attempts.Event) error { return nil }

func (noLedger) Restore() ([]string, error) { return nil, nil }

// newLab makes a repository that ignores *.log and cache/, with an agent that is a shell script.
func newLab(t *testing.T, agent string) *lab {
	t.Helper()
	l := &lab{Repo: &repotest.Repo{T: t, Root: filepath.Join(t.TempDir(), "work")}}
	l.Write("seed.txt", "seed\n")
	l.Write("tests/a.txt", "a\n")
	l.Write(".gitignore", "*.log\ncache/\n.env\n")
	l.Write(".agents-os/relay/.gitignore", "*\n")
	l.Git("init", "-q", "-b", "main", "--template=")
	l.Git("config", "user.name", "Ada")
	l.Git("config", "user.email", "ada@example.com")
	l.Git("config", "maintenance.auto", "false") // some gits leave it running behind an agent's own commit
	l.Git("add", "-A")
	l.Git("commit", "-q", "-m", "Begin")
	l.open(agent)
	return l
}

// open opens the engine anew, as another run does.
func (l *lab) open(agent string) {
	l.Helper()
	repo, err := git.Open(l.Context(), l.Root)
	if err != nil {
		l.Fatal(err)
	}
	plan := &epic.Epic{ID: "20260101-lab", Title: "lab"}
	graph, err := epic.NewGraph(plan)
	if err != nil {
		l.Fatal(err)
	}
	o := &engine.LocalOptions{
		Options: engine.Options{
			Epic: plan, Root: l.Root, Dir: filepath.Join(l.Root, ".agents-os", "relay"), BackupDir: filepath.Join(l.TempDir(), "vault"),
			Run: "20260101T220000Z-0000", Isolation: engine.IsolationNone, Jobs: 1, Env: os.Environ(), Plan: []byte("plan"),
			Limits: engine.Limits{
				RunLimits: attempts.RunLimits{MaxAttempts: 3}, Wall: 10 * time.Minute, StopGrace: time.Second, Check: 10 * time.Minute,
			},
		},
		Graph: graph, Repo: repo, Supervisor: process.NewLocal(),
		NewRunner: func(name string, sup process.Supervisor) (runners.Runner, error) {
			return command.New(sup, command.Options{Name: name, Argv: []string{"sh", "-c", agent}, Exit: true}), nil
		},
	}
	engine, err := Open(l.Context(), o, make(chan engine.Event, 100))
	if err != nil {
		l.Fatal(err)
	}
	engine.SetLedger(noLedger{}, nil)
	c := engine.user
	l.c = c
	l.Write(".agents-os/relay/epic.yml", "plan")
	l.Write(".agents-os/relay/runs/"+o.Run+"/epic.yml", "plan")
	if err := os.MkdirAll(l.Path(".agents-os/relay/runs/"+o.Run), 0o755); err != nil {
		l.Fatal(err)
	}
}

// begin is what a run does before its first attempt.
func (l *lab) begin() *lab {
	l.Helper()
	if err := l.c.Begin(l.Context()); err != nil {
		l.Fatal(err)
	}
	return l
}

// try carries out an attempt at a task.
func (l *lab) try(task epic.Task, change func(*engine.Attempt)) collect.Account {
	l.Helper()
	if task.ID == "" {
		task.ID, task.Title = "T1", "One"
	}
	a := engine.Attempt{Run: l.c.run.o.Run, Task: task, Number: 1, Runner: "sh"}
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
	at := l.c.attempt(a)
	if err := at.carryOut(l.Context()); err != nil {
		l.Fatal(err)
	}
	return at.f
}
