package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// BenchmarkNight measures whole nights of no-op tasks, two at a time, with the durable ledger, as a ratio to a bare
// loop of fork/exec and to make -j2 over the same graph, all in one run: machines are noisy, ratios are not.
// Run it with -benchtime 1x, the small ones with more (-bench 'Night/.*-100$' -benchtime 10x), on a disk where nothing
// large was deleted in the last minute: ext4 is slow to make new files then. That is also why all nights are kept until
// the last one is over.
func BenchmarkNight(b *testing.B) {
	relay, all := buildRelay(b), b.TempDir()
	for _, shape := range []string{"flat", "chained", "layered"} {
		for _, n := range []int{100, 1000, 10000} {
			b.Run(fmt.Sprintf("%s-%d", shape, n), func(b *testing.B) { benchNight(b, all, relay, night{shape, n, "off"}) })
			b.Run(fmt.Sprintf("%s-%d-sandbox", shape, n), func(b *testing.B) { benchNight(b, all, relay, night{shape, n, "auto"}) })
		}
	}
}

// night is an epic of n tasks.
type night struct {
	shape   string
	n       int
	sandbox string
}

// BenchmarkRecords measures what the records for other programs cost: the same night of 1,000 no-op tasks with them and without, in turn.
func BenchmarkRecords(b *testing.B) {
	relay, all := buildRelay(b), b.TempDir()
	took := map[bool]time.Duration{}
	for b.Loop() {
		for _, kept := range []bool{true, false} {
			dir, err := os.MkdirTemp(all, "records-") //nolint:usetesting // kept until the last night is over
			if err != nil {
				b.Fatal(err)
			}
			nightRepo(b, dir, night{"flat", 1000, "off"})
			if !kept {
				write(b, filepath.Join(dir, ".agents.local.yml"), "relay: {sandbox: off, records: {ledgersync: false, artifacts: false}}\n")
			}
			t, _ := timed(b, dir, relay, "work", "--jobs", "2")
			took[kept] += t
			ledger, err := os.ReadFile(filepath.Join(dir, ".ledgersync", "ledger.jsonl"))
			if lines := strings.Count(string(ledger), "\n"); kept && (err != nil || lines != 1001) || !kept && err == nil {
				b.Fatalf("records kept: %v, %d entries, %v", kept, lines, err)
			}
		}
	}
	b.ReportMetric(took[true].Seconds()/took[false].Seconds(), "x-without")
	b.ReportMetric(took[true].Seconds()/float64(b.N), "night-s")
	b.ReportMetric(0, "ns/op")
}

func benchNight(b *testing.B, all, relay string, e night) {
	b.Helper()
	shape, n := e.shape, e.n
	var took, status, report, again, floor, made time.Duration
	var rss, reportRSS int64
	for b.Loop() {
		dir, err := os.MkdirTemp(all, fmt.Sprintf("%s-%d-", shape, n)) //nolint:usetesting // kept until the last night is over
		if err != nil {
			b.Fatal(err)
		}
		nightRepo(b, dir, e)
		t, peak := timed(b, dir, relay, "work", "--jobs", "2")
		took, rss = took+t, max(rss, peak)
		t, _ = timed(b, dir, relay, "status")
		status += t
		t, peak = timed(b, dir, relay, "report", "--format", "json")
		report, reportRSS = report+t, max(reportRSS, peak)
		t, _ = timed(b, dir, relay, "replay", runOf(b, dir)) // it fails where a decision is another one
		again += t
		floor += forkLoop(b, n, width(shape))
		write(b, filepath.Join(dir, "Makefile"), makefile(shape, n))
		t, _ = timed(b, dir, "make", "-s", "-j2", "all")
		made += t
	}
	b.ReportMetric(took.Seconds()/float64(b.N), "night-s")
	b.ReportMetric(took.Seconds()/floor.Seconds(), "x-floor")
	b.ReportMetric(took.Seconds()/made.Seconds(), "x-make")
	b.ReportMetric(float64(status.Milliseconds())/float64(b.N), "status-ms")
	b.ReportMetric(float64(report.Milliseconds())/float64(b.N), "report-ms")
	b.ReportMetric(float64(again.Milliseconds())/float64(b.N), "replay-ms")
	b.ReportMetric(float64(rss)/1024, "rss-MiB")
	b.ReportMetric(float64(reportRSS)/1024, "report-rss-MiB")
	b.ReportMetric(0, "ns/op")
}

// runOf returns the id of the one run in a repository.
func runOf(b *testing.B, dir string) string {
	b.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, ".agents-os", "relay", "runs"))
	if err != nil || len(entries) != 1 {
		b.Fatalf("%v, %v", entries, err)
	}
	return entries[0].Name()
}

// width is how many tasks of a shape can run at once on two slots.
func width(shape string) int {
	if shape == "chained" {
		return 1
	}
	return 2
}

// needs returns the tasks that task i waits for.
func needs(shape string, i int) []int {
	switch {
	case shape == "chained" && i > 0:
		return []int{i - 1}
	case shape == "layered" && i >= 10:
		layer := i / 10 * 10
		return []int{layer - 10 + i%10, layer - 10 + (i+3)%10}
	}
	return nil
}

func nightRepo(b *testing.B, dir string, e night) {
	b.Helper()
	shape, n := e.shape, e.n
	run(b, dir, "git", "init", "-q")
	run(b, dir, "git", "-c", "user.name=b", "-c", "user.email=b@localhost", "commit", "-q", "--allow-empty", "-m", "first")
	write(b, filepath.Join(dir, ".agents.yml"), "relay:\n  isolation: shared\n  runners: [noop]\n  agents:\n    noop: {type: command, argv: [\"true\"], result: exit}\n")
	write(b, filepath.Join(dir, ".agents.local.yml"), "relay: {sandbox: "+e.sandbox+", agents: {noop: {sandbox_write: ["+dir+"]}}}\n")
	var text strings.Builder
	text.WriteString("version: 2\nid: 20260101-bench\ntitle: bench\ntasks:\n")
	for i := range n {
		fmt.Fprintf(&text, "  T%d:\n    title: task %d\n", i, i)
		var ids []string
		for _, d := range needs(shape, i) {
			ids = append(ids, fmt.Sprintf("T%d", d))
		}
		if ids != nil {
			fmt.Fprintf(&text, "    depends_on: [%s]\n", strings.Join(ids, ", "))
		}
	}
	folder := filepath.Join(dir, ".agents-os", "relay")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		b.Fatal(err)
	}
	write(b, filepath.Join(folder, ".gitignore"), "*\n")
	write(b, filepath.Join(folder, "epic.yml"), text.String())
}

func makefile(shape string, n int) string {
	var text strings.Builder
	text.WriteString("all:")
	for i := range n {
		fmt.Fprintf(&text, " T%d", i)
	}
	text.WriteString("\n")
	for i := range n {
		fmt.Fprintf(&text, "T%d:", i)
		for _, d := range needs(shape, i) {
			fmt.Fprintf(&text, " T%d", d)
		}
		text.WriteString("\n\t@/bin/true\n")
	}
	return text.String()
}

// forkLoop is the floor: nothing but starting and waiting.
func forkLoop(b *testing.B, n, jobs int) time.Duration {
	b.Helper()
	start := time.Now()
	var wg sync.WaitGroup
	for range jobs {
		wg.Go(func() {
			for range n / jobs {
				if err := exec.Command("/bin/true").Run(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return time.Since(start)
}

func buildRelay(tb testing.TB) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "relay")
	run(tb, ".", "go", "build", "-buildvcs=false", "-o", path, ".") // as the tests, whose records it reads
	return path
}

// once runs a viewer that ends, and prints what it needed. The tests cannot do so: the peak of the memory of a process begins with that of
// the process that starts it, and theirs is a large one.
func once() {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	began := time.Now()
	err := cmd.Run()
	first, state := time.Since(began), cmd.ProcessState
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("\n%d %d %g", first, state.SystemTime()+state.UserTime(), float64(state.SysUsage().(*syscall.Rusage).Maxrss)/1024)
}

func run(tb testing.TB, dir, name string, args ...string) {
	tb.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

// timed runs a command and returns its wall time and peak memory in KiB.
func timed(b *testing.B, dir, name string, args ...string) (time.Duration, int64) {
	b.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	start := time.Now()
	if err := cmd.Run(); err != nil {
		b.Fatalf("%s %v: %v\n%s", name, args, err, stderr.String())
	}
	return time.Since(start), cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
}

func write(b *testing.B, path, text string) {
	b.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
}
