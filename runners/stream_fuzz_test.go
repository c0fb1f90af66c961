package runners

import (
	"bytes"
	"os"
	"path/filepath"
	"relay/runners/internal/cleantext"
	"testing"
	"time"
	"unicode/utf8"
)

func FuzzClaudeStream(f *testing.F) {
	fuzzStream(f, "claude", []string{"ok", "401-r2", "oauth-usage", "perm-default", "refusal", "fallback-529", "hang-int"},
		`{"type":"assistant","message":[]}`+"\n"+`{"type":"result","is_error":"no","permission_denials":[1],"usage":7,"errors":{}}`,
		func(req Request) stream { return &claudeStream{req: req, now: time.Now} })
}

func FuzzCodexStream(f *testing.F) {
	fuzzStream(f, "codex", []string{"ok", "schema", "401", "400", "usage", "network-down", "sseerr", "resume-id", "maxtok"},
		`{"type":"item.completed","item":[]}`+"\n"+`{"type":"turn.failed","error":7}`+"\n"+`{"type":"turn.completed","usage":{"input_tokens":-9}}`,
		func(req Request) stream {
			req.Session, req.Schema, req.Spent = "s", ResultSchema(), Usage{InputTokens: 1500, OutputTokens: 1}
			return &codexStream{req: req, now: time.Now}
		})
}

// fuzzStream reads what no CLI would print, beginning with what one has printed.
func fuzzStream(f *testing.F, cli string, names []string, odd string, create func(Request) stream) {
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join("testdata", cli, name+".jsonl"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(odd))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := create(Request{Observe: func(e Event) {
			if len(e.Text) > cleantext.MaxEvent || !utf8.ValidString(e.Text) {
				t.Fatalf("event %q", e.Text)
			}
		}})
		for line := range bytes.Lines(data) {
			s.line(line)
			s.mood()
		}
		r := s.report(end{})
		if r.Outcome == "" || len(r.Detail) > cleantext.MaxDetail || len(r.FinalText) > cleantext.MaxFinal || !utf8.ValidString(r.Detail+r.FinalText) {
			t.Fatalf("report %+v", r)
		}
		if r.Outcome == Claimed && r.Result == nil {
			t.Fatalf("claimed without a result: %+v", r)
		}
		if u := s.usage(); u.CachedTokens < 0 || cli == "codex" && (u.InputTokens < 0 || u.OutputTokens < 0) {
			t.Fatalf("usage %+v", u)
		}
	})
}
