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

// TestRelabelled: a label in front makes no other task of a title.
func TestRelabelled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"Phase 2: Store the times", "Store the times", true},
		{"Store the times", "T1 — Store the times", true},
		{"Store the times", "Store the times", false},
		{"Do not Store the times", "Store the times", false},
		{"1. B", "B", false},
	} {
		if got := Relabelled(c.a, c.b); got != c.want {
			t.Errorf("Relabelled(%q, %q) is %v", c.a, c.b, got)
		}
	}
}
