package attempts

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
)

// nightOf fills the ledger with what a night over n tasks leaves: every second task fails once before it succeeds.
func nightOf(tb testing.TB, bb *bench, s *Store) {
	tb.Helper()
	must(tb, s.Append(Event{Type: TypeRunStarted, RunStarted: &RunStarted{PID: 42, Jobs: 2}}))
	for i, t := range bb.e.Tasks {
		n := 1
		if i%2 == 0 {
			must(tb, s.Append(started(t.ID, n), failedAtLength(t.ID, n)))
			n++
		}
		must(tb, s.Append(started(t.ID, n), succeeded(t.ID, n)))
	}
}

func failedAtLength(task string, n int) Event {
	e := failed(task, n, "FAIL TestCreateUser (0.03s)\n    user_test.go:31: got 500, want 201")
	e.Ended.Receipt.Suggestion = "Run the migration of " + task + " first, then create the index."
	e.Ended.Receipt.FilesChanged = []string{"app/models/user.rb", "db/migrate/2026_create_users.rb"}
	e.Ended.Receipt.Checks = []CheckRun{{Name: "go test ./...", ExitCode: 1, Seconds: 3.2, Log: "runs/x/" + task + "/1/checks/1.log", Tail: "--- FAIL: TestCreateUser (0.03s)\n    user_test.go:31: got 500, want 201\nFAIL\nexit status 1", Phase: "task"}}
	return e
}

func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			bb := newBench(b, n)
			s := bb.open(b, run1)
			nightOf(b, bb, s)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				must(b, s.Append(started(fmt.Sprintf("T%d", i%n+1), 9)))
			}
			b.StopTimer()
			must(b, s.Close())
		})
	}
}

func BenchmarkAppendParallel(b *testing.B) {
	bb := newBench(b, 1000)
	s := bb.open(b, run1)
	b.SetParallelism(8)
	var i atomic.Int64
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			must(b, s.Append(started(fmt.Sprintf("T%d", i.Add(1)%1000+1), 9)))
		}
	})
	b.StopTimer()
	must(b, s.Close())
}

func BenchmarkSnapshot(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			bb := newBench(b, n)
			s := bb.open(b, run1)
			nightOf(b, bb, s)
			b.ResetTimer()
			for range b.N {
				s.ledger.upTo = 0
				must(b, s.Flush())
			}
			b.StopTimer()
			must(b, s.Close())
			info, err := os.Stat(filepath.Join(bb.dir, LedgerFile))
			must(b, err)
			b.ReportMetric(float64(info.Size()), "file-bytes")
		})
	}
}

func BenchmarkRender10000(b *testing.B) {
	bb := newBench(b, 10000)
	s := bb.open(b, run1)
	nightOf(b, bb, s)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		must(b, s.now.fold.render(io.Discard))
	}
	b.StopTimer()
	must(b, s.Close())
}

func BenchmarkRead10000(b *testing.B) {
	bb := newBench(b, 10000)
	s := bb.open(b, run1)
	nightOf(b, bb, s)
	must(b, s.Close())
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		bb.read(b)
	}
	b.ReportMetric(float64(len(bb.e.Tasks)), "tasks")
}

func BenchmarkOpenClose10000(b *testing.B) {
	bb := newBench(b, 10000)
	s := bb.open(b, run1)
	nightOf(b, bb, s)
	must(b, s.Close())
	b.ResetTimer()
	for range b.N {
		must(b, bb.open(b, "").Close())
	}
}

// BenchmarkMemory10000 reports what an open store with 10,000 finished tasks keeps alive.
func BenchmarkMemory10000(b *testing.B) {
	bb := newBench(b, 10000)
	for range b.N {
		before := heap()
		s := bb.open(b, "")
		if s.journal.seq == 0 {
			nightOf(b, bb, s)
		}
		b.ReportMetric(float64(heap()-before)/(1<<20), "MiB")
		must(b, s.Close())
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
