package runners_test

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

// BenchmarkStream takes in 1 GiB of each CLI's output: a captured run that says the same over and over. x-cat is how
// many times as long that takes as cat needs to write the same file.
func BenchmarkStream(b *testing.B) {
	const size = 1 << 30
	for name, l := range map[string]library{
		"claude": capturedClaude(), "codex": capturedCodex(), "gemini": capturedGemini(), "opencode": capturedOpencode(),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			argv := babble(b, filepath.Join(l.dir, talkative[name]+".jsonl"), size)
			var taken, plain time.Duration
			for b.Loop() {
				dir := b.TempDir()
				in := func(name string) string { return filepath.Join(dir, name) }
				if err := os.WriteFile(in("brief.md"), []byte("talk"), 0o600); err != nil {
					b.Fatal(err)
				}
				began := time.Now()
				r, err := l.make(talker{process.NewLocal(), argv}).Run(b.Context(), runners.Request{
					Mark: "run/T1/1", Dir: dir, Prompt: in("brief.md"), Result: in("result.json"), Transcript: in("transcript"), Stderr: in("stderr"), End: in("end.json"), Env: os.Environ(),
				})
				if err != nil || r.Outcome != runners.Claimed && r.Outcome != runners.NoResult && r.Outcome != runners.Failed {
					b.Fatalf("%s: %s (%v)", r.Outcome, r.Detail, err)
				}
				taken += time.Since(began)
				plain += written(b, argv, in("plain"))
			}
			b.ReportMetric(taken.Seconds()/plain.Seconds(), "x-cat")
			b.ReportMetric(peakMemory(b), "MiB-peak")
		})
	}
}

// talkative names a captured run that went well.
var talkative = map[string]string{"claude": "ok", "codex": "ok", "gemini": "ok", "opencode": "ok"}

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

// written is how long a command takes to print into a file.
func written(b *testing.B, argv []string, name string) time.Duration {
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
	return time.Since(began)
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
