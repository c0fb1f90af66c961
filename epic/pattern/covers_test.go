package pattern

import "testing"

func TestCovers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		glob, path string
		want       bool
	}{
		{"a", "a", true},
		{"a", "a/b/c", true},
		{"a/", "a/b", true},
		{"./a", "a", true},
		{".", "x/y", true},
		{"./", "x", true},
		{"*", "a/b", true},
		{"a/*.go", "a/x.go", true},
		{"app/[id].js", "app/[id].js", true},
		{"app/[id]/**", "app/[id]/page.tsx", true},
		{"app/[[...all]]/*.tsx", "app/[[...all]]/page.tsx", true},
		{"app/[id]/*", "app/d/page.tsx", true},
		{"app/[id]/*", "app/x/page.tsx", false},
		{"a/**", "a", true},
		{"a", "ab", false},
		{"a/b", "a", false},
		{"?", "ab/c", false},
		{"a/*.go", "a/b/x.go", false},
		{"", "a", false},
		{"[", "a", false},
	} {
		if got := Covers(test.glob, test.path); got != test.want {
			t.Errorf("%q covers %q: got %v, want %v", test.glob, test.path, got, test.want)
		}
	}
}
