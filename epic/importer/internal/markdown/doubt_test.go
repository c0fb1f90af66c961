package markdown

import (
	"strings"
	"testing"
)

// TestDoubt: what may be meant otherwise is named, and a list of boxes with notes is not.
func TestDoubt(t *testing.T) {
	t.Parallel()
	const box = "- [ ] Do it\n"
	for text, want := range map[string]string{
		box + "\nA note.\n\n- [the forum](https://example.com)\n": "",
		strings.Repeat(box, 9) + "\n- a note\n- a note\n":         "",
		"## Testing\n\n" + box:                                    "",
		"## Phase 2: verify the copies of all tables\n\n" + box:   "",
		box + "\n1. First\n2. Then\n":                             "3: 2 lines from here on have no boxes, and are not tasks",
		box + "- A part of it\n- Another\n":                       "2: 2 lines from here on have no boxes, and are not tasks",
		box + "\n| # | Bug |\n|---|---|\n| 1 | a |\n| 2 | b |\n":  "5: 2 lines from here on have no boxes, and are not tasks",
		"- [x] Done\n  - [ ] not yet\n":                           "2: this box is open below one that is ticked, and is taken for a task",
		"## Test checklist\n\n" + box:                             "3: what is below Test checklist is taken for tasks",
		"## 테스트 체크리스트\n\n" + box:                                  "3: what is below 테스트 체크리스트 is taken for tasks",
		"## Do not start before May\n\n" + box:                    "3: what is below Do not start before May is taken for tasks",
		"## 3. Acceptance Gate M0\n\n" + box:                      "3: what is below 3. Acceptance Gate M0 is taken for tasks",
	} {
		list := Lines([]byte(text))
		parts := Cut(list, 0)
		part := parts[len(parts)-1]
		entries, rest := Checklist(part.Body)
		line, why := part.Doubt(entries, rest, []string{Unformatted(part.Heading.Rest)}, strings.Count(text, "[ ]"))
		got := ""
		if line > 0 {
			got = string(rune('0'+line)) + ": " + why
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
