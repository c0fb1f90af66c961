package epic

import (
	"strings"
	"testing"
)

func TestLongestNames(t *testing.T) {
	t.Parallel()
	name := func(n int) string { return strings.Repeat("a", n) }
	if fault, _ := epicIDFault(name(64)); fault != "" {
		t.Errorf("an id of 64 letters: %s", fault)
	}
	if fault, _ := epicIDFault(name(65)); fault == "" {
		t.Error("an id of 65 letters is allowed")
	}
	for text, want := range map[string]bool{name(60): true, name(61): false, "": false, "a b": false} {
		if got := isWord(text); got != want {
			t.Errorf("isWord(%q) = %v", text, got)
		}
	}
}
