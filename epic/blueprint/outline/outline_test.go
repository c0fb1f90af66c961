package outline

import (
	"slices"
	"testing"
)

// TestMarks: headings, items and rows have levels, and blocks of code have none of them.
func TestMarks(t *testing.T) {
	t.Parallel()
	const text = "# A\n\n1. one\n- [x] two\n  - [ ] three\r\n```\n# four\n```\n| five |\n#six\n**seven**\n\n**Task 8: bold** text\n### Eight\n-nine\n"
	want := []Mark{{1, 1, false}, {3, 8, false}, {4, 9, true}, {5, 13, true}, {9, 9, false}, {13, 7, false}, {14, 3, false}}
	if got, _ := Marks(text); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
