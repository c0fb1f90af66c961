package codex

import (
	"strings"
	"testing"
	"time"

	"relay/runners"
	"relay/runners/internal/adapter"
	"relay/runners/internal/streamtest"
)

var cli = streamtest.CLI{
	Captured: "testdata/captured",
	Reader: func(req runners.Request) (*adapter.Stream, adapter.StreamReader) {
		s := &reader{agent: adapter.Stream{Req: req, Now: longAgo}}
		return &s.agent, s
	},
}

func longAgo() time.Time { return time.Unix(1_795_000_000, 0).UTC() }

func TestProgress(t *testing.T) {
	t.Parallel()
	cli.TellsProgress(t, [2]string{
		`{"type":"item.completed","item":{"type":"agent_message","text":"n\u00e9 %d"}}`,
		`{"type":"item.started","item":{"id":"i%[1]d","type":"Bash","command":"ls %[1]d"}}`,
	})
}

// TestLongMessage fails when an agent's long message stays in memory for longer or in more of it than what is kept of it, or
// when what is kept is not its beginning, or its end where that is what counts.
func TestLongMessage(t *testing.T) {
	t.Parallel()
	text := strings.Repeat(`line\n`, 1<<20) + "é the end"
	var codex reader
	codex.Line([]byte(`{"type":"item.completed","item":{"type":"agent_message","text":"` + text + `"}}`))
	if got := codex.lastMessage; got != strings.Repeat("line\n", 1<<20)[:runners.MaxResult] {
		t.Errorf("keeps %d bytes", len(got))
	}
}

func FuzzStream(f *testing.F) {
	resumed := cli
	resumed.Reader = func(req runners.Request) (*adapter.Stream, adapter.StreamReader) {
		req.Session, req.Schema, req.Spent = "s", runners.ResultSchema("feature"), runners.Usage{InputTokens: 1500, OutputTokens: 1}
		s := &reader{agent: adapter.Stream{Req: req, Now: time.Now}}
		return &s.agent, s
	}
	resumed.FuzzReports(f, []string{"ok", "schema", "401", "400", "usage", "network-down", "sseerr", "resume-id", "maxtok"},
		`{"type":"item.completed","item":[]}`+"\n"+`{"type":"turn.failed","error":7}`+"\n"+`{"type":"turn.completed","usage":{"input_tokens":-9}}`,
		func(u runners.Usage) bool { return u.CachedTokens >= 0 && u.InputTokens >= 0 && u.OutputTokens >= 0 })
}

func BenchmarkLine(b *testing.B) { cli.BenchmarkLine(b) }
