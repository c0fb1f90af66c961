package runners

import (
	"strings"
	"testing"
)

// Nobody knows half a secret for one: what is cut is cut between words, and of one that the cut goes through no more
// than a stub stays.
func TestCutsBetweenWords(t *testing.T) {
	t.Parallel()
	const word = "ThisIsOneLongWordThatNobodyShallSeeHalfOf"
	for before := 90; before < 100; before++ {
		text := strings.Repeat("x ", before/2) + strings.Repeat("y", before%2) + " " + word + " and more than that, on and on"
		for name, got := range map[string]string{"clean": CleanText(text, 120), "oneLine": OneLine(text, 120), "shorten": Shorten(text, 120)} {
			if strings.Contains(got, word[:stub+1]) || len(got) > 120 || len(got) < 60 {
				t.Errorf("%s: got %q", name, got)
			}
		}
	}
	if got := Shorten(strings.Repeat("z", 5000), 4000); len(got) != 4000 {
		t.Errorf("of a word longer than any secret %d bytes are left", len(got))
	}
}
