package claude

import (
	"strings"
	"testing"
	"time"

	"relay/runners"
	"relay/runners/internal/eventstream"

	"relay/runners/internal/cleantext"
	"relay/runners/internal/streamtest"
)

var cli = streamtest.CLI{
	Captured: "testdata/captured",
	Reader:   func(req runners.Request) eventstream.Reader { return &reader{req: req, now: longAgo} },
	Quick:    func(line []byte) bool { return new(frequentEvent).read(line, nil) },
}

func longAgo() time.Time { return time.Unix(1_795_000_000, 0).UTC() }

func TestReadsAlike(t *testing.T) {
	t.Parallel()
	cli.ReadsAlike(t)
	cli.OddReadsAlike(t,
		`{"message":{"id":"m","content":[{"type":"text","text":"first"}],"usage":{"input_tokens":5}},"type":"assistant"}`,
		`{"type":"assistant","message":{"id":"n","content":[{"type":"text","text":"mine"}]},"parent_tool_use_id":null}`,
		`{"type":"assistant","message":{"id":"o","content":[{"type":"text","text":"a subagent's"}]},"parent_tool_use_id":"t"}`,
		`{"type":"user","message":{"content":"text"}}`,
	)
}

func TestReadsQuickly(t *testing.T) {
	t.Parallel()
	cli.ReadsQuickly(t)
}

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
	if got := claude.lastMessage.Text(2 * cleantext.MaxFinal); got != strings.Repeat("line\n", 1<<20)[:2*cleantext.MaxFinal] {
		t.Errorf("keeps %d bytes", len(got))
	}
}

func FuzzReadsAlike(f *testing.F) { cli.FuzzReadsAlike(f) }

func FuzzStream(f *testing.F) {
	cli.FuzzReports(f, []string{"ok", "401-r2", "oauth-usage", "perm-default", "refusal", "fallback-529", "hang-int"},
		`{"type":"assistant","message":[]}`+"\n"+`{"type":"result","is_error":"no","permission_denials":[1],"usage":7,"errors":{}}`,
		func(u runners.Usage) bool { return u.CachedTokens >= 0 })
}

func BenchmarkLine(b *testing.B) { cli.BenchmarkLine(b) }
