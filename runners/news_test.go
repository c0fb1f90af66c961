package runners

import (
	"fmt"
	"relay/runners/internal/cleantext"
	"slices"
	"strings"
	"testing"
)

// TestNews fails when a flood of events is told in full, when the last thing an agent did is not told, or told in other
// words than the first.
func TestNews(t *testing.T) {
	t.Parallel()
	for cli, lines := range map[string][2]string{
		"claude": {
			`{"type":"assistant","message":{"content":[{"type":"text","text":"n\u00e9 %d"}]}}`,
			`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"timeout":1,"command":"ls %d"}}]}}`,
		},
		"codex": {
			`{"type":"item.completed","item":{"type":"agent_message","text":"n\u00e9 %d"}}`,
			`{"type":"item.started","item":{"id":"i%[1]d","type":"Bash","command":"ls %[1]d"}}`,
		},
		"gemini": {
			`{"type":"message","role":"assistant","content":"n\u00e9 %d"}`,
			`{"type":"tool_use","tool_name":"Bash","parameters":{"command":"ls %d"}}`,
		},
		"opencode": {
			`{"type":"text","part":{"text":"n\u00e9 %d"}}`,
			`{"type":"tool_use","part":{"tool":"Bash","state":{"input":{"command":"ls %d"}}}}`,
		},
	} {
		var told []string
		s := readers[cli].stream(Request{Observe: func(e Event) { told = append(told, string(e.Kind)+" "+e.Text) }})
		var want []string
		for look, most := range []int{maxTold + 200, maxTold + 201, 3} {
			for i := range most {
				line := fmt.Appendf(nil, lines[i%2], i)
				s.line(line)
				clear(line) // no stream may keep it
				if i < maxTold || i == most-1 {
					want = append(want, fmt.Sprintf([]string{"text né %d", "tool Bash ls %d"}[i%2], i))
				}
			}
			s.mood()
			if !slices.Equal(told, want) {
				t.Errorf("%s, look %d: told %q, want %q", cli, look, told, want)
			}
			told, want = nil, nil
		}
		if s.mood(); len(told) > 0 {
			t.Errorf("%s: told again: %q", cli, told)
		}
	}
}

// TestLongWords fails when an agent's long message stays in memory for longer or in more of it than what is kept of it,
// or when what is kept is not its beginning, or its end where that is what counts.
func TestLongWords(t *testing.T) {
	t.Parallel()
	text := strings.Repeat(`line\n`, 1<<20) + "é the end"
	var claude claudeStream
	claude.line([]byte(`{"type":"assistant","message":{"content":[{"type":"text","text":"` + text + `"}]}}`))
	if got := claude.said.words(2 * cleantext.MaxFinal); got != strings.Repeat("line\n", 1<<20)[:2*cleantext.MaxFinal] || len(claude.said.raw) > maxRoom {
		t.Errorf("claude: keeps %d bytes and %d", len(got), len(claude.said.raw))
	}
	var codex codexStream
	codex.line([]byte(`{"type":"item.completed","item":{"type":"agent_message","text":"` + text + `"}}`))
	if got := codex.words(); got != strings.Repeat("line\n", 1<<20)[:maxResult] || len(codex.said.raw) > maxRoom {
		t.Errorf("codex: keeps %d bytes and %d", len(got), len(codex.said.raw))
	}
	var gemini geminiStream
	gemini.line([]byte(`{"type":"message","role":"assistant","content":"` + strings.Repeat(text, 3) + `"}`))
	if got := string(gemini.said); len(got) != 2*cleantext.MaxFinal || !strings.HasSuffix(got, "line\né the end") {
		t.Errorf("gemini: keeps %d bytes: …%s", len(got), got[max(0, len(got)-30):])
	}
	var opencode opencodeStream
	for range 3 {
		opencode.line([]byte(`{"type":"text","part":{"text":"` + text + `"}}`))
	}
	opencode.line([]byte(`{"type":"text","part":{"text":"more"}}`))
	if got := string(opencode.ending()); len(got) != 2*cleantext.MaxFinal || !strings.HasSuffix(got, "line\né the end\nmore") || cap(opencode.said) > 16*cleantext.MaxFinal {
		t.Errorf("opencode: keeps %d of %d bytes: …%s", len(got), cap(opencode.said), got[max(0, len(got)-30):])
	}
}
