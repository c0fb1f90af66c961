package process

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Many at once, some of which leave something behind.
func TestMany(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s Supervisor) {
		t.Helper()
		var workers sync.WaitGroup
		for w := range 8 {
			workers.Go(func() {
				for i := range 12 {
					code := (w + i) % 3
					cmd := shell(t, `sleep 1000 & (setsid sleep 1000 &); exit `+strconv.Itoa(code))
					p, err := s.Start(t.Context(), cmd)
					if err != nil {
						t.Error(err)
						return
					}
					if exit := p.Wait(); exit.Code != code || exit.Lost || exit.Stopped {
						t.Errorf("got %+v, want code %d", exit, code)
					}
					if left := marked(cmd.Mark); len(left) > 0 {
						t.Errorf("left behind: %v", left)
					}
				}
			})
		}
		workers.Wait()
	})
}

// A guardian that somebody has stopped does not hold up relay for ever. Not parallel, as TestGuardianKilled. It is roused
// so rarely that it stays stopped.
func TestGuardianHangs(t *testing.T) { //nolint:paralleltest // as TestGuardianKilled
	g := impatient(t, time.Hour)
	cmd := shell(t, stays)
	up := pipe(t, cmd, "up")
	p := start(t, g, cmd)
	h := hold(t, up)
	g.link.patience = 50 * time.Millisecond
	if err := unix.Kill(g.link.proc.Pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if p, err := g.Start(t.Context(), shell(t, "exit 0")); err == nil {
		t.Errorf("started %v", p)
	}
	if exit := p.Wait(); !exit.Lost {
		t.Errorf("got %+v", exit)
	}
	gone(t, h)
}

// Not parallel: it counts what this process holds.
func TestHoldsNothing(t *testing.T) { //nolint:paralleltest // it counts what this process holds
	use := func() {
		g := startGuardian(t)
		for _, s := range []Supervisor{g, NewLocal()} {
			run(t, s, shell(t, "sleep 1000 & exit 0"))
			ctx, cancel := context.WithCancel(t.Context())
			p, err := s.Start(ctx, shell(t, "sleep 1000"))
			if err != nil {
				t.Fatal(err)
			}
			cancel()
			p.Wait()
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
	use() // the runtime opens files of its own once
	files, routines := openFiles(t), runtime.NumGoroutine()
	const times = 3
	for range times {
		use()
	}
	// Each guardian's log is the test's, closed at its end.
	if got := openFiles(t) - times; got > files {
		t.Errorf("%d files open, %d before", got, files)
	}
	for limit := time.Now().Add(script); runtime.NumGoroutine() > routines; runtime.Gosched() {
		if time.Now().After(limit) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), routines)
		}
	}
	for _, m := range theProcTable().children() {
		if m.zombie {
			t.Errorf("never reaped: %+v", m)
		}
	}
}

func (k *procTable) children() []member {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.adopted()
}

func openFiles(t *testing.T) int {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}
