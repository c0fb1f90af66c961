package reanchor

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestSessionBriefGolden(t *testing.T) {
	t.Parallel()
	in := third()
	whole := Session{
		Facts: in.Facts, Epic: in.Epic, Progress: in.Progress, Handoff: in.Handoff, Threads: in.Threads, Required: in.Required,
		Open: []string{"T2 pending: Create users API", "T3 gated: Add rate limits (max_attempts)"}, Directory: "app",
		Next: []string{"Read the documents named above.", "Before you stop, record where: `relay handoff`."}, Answered: "codex",
	}
	for name, from := range map[string]Session{"session": whole, "session-bare": {Directory: "app", Next: []string{"Go on."}}} {
		got := SessionBrief(from)
		checkSession(t, got)
		golden(t, name, got)
	}
}

// Whatever was left, it stands between fences, and the brief is no longer than it may be.
func TestSessionBriefOfTooMuch(t *testing.T) {
	t.Parallel()
	in := huge()
	big := in.Epic.Description
	from := Session{
		Facts: in.Facts, Epic: About{big, big, big, big, big, big}, Progress: in.Progress, Handoff: in.Handoff, Threads: in.Threads,
		Required: in.Required, Open: []string{big, big}, Directory: big, Next: []string{"Go on."}, Answered: big,
	}
	got := SessionBrief(from)
	checkSession(t, got)
	if len(got) > defaultBrief || !bytes.Contains(got, []byte("- Go on.")) || !strings.Contains(string(got), " left out") {
		t.Errorf("%d bytes:\n%s", len(got), got)
	}
}

// checkSession holds that only relay's own headings stand outside the fences.
func checkSession(t *testing.T, got []byte) {
	t.Helper()
	outside, open := unfenced(string(got))
	own := []string{"## Git state", "## Epic", "## Documents", "## Context", "## Next steps"}
	for i, line := range outside {
		if strings.HasPrefix(strings.TrimSpace(line), "#") && i > 0 && !slices.Contains(own, line) || open {
			t.Errorf("%q is not relay's own", line)
		}
	}
}
