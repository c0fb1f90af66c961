package opencode

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
		`{"type":"text","part":{"text":"n\u00e9 %d"}}`,
		`{"type":"tool_use","part":{"tool":"Bash","state":{"input":{"command":"ls %d"}}}}`,
	})
}

// TestLongMessage fails when an agent's long message stays in memory for longer or in more of it than what is kept of it, or
// when what is kept is not its beginning, or its end where that is what counts.
func TestLongMessage(t *testing.T) {
	t.Parallel()
	text := strings.Repeat(`line\n`, 1<<20) + "é the end"
	var opencode reader
	for range 3 {
		opencode.Line([]byte(`{"type":"text","part":{"text":"` + text + `"}}`))
	}
	opencode.Line([]byte(`{"type":"text","part":{"text":"more"}}`))
	if got := string(opencode.lastText.Last(2 * runners.MaxFinal)); len(got) != 2*runners.MaxFinal || !strings.HasSuffix(got, "line\né the end\nmore") || cap(opencode.lastText) > 16*runners.MaxFinal {
		t.Errorf("keeps %d of %d bytes: …%s", len(got), cap(opencode.lastText), got[max(0, len(got)-30):])
	}
}

func BenchmarkLine(b *testing.B) { cli.BenchmarkLine(b) }
