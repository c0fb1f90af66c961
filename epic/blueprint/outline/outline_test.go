package outline

import (
	"slices"
	"testing"
)

// TestMarks: headings, items and rows have levels, and blocks of code have none of them.
func TestMarks(t *testing.T) {
	t.Parallel()
	const text = "# A\n\n1. one\n- [x] two\n  - [ ] three\r\n```\n# four\n```\n| five |\n#six\n**seven**\n\n### Eight\n-nine\n"
	want := []Mark{{1, 1, false}, {3, 7, false}, {4, 8, true}, {5, 12, true}, {9, 8, false}, {13, 3, false}}
	if got := Marks(text); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
