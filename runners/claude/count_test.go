package claude_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"relay/runners"
	"relay/runners/claude"
	"relay/runners/process"
	"relay/runners/runnertest"
)

// A request that claude begins after it was asked to stop is none: it says so and is gone before it has sent it. Who reads
// what is left of a relay that was killed knows by how much was said until then.
func TestClaudeCountsUntilStopped(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/captured/partial.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	asks := []byte(`"requesting"`)
	second := bytes.LastIndex(data, asks)
	data = data[:second+bytes.IndexByte(data[second:], '\n')+1]
	before := int64(bytes.LastIndexByte(data[:second], '\n') + 1)
	for name, c := range map[string]struct {
		end       process.Exit
		in        int64
		estimated bool
	}{
		"before it asked":      {process.Exit{Stopped: true, StoppedAt: time.Now(), Said: before}, 1200, false},
		"while it asked":       {process.Exit{Stopped: true, StoppedAt: time.Now(), Said: before + 1}, 2400, true},
		"after it asked":       {process.Exit{Stopped: true, StoppedAt: time.Now(), Said: int64(len(data))}, 2400, true},
		"nobody knows when":    {process.Exit{Stopped: true}, 2400, true},
		"killed by the system": {process.Exit{Code: -1, Signal: "KILL"}, 2400, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			in := func(name string) string { return filepath.Join(dir, name) }
			runnertest.WriteFile(t, in("transcript.jsonl"), data)
			runnertest.WriteFile(t, in("brief.md"), []byte("do it"))
			r := claude.New(process.Ended(c.end), claude.Options{})
			report, err := r.Run(t.Context(), runners.Request{
				Mark: "run/T1/1", Dir: dir, Result: in("result.json"), Ended: true, Prompt: in("brief.md"), Transcript: in("transcript.jsonl"), Stderr: in("stderr"),
			})
			if err != nil {
				t.Fatal(err)
			}
			if u := report.Usage; u.InputTokens != c.in || u.Estimated != c.estimated {
				t.Errorf("it has used %+v, want %d tokens read, estimated %v", u, c.in, c.estimated)
			}
		})
	}
}
