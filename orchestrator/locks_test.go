package orchestrator

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/bench"
	"relay/orchestrator/engine"
	"relay/orchestrator/relayfiles"
	"relay/reanchor/git"
	"relay/reanchor/git/repotest"
	"relay/runners/process"
)

// lockLab is a repository with one commit, and what an engine that works in it is told.
type lockLab struct {
	*repotest.Repo
	o *engine.LocalOptions
}

func newLockLab(t *testing.T) *lockLab {
	t.Helper()
	l := &lockLab{Repo: &repotest.Repo{T: t, Root: filepath.Join(t.TempDir(), "work")}}
	l.Write("seed.txt", "seed\n")
	l.Write(".agents-os/relay/.gitignore", "*\n")
	l.Git("init", "-q", "-b", "main", "--template=")
	l.Git("add", "-A")
	l.Git("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "-q", "-m", "Begin")
	l.o = &engine.LocalOptions{
		Options: engine.Options{
			Epic: &epic.Epic{ID: "20260101-lab", Title: "lab"}, Root: l.Root, Dir: filepath.Join(l.Root, ".agents-os", "relay"),
			Run: "20260101T220000Z-0000", Isolation: engine.IsolationNone, Jobs: 1, Env: os.Environ(),
		},
		Repo: l.Open(), Supervisor: process.NewLocal(),
	}
	return l
}

func oneTask(t *testing.T) (*epic.Epic, *epic.Graph) {
	t.Helper()
	e := &epic.Epic{ID: "20260101-one", Tasks: []epic.Task{{ID: "A"}}}
	g, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	return e, g
}

// An agent that removes or changes the lock of the checkout does not let another run in; one that is in by then ends
// this one.
func TestOccupancyIsKept(t *testing.T) {
	t.Parallel()
	l := newLockLab(t)
	mine, err := relayfiles.AcquireRun(t.Context(), l.o)
	if err != nil {
		t.Fatal(err)
	}
	path := ".git/relay-checkout.lock"
	for name, harm := range map[string]string{
		"removed": `rm ` + path, "changed": `echo x >> ` + path, "a folder": `rm ` + path + `; mkdir -p ` + path + `/x`, "all of it": `cp -r .git copy; rm -rf .git; mv copy .git`,
	} {
		l.Sh(harm)
		if err := mine.Keep(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if who, err := attempts.HeldBy(filepath.Join(l.Root, path)); err != nil || who == nil || who.Epic != l.o.Epic.ID || who.Dir != ".agents-os/relay" {
			t.Errorf("%s: held by %v, %v", name, who, err)
		}
	}
	l.Sh(`rm ` + path)
	other := *l.o
	other.Run, other.Dir, other.Epic = "20260101T220000Z-0001", filepath.Join(l.Root, "elsewhere"), &epic.Epic{ID: "20260101-other"}
	theirs, err := relayfiles.AcquireRun(t.Context(), &other)
	if err != nil {
		t.Fatal(err)
	}
	var inUse *relayfiles.InUseError
	if err := mine.Keep(t.Context()); !errors.As(err, &inUse) {
		t.Errorf("somebody else is in: got %v", err)
	}
	if err := errors.Join(theirs.Release(), mine.Release()); err != nil {
		t.Error(err)
	}
}

// A checkout in which a run works is occupied until that is over.
func TestUnoccupied(t *testing.T) {
	t.Parallel()
	l := newLockLab(t)
	run, err := relayfiles.AcquireRun(t.Context(), l.o)
	if err != nil {
		t.Fatal(err)
	}
	var inUse *relayfiles.InUseError
	if err := relayfiles.Unoccupied(l.Open()); !errors.As(err, &inUse) || inUse.Held.Holder.Epic != l.o.Epic.ID {
		t.Errorf("got %v", err)
	}
	o, ledger := *l.o, &attempts.Ledger{}
	_, o.Graph = oneTask(t)
	o.Isolation = engine.IsolationShared
	if err := refuses(t, runOptions(o), ledger); !errors.As(err, &inUse) {
		t.Errorf("a run beside it: got %v", err)
	}
	if err := errors.Join(run.Release(), relayfiles.Unoccupied(l.Open()),
		refuses(t, runOptions(o), ledger)); err != nil {
		t.Errorf("when the run is over: %v", err)
	}
}

// Who leaves the checkout alone needs no lock of it, but one of its epic: two runs of one id would use the same branches
// and refs, in whatever checkout of the repository they are.
func TestEpicIsHeld(t *testing.T) {
	t.Parallel()
	l := newLockLab(t)
	l.Sh("git worktree add -q ../beside")
	o := *l.o
	o.Isolation = engine.IsolationWorktree
	mine, err := relayfiles.AcquireRun(t.Context(), &o)
	if err != nil {
		t.Fatal(err)
	}
	lock := ".git/relay-epic-20260101-lab.lock"
	if locks, _ := filepath.Glob(filepath.Join(l.Root, ".git", "relay-*")); len(locks) != 1 || locks[0] != filepath.Join(l.Root, lock) {
		t.Errorf("the locks are %v", locks)
	}
	beside := filepath.Join(filepath.Dir(l.Root), "beside")
	other := o
	other.Root, other.Dir = beside, filepath.Join(beside, ".agents-os", "relay")
	if other.Repo, err = git.Open(t.Context(), beside); err != nil {
		t.Fatal(err)
	}
	_, other.Graph = oneTask(t)
	for name, harm := range map[string]string{
		"as it was": "true", "removed": "rm " + lock, "changed": "echo x >> " + lock, "a folder": "rm " + lock + "; mkdir -p " + lock + "/x", "all of it": "cp -r .git copy; rm -rf .git; mv copy .git",
	} {
		l.Sh(harm)
		if err := mine.Keep(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_, err := relayfiles.AcquireRun(t.Context(), &other)
		for _, err := range []error{err, refuses(t, runOptions(other), &attempts.Ledger{})} {
			var inUse *relayfiles.InUseError
			if !errors.As(err, &inUse) || !inUse.Epic || inUse.Held.Holder.Dir != o.Dir {
				t.Errorf("%s: got %v", name, err)
			}
		}
	}
	var inUse *relayfiles.InUseError
	if _, err := relayfiles.AcquireRun(t.Context(), &o); err == nil || errors.As(err, &inUse) {
		t.Errorf("another run of the same ledger: got %v", err)
	}
	l.Sh("mv .git away")
	if err := mine.Keep(t.Context()); err != nil {
		t.Errorf("without .git: %v", err)
	}
	l.Sh("mv away .git")
	if err := errors.Join(mine.Keep(t.Context()), mine.Release()); err != nil {
		t.Error(err)
	}
	theirs, err := relayfiles.AcquireRun(t.Context(), &other)
	if err != nil {
		t.Fatal(err)
	}
	if err := mine.Keep(t.Context()); !errors.As(err, &inUse) {
		t.Errorf("somebody else has it: got %v", err)
	}
	inUse.Held.Holder.PID = 0
	if want := "the epic is worked in " + other.Dir + ": held by another process"; inUse.Error() != want {
		t.Errorf("got %q, want %q", inUse.Error(), want)
	}
	if err := theirs.Release(); err != nil {
		t.Error(err)
	}
	if locks, _ := filepath.Glob(filepath.Join(l.Root, ".git", "relay-*")); len(locks) > 0 {
		t.Errorf("locks stay: %v", locks)
	}
}

// runOptions are those of a run with such an engine.
func runOptions(o engine.LocalOptions) Options {
	return Options{
		LocalOptions: engine.LocalOptions{
			Options: engine.Options{
				Epic:      o.Epic,
				Root:      o.Root,
				Dir:       o.Dir,
				Run:       o.Run,
				Isolation: o.Isolation,
				Env:       o.Env,
			},
			Graph:      o.Graph,
			Repo:       o.Repo,
			Supervisor: o.Supervisor,
		},
	}
}

// refuses returns why such a run would not begin.
func refuses(t *testing.T, o Options, l *attempts.Ledger) error {
	t.Helper()
	open, err := o.EngineFactory()
	if err != nil {
		t.Fatal(err)
	}
	return bench.RefusesEpic(t.Context(), open, &o.LocalOptions, l)
}
