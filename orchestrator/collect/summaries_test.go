package collect

import "testing"

// A summary says everything once, and counts the rounds of fixes.
func TestJoinSummaries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		said []string // at first, and after each round
		want string
	}{
		"something new":      {[]string{"Wrote it.", "Made it large."}, "Wrote it.\nMade it large. (after 1 round of fixes)"},
		"the same again":     {[]string{"Done.", "Done.", "Done."}, "Done. (after 2 rounds of fixes)"},
		"the first again":    {[]string{"Wrote it.", "Made it large.", "Wrote it."}, "Wrote it.\nMade it large. (after 2 rounds of fixes)"},
		"more of it":         {[]string{"Wrote it.", "Wrote it. Made it large."}, "Wrote it. Made it large. (after 1 round of fixes)"},
		"nothing":            {[]string{"Wrote it.", ""}, "Wrote it."},
		"nothing in between": {[]string{"Wrote it.", "", "Made it large."}, "Wrote it.\nMade it large. (after 2 rounds of fixes)"},
		"only later":         {[]string{"", "Made it large."}, "Made it large. (after 1 round of fixes)"},
	} {
		got := c.said[0]
		for i, now := range c.said[1:] {
			got = JoinSummaries(got, now, i+1)
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
