package runnertest

import (
	"encoding/json"
	"errors"
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

// capturedRun is how one captured run of a CLI ended.
type capturedRun struct {
	Code    int
	Signal  string
	Stderr  string
	Resumed bool
	Spent   runners.Usage // by the session before
	Schema  bool          // an answer in the form of a schema was asked for
	Printed time.Time     // when it was, where that matters
}

// Captured is a folder of captured runs of one CLI: NAME.jsonl is its output, ends.json says how each run ended, and
// outcomes.golden holds what is made of them.
type Captured struct {
	Dir  string
	Make func(process.Supervisor) runners.Runner
}

func (c Captured) runs(t *testing.T) map[string]capturedRun {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(c.Dir, "ends.json"))
	if err != nil {
		t.Fatal(err)
	}
	var runs map[string]capturedRun
	if err := json.Unmarshal(data, &runs); err != nil {
		t.Fatal(err)
	}
	return runs
}

// replay reads a captured run as if its agent had ended under another relay.
func (c Captured) replay(t *testing.T, name string, run capturedRun) runners.Report {
	t.Helper()
	dir := t.TempDir()
	stderr := filepath.Join(dir, "stderr.log")
	if err := os.WriteFile(stderr, []byte(run.Stderr), 0o600); err != nil {
		t.Fatal(err)
	}
	req := runners.Request{
		Mark: "run/T1/1", Dir: dir, Result: filepath.Join(dir, "result.json"), Ended: true,
		Transcript: filepath.Join(c.Dir, name+".jsonl"), Stderr: stderr,
	}
	if run.Resumed {
		req.Session, req.Spent = "99999999-2222-4333-8444-555555555555", run.Spent
	}
	if run.Schema {
		req.Schema = runners.ResultSchema("feature")
	}
	if !run.Printed.IsZero() {
		req.Transcript = copyOf(t, req.Transcript, filepath.Join(dir, "transcript.jsonl"), run.Printed)
	}
	r, err := c.Make(process.Ended(process.Exit{Code: run.Code, Signal: run.Signal})).Run(t.Context(), req)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r
}

// copyOf makes a copy that was last written at a time of the test's choice.
func copyOf(t *testing.T, from, to string, written time.Time) string {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(to, data, 0o600), os.Chtimes(to, written, written)); err != nil {
		t.Fatal(err)
	}
	return to
}

// outcomes says of every captured run what is made of it, a line each.
func (c Captured) outcomes(t *testing.T) string {
	t.Helper()
	runs := c.runs(t)
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(runs)) {
		r := c.replay(t, name, runs[name])
		fmt.Fprintf(&text, "%-24s %-12s", name, r.Outcome)
		if !r.ResetAt.IsZero() {
			fmt.Fprintf(&text, " until %s", r.ResetAt.Format(time.RFC3339))
		}
		if r.Usage != (runners.Usage{}) {
			fmt.Fprintf(&text, " %d+%d", r.Usage.InputTokens, r.Usage.OutputTokens)
			if r.Usage.Priced {
				fmt.Fprintf(&text, " $%.5f", r.Usage.CostUSD)
			}
		}
		for _, use := range r.Tools {
			fmt.Fprintf(&text, " %s:%d/%d", use.Name, use.Calls, use.Failed)
		}
		fmt.Fprintf(&text, " | %s\n", r.Detail)
	}
	return text.String()
}

// Hold compares what is made of the captured runs with the golden file, or rewrites that.
func (c Captured) Hold(t *testing.T, update bool) {
	t.Helper()
	got, golden := c.outcomes(t), filepath.Join(c.Dir, "outcomes.golden")
	if update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("outcomes changed:\n%s\nwant:\n%s", got, want)
	}
}
