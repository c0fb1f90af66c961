package opencode

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
	"unicode/utf8"

	"relay/runners"
	"relay/runners/internal/adapter"
)

func FuzzOpencodeStream(f *testing.F) {
	for _, name := range []string{"ok", "401", "429-after-write", "outside", "refusal", "sseerr", "toolong", "maxtok"} {
		data, err := os.ReadFile(filepath.Join("testdata", "captured", name+".jsonl"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"type":"step_finish","part":{"reason":1,"tokens":{"input":-5,"cache":[]},"cost":-1}}` + "\n" + `{"type":"error","error":{"name":7,"data":"x"}}`))
	f.Add([]byte(`{"type":"error","timestamp":-9e9,"error":{"name":"APIError","data":{"statusCode":429,"responseHeaders":{"retry-after-ms":"1e308"},"responseBody":"{\"error\":[]}"}}}`))
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
		r := s.agent.Report(s, adapter.ProcessEnd{})
		if r.Outcome == "" || len(r.Detail) > runners.MaxDetail || len(r.FinalText) > runners.MaxFinal || !utf8.ValidString(r.Detail+r.FinalText) {
			t.Fatalf("report %+v", r)
		}
		if r.Outcome == runners.Claimed && r.Result == nil {
			t.Fatalf("claimed without a result: %+v", r)
		}
		if r.Usage.CostUSD < 0 || r.Usage.InputTokens < 0 {
			t.Fatalf("usage %+v", r.Usage)
		}
	})
}
