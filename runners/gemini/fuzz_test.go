package gemini

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"relay/runners"
	"relay/runners/internal/adapter"
	"relay/runners/process"
)

func FuzzGeminiStream(f *testing.F) {
	for _, name := range []string{"ok", "401", "429-full", "loop", "empty", "max-turns", "r-exhausted", "r-overflow"} {
		data, err := os.ReadFile(filepath.Join("testdata", "captured", name+".jsonl"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"type":"tool_use","parameters":1}` + "\n" + `{"type":"result","error":{"message":"[API Error: {\"error\":{\"message\":\"{\"}}]"},"stats":{"models":{"a":1}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &reader{agent: adapter.Stream{Now: time.Now}}
		s.agent.Req.Observe = func(e runners.Event) {
			if len(e.Text) > runners.MaxEvent || !utf8.ValidString(e.Text) {
				t.Fatalf("event %q", e.Text)
			}
		}
		for line := range bytes.Lines(data) {
			s.Line(line)
			s.agent.State(s)
		}
		for _, code := range []int{0, 1, 42, 173} {
			r := s.agent.Report(s, adapter.ProcessEnd{Exit: process.Exit{Code: code}})
			if r.Outcome == "" || len(r.Detail) > runners.MaxDetail || len(r.FinalText) > runners.MaxFinal || !utf8.ValidString(r.Detail+r.FinalText+r.Model+r.Session) {
				t.Fatalf("report %+v", r)
			}
			if r.Outcome == runners.Claimed && (r.Result == nil || code != 0) {
				t.Fatalf("claimed without a result or with exit status %d: %+v", code, r)
			}
			if u := r.Usage; u.InputTokens < 0 || u.OutputTokens < 0 || u.CachedTokens < 0 || u.CachedTokens > u.InputTokens {
				t.Fatalf("usage %+v", u)
			}
		}
	})
}

// TestGeminiBounds fails when an agent that talks all night, or whose tools never answer, fills relay's memory, or when
// what it says of its tokens makes no sense and is believed.
func TestGeminiBounds(t *testing.T) {
	t.Parallel()
	var s reader
	for i := range 3 * adapter.MaxCalls {
		s.Line([]byte(`{"type":"message","role":"assistant","content":"` + strings.Repeat("x", 4<<10) + `"}`))
		s.Line([]byte(`{"type":"tool_use","tool_name":"glob","tool_id":"` + strconv.Itoa(i) + `"}`))
	}
	if len(s.recentText) > 9*runners.MaxFinal || s.agent.Tools.Running() > adapter.MaxCalls {
		t.Errorf("keeps %d bytes and %d calls", len(s.recentText), s.agent.Tools.Running())
	}
	for stats, want := range map[geminiTokens]runners.Usage{
		{input: 5, output: 2, cached: 9}:               {InputTokens: 5, OutputTokens: 2, CachedTokens: 5},
		{input: -5, output: -2, cached: -9, total: -1}: {},
	} {
		got := (&runStats{Input: stats.input, Output: stats.output, Cached: stats.cached, Total: stats.total}).usage()
		if got != want {
			t.Errorf("%+v: got %+v, want %+v", stats, got, want)
		}
	}
}

type geminiTokens struct{ input, output, cached, total int64 }
