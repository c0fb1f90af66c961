// Package streamtest holds the readers of all CLIs' streams to the same promises.
package streamtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unicode/utf8"

	"relay/runners"
	"relay/runners/internal/adapter"
)

// CLI is how the stream of one CLI is read.
type CLI struct {
	Captured string                                                        // folder with captured runs, NAME.jsonl
	Reader   func(runners.Request) (*adapter.Stream, adapter.StreamReader) // reads a stream
}

// TellsProgress fails when a flood of events is told in full, when the last thing an agent did is not told, or told in other
// words than the first. The lines are a text and a tool's call, with a place for a number.
func (c CLI) TellsProgress(t *testing.T, lines [2]string) {
	t.Helper()
	var reported []string
	agent, s := c.Reader(runners.Request{Observe: func(e runners.Event) { reported = append(reported, string(e.Kind)+" "+e.Text) }})
	var want []string
	for poll, most := range []int{adapter.MaxReported + 200, adapter.MaxReported + 201, 3} {
		for i := range most {
			line := fmt.Appendf(nil, lines[i%2], i)
			s.Line(line)
			clear(line) // no stream may keep it
			if i < adapter.MaxReported || i == most-1 {
				want = append(want, fmt.Sprintf([]string{"text né %d", "tool Bash ls %d"}[i%2], i))
			}
		}
		agent.State(s)
		if !slices.Equal(reported, want) {
			t.Errorf("poll %d: told %q, want %q", poll, reported, want)
		}
		reported, want = nil, nil
	}
	if agent.State(s); len(reported) > 0 {
		t.Errorf("told again: %q", reported)
	}
}

// FuzzReports reads what no CLI would print, beginning with captured runs of these names and an odd one. check looks at the usage.
func (c CLI) FuzzReports(f *testing.F, names []string, odd string, check func(runners.Usage) bool) {
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(c.Captured, name+".jsonl"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(odd))
	f.Fuzz(func(t *testing.T, data []byte) {
		agent, s := c.Reader(runners.Request{Observe: func(e runners.Event) {
			if len(e.Text) > runners.MaxEvent || !utf8.ValidString(e.Text) {
				t.Fatalf("event %q", e.Text)
			}
		}})
		for line := range bytes.Lines(data) {
			s.Line(line)
			agent.State(s)
		}
		r := agent.Report(s, adapter.ProcessEnd{})
		if r.Outcome == "" || len(r.Detail) > runners.MaxDetail ||
			len(r.FinalText) > runners.MaxFinal || !utf8.ValidString(r.Detail+r.FinalText) {
			t.Fatalf("report %+v", r)
		}
		if r.Outcome == runners.Claimed && r.Result == nil {
			t.Fatalf("claimed without a result: %+v", r)
		}
		if u := s.Usage(); !check(u) {
			t.Fatalf("usage %+v", u)
		}
	})
}

// BenchmarkLine measures what a captured run costs to read, without a process or a disk.
func (c CLI) BenchmarkLine(b *testing.B) {
	text, err := os.ReadFile(filepath.Join(c.Captured, "ok.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	lines = lines[1 : len(lines)-1]
	_, s := c.Reader(runners.Request{})
	size := 0
	for _, line := range lines {
		size += len(line) + 1
	}
	b.SetBytes(int64(size))
	for b.Loop() {
		for _, line := range lines {
			s.Line(line)
		}
	}
}
