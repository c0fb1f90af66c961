package claude

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
		`{"type":"assistant","message":{"content":[{"type":"text","text":"n\u00e9 %d"}]}}`,
		`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"timeout":1,"command":"ls %d"}}]}}`,
	})
}

// TestLongMessage fails when an agent's long message stays in memory for longer or in more of it than what is kept of it, or
// when what is kept is not its beginning, or its end where that is what counts.
func TestLongMessage(t *testing.T) {
	t.Parallel()
	text := strings.Repeat(`line\n`, 1<<20) + "é the end"
	var claude reader
	claude.Line([]byte(`{"type":"assistant","message":{"content":[{"type":"text","text":"` + text + `"}]}}`))
	if got := claude.lastMessage; got != strings.Repeat("line\n", 1<<20)[:2*runners.MaxFinal] {
		t.Errorf("keeps %d bytes", len(got))
	}
}

func FuzzStream(f *testing.F) {
	cli.FuzzReports(f, []string{"ok", "401-r2", "oauth-usage", "perm-default", "refusal", "fallback-529", "hang-int"},
		`{"type":"assistant","message":[]}`+"\n"+`{"type":"result","is_error":"no","permission_denials":[1],"usage":7,"errors":{}}`,
		func(u runners.Usage) bool { return u.CachedTokens >= 0 })
}

func BenchmarkLine(b *testing.B) { cli.BenchmarkLine(b) }
