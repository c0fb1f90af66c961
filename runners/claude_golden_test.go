package runners_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"relay/runners"
	"relay/runners/process"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// captured is how one captured run of Claude Code ended.
type captured struct {
	Code    int
	Signal  string
	Stderr  string
	Resumed bool
}

func capturedRuns(t *testing.T) map[string]captured {
	t.Helper()
	data, err := os.ReadFile("testdata/claude/ends.json")
	if err != nil {
		t.Fatal(err)
	}
	var runs map[string]captured
	if err := json.Unmarshal(data, &runs); err != nil {
		t.Fatal(err)
	}
	return runs
}

// replay reads a captured run as if its agent had ended under another relay.
func replay(t *testing.T, name string, run captured) runners.Report {
	t.Helper()
	dir := t.TempDir()
	stderr := filepath.Join(dir, "stderr.log")
	if err := os.WriteFile(stderr, []byte(run.Stderr), 0o600); err != nil {
		t.Fatal(err)
	}
	req := runners.Request{
		Mark: "run/T1/1", Dir: dir, Result: filepath.Join(dir, "result.json"), Ended: true,
		Transcript: filepath.Join("testdata/claude", name+".jsonl"), Stderr: stderr,
	}
	if run.Resumed {
		req.Session = "99999999-2222-4333-8444-555555555555"
	}
	claude := runners.NewClaude(process.Ended(process.Exit{Code: run.Code, Signal: run.Signal}), runners.ClaudeOptions{
		Now: func() time.Time { return time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC) },
	})
	r, err := claude.Run(t.Context(), req)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r
}

// TestCapturedRuns holds the outcome of every captured run of the real CLI.
func TestCapturedRuns(t *testing.T) {
	t.Parallel()
	runs := capturedRuns(t)
	var got strings.Builder
	for _, name := range slices.Sorted(maps.Keys(runs)) {
		r := replay(t, name, runs[name])
		fmt.Fprintf(&got, "%-24s %-12s", name, r.Outcome)
		if !r.ResetAt.IsZero() {
			fmt.Fprintf(&got, " until %s", r.ResetAt.Format(time.RFC3339))
		}
		if r.Usage != (runners.Usage{}) {
			fmt.Fprintf(&got, " %d+%d", r.Usage.InputTokens, r.Usage.OutputTokens)
			if r.Usage.Priced {
				fmt.Fprintf(&got, " $%.5f", r.Usage.CostUSD)
			}
		}
		fmt.Fprintf(&got, " | %s\n", r.Detail)
	}
	golden := "testdata/claude/outcomes.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("outcomes changed:\n%s\nwant:\n%s", got.String(), want)
	}
}
