package runners

import (
	"os"
	"path/filepath"
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
		for name, got := range map[string]string{"clean": clean(text, 120), "oneLine": oneLine(text, 120), "shorten": shorten(text, 120)} {
			if strings.Contains(got, word[:stub+1]) || len(got) > 120 || len(got) < 60 {
				t.Errorf("%s: got %q", name, got)
			}
		}
		if got := lastWords(strings.Repeat("a ", 40)+word+" "+text[:before], 110); strings.Contains(got, word[len(word)-5:]) {
			t.Errorf("lastWords: got %q", got)
		}
	}
	if got := shorten(strings.Repeat("z", 5000), 4000); len(got) != 4000 {
		t.Errorf("of a word longer than any secret %d bytes are left", len(got))
	}
	log := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(log, []byte("begin "+word+" end of it"), 0o600); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int64]string{20: " end of it", 10: " end of it", 1000: "begin " + word + " end of it"} {
		if got, err := lastBytes(log, limit); string(got) != want || err != nil {
			t.Errorf("the last %d bytes: got %q (%v), want %q", limit, got, err, want)
		}
	}
}
