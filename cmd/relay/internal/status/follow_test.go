package status

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/orchestrator/view"
	"relay/orchestrator/view/viewtest"
)

const firstRun = "20261125T220000Z-7c1e"

// longNight returns the project of a night with a long log, whose run is on, and the night's end.
func longNight(t *testing.T) (*project.Project, attempts.Options, *attempts.Store, time.Time) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	night, root := viewtest.Of(t, 2400), t.TempDir()
	for _, dir := range []string{".git/objects", ".git/refs", ".agents-os/relay"} {
		must(os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	text, err := night.Epic.Encode()
	must(err)
	for name, text := range map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
		".agents-os/relay/epic.yml": string(text),
	} {
		must(os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	var at atomic.Pointer[time.Time] // a snapshot is written meanwhile
	at.Store(new(time.Time))
	o := attempts.Options{
		Dir: filepath.Join(root, ".agents-os", "relay"), Epic: night.Epic, Graph: night.Graph, Run: firstRun, Relay: project.RelayVersion(),
		Fresh: &attempts.Settings{MaxAttemptsPerTask: 3}, Now: func() time.Time { return *at.Load() },
	}
	store, err := attempts.Open(o)
	must(err)
	t.Cleanup(func() { store.Close() })
	for i := range night.Events {
		at.Store(&night.Events[i].At)
		must(store.AppendLater(night.Events[i]))
	}
	must(store.Flush())
	if store.Seq() <= longLog {
		t.Fatalf("%d events are not a long log", store.Seq())
	}
	p, err := project.Locate(t.Context(), project.Session{
		Dir: root, Environ: []string{"HOME=" + root, "PATH=" + os.Getenv("PATH")}, Now: o.Now, Warn: func(text string) { t.Log(text) },
	}, nil)
	must(err)
	return p, o, store, night.Now
}

// A viewer of a long log begins with the ledger, and reads the log then: it has the same night after that as one that reads all at once,
// also when the run crashes between. One of an older night reads all at once.
func TestFollowLongLog(t *testing.T) {
	t.Parallel()
	p, o, store, now := longNight(t)
	follow := func(run string) *Follower {
		t.Helper()
		f, err := Follow(t.Context(), p, run, false)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	next := func(f *Follower, note string) *view.Night {
		t.Helper()
		if _, changed, err := f.Next(t.Context()); err != nil || !changed || f.Last != store.Seq() {
			t.Errorf("%s: changed %t up to %d of %d: %v", note, changed, f.Last, store.Seq(), err)
		}
		return f.Model.Night(now)
	}
	whole := func(f *Follower) *view.Night {
		t.Helper()
		_, v, _, err := p.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b, err := Builder(p, f.Plan, v, f.run)
		if err != nil {
			t.Fatal(err)
		}
		return b.Night(now)
	}
	f := follow("")
	first, want := f.Model.Night(now), whole(f)
	if f.Last != 0 || !reflect.DeepEqual(first.Counts, want.Counts) || !reflect.DeepEqual(first.Done, want.Done) {
		t.Errorf("the first picture goes up to event %d and counts %v, want %v", f.Last, first.Counts, want.Counts)
	}
	if night := next(f, "the log"); !reflect.DeepEqual(night, whole(f)) {
		t.Error("after the log it is another night")
	}
	f = follow("")
	f.Model.Night(now)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if night := next(f, "a crash"); f.Held() || night.Run.State != view.Killed || !reflect.DeepEqual(night, whole(f)) {
		t.Errorf("after a crash it is another night, %s", night.Run.State)
	}
	if f = follow(""); f.Last != store.Seq() || !reflect.DeepEqual(f.Model.Night(now), whole(f)) {
		t.Errorf("a night that crashed before is read up to %d", f.Last)
	}

	o.Run = "20261126T220000Z-7c1e"
	store, err := attempts.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.Append(attempts.Event{Type: attempts.TypeRunStarted, RunStarted: &attempts.RunStarted{PID: 43, Jobs: 1}}); err != nil {
		t.Fatal(err)
	}
	if f = follow(firstRun); !f.Old() || f.Last != store.Seq() || f.Model.Night(now).Run.ID != firstRun {
		t.Errorf("the older night is %s up to event %d", f.Model.Night(now).Run.ID, f.Last)
	}
}

// Reading a long log bounds the memory of a process that only shows the night, and not that of a run.
func TestFollowMemory(t *testing.T) { //nolint:paralleltest // it sets limits of the process
	p, _, _, _ := longNight(t)
	const growth = 77
	defer debug.SetGCPercent(debug.SetGCPercent(growth))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	for viewer, want := range map[bool]int{false: growth, true: heapGrowth} {
		debug.SetGCPercent(growth)
		f, err := Follow(t.Context(), p, "", viewer)
		if err != nil {
			t.Fatal(err)
		}
		limit := debug.SetMemoryLimit(readLimit + 1)
		if _, _, err := f.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, stays := debug.SetGCPercent(growth), debug.SetMemoryLimit(limit) == readLimit+1; got != want || stays == viewer {
			t.Errorf("viewer %t: the heap may grow by %d per cent, want %d; its limit stays: %t", viewer, got, want, stays)
		}
	}
}
