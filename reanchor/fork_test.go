package reanchor

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestForkPrompt(t *testing.T) {
	t.Parallel()
	golden(t, "fork", Fork{
		Query: "Do it without the cache.\n```\nkeep this\n```", By: "claude in T2, attempt 1", Base: "c0ffee", Wall: time.Hour, USD: 2,
		Said: []Said{
			{Role: "user", Text: "# T2: Make it fast"},
			{Role: "assistant", Text: "I will add a cache.", Tools: []string{"Read main.go", "Edit main.go\nline two"}},
			{Role: "assistant", Tools: strings.Fields("a b c d e f g h i j k l m")},
		},
	}.Prompt())
	golden(t, "fork-empty", Fork{Query: "Begin.", Agent: Agent{Type: "claude"}}.Prompt())
}

// However long a conversation is, its prompt is no longer than a brief.
func TestForkPromptIsBounded(t *testing.T) {
	t.Parallel()
	f := Fork{Query: "Again."}
	for i := range 5000 {
		f.Said = append(f.Said, Said{Role: "assistant", Text: fmt.Sprintf("message %d %s", i, strings.Repeat("x", i%9000)), Tools: make([]string, i%40)})
	}
	got := string(f.Prompt())
	if len(got) > defaultBrief+smallBrief || len(got) < defaultBrief/2 {
		t.Errorf("%d bytes", len(got))
	}
	for _, want := range []string{"message 0 ", "[relay left out 49", "message 4999 ", "Again."} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q", want)
		}
	}
}
