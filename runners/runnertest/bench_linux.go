package runnertest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"relay/runners"
	"relay/runners/process"
)

// talker starts another program than it is told to.
type talker struct {
	process.Supervisor
	argv []string
}

func (t talker) Start(ctx context.Context, cmd process.Command) (process.Process, error) {
	cmd.Argv = t.argv
	return t.Supervisor.Start(ctx, cmd)
}

// BenchmarkStream takes in 1 GiB of a CLI's output: a captured run that says the same over and over. x-cat is how many times as
// long that takes as cat needs to write the same file, and x-cat-cpu how many times as much of a processor relay takes itself,
// which depends less on what else the machine is doing.
func (c Captured) BenchmarkStream(b *testing.B) {
	const size = 1 << 30
	b.SetBytes(size)
	argv := babble(b, filepath.Join(c.Dir, "ok.jsonl"), size)
	var taken, plain, work, plainWork time.Duration
	for b.Loop() {
		dir := b.TempDir()
		in := func(name string) string { return filepath.Join(dir, name) }
		if err := os.WriteFile(in("brief.md"), []byte("talk"), 0o600); err != nil {
			b.Fatal(err)
		}
		began, worked := time.Now(), processorTime(b)
		r, err := c.Make(talker{process.NewLocal(), argv}).Run(b.Context(), runners.Request{
			Mark: "run/T1/1", Dir: dir, Prompt: in("brief.md"), Result: in("result.json"),
			Transcript: in("transcript"), Stderr: in("stderr"), End: in("end.json"), Env: os.Environ(),
			Observe: func(runners.Event) {},
		})
		if err != nil || r.Outcome != runners.Claimed && r.Outcome != runners.NoResult && r.Outcome != runners.Failed {
			b.Fatalf("%s: %s (%v)", r.Outcome, r.Detail, err)
		}
		taken += time.Since(began)
		work += processorTime(b) - worked
		wall, cpu := written(b, argv, in("plain"))
		plain, plainWork = plain+wall, plainWork+cpu
		if err := os.Remove(in("plain")); err != nil { // what is not on the disk yet need not go there
			b.Fatal(err)
		}
	}
	b.ReportMetric(taken.Seconds()/plain.Seconds(), "x-cat")
	b.ReportMetric(work.Seconds()/plainWork.Seconds(), "x-cat-cpu")
	b.ReportMetric(peakMemory(b), "MiB-peak")
}

// babble is a command that prints a captured run, its middle as often as it takes to come to size.
func babble(b *testing.B, run string, size int) []string {
	b.Helper()
	text, err := os.ReadFile(run)
	if err != nil {
		b.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	middle := bytes.Join(lines[1:max(2, len(lines)-2)], nil)
	middle = bytes.Repeat(middle, 1+(4<<20)/len(middle))
	dir := b.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, part := range map[string][]byte{"begin": lines[0], "middle": middle, "end": bytes.Join(lines[max(2, len(lines)-2):], nil)} {
		if err := os.WriteFile(in(name), part, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	script := "cat begin; i=0; while [ $i -lt " + strconv.Itoa(size/len(middle)) + " ]; do cat middle; i=$((i+1)); done; cat end"
	return []string{"sh", "-c", "cd " + dir + "; " + script}
}

// processorTime is how long this process has had a processor.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// written is how long a command takes to print into a file, and how long it has a processor.
func written(b *testing.B, argv []string, name string) (wall, cpu time.Duration) {
	b.Helper()
	f, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	cmd := exec.CommandContext(b.Context(), argv[0], argv[1:]...)
	cmd.Stdout = f
	began := time.Now()
	if err := cmd.Run(); err != nil {
		b.Fatal(err)
	}
	return time.Since(began), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// peakMemory is the most memory this process has had, in MiB.
func peakMemory(b *testing.B) float64 {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	if err != nil {
		b.Fatal(err)
	}
	return kib / 1024
}
