package orchestrator

import (
	"strings"
	"testing"

	"relay/attempts"
)

func TestRedactor(t *testing.T) {
	t.Parallel()
	r := newRedactor([]string{
		"PATH=/usr/bin:/bin", "A_KEY=abcdefghijklmnop", "A_VERY_LONG_NAME_OF_A_TOKEN=abcdefgh", "SHORT_TOKEN=1234567", "EMPTY_SECRET=",
		"PEM_KEY=-----BEGIN-----\nMIIEvQIBADANBgkq\n-----END-----", "TokenLower=hunter2hunter2", "NOVALUE_KEY",
	})
	for in, want := range map[string]string{
		"say abcdefghijklmnop":          "say [redacted A_KEY]", // and not the rest of it behind a shorter secret
		"say abcdefgh.":                 "say [redacted A_VERY_LONG_NAME_OF_A_TOKEN].",
		"1234567 in /usr/bin:/bin":      "1234567 in /usr/bin:/bin",
		"key: MIIEvQIBADANBgkq":         "key: [redacted PEM_KEY]",
		"hunter2hunter2hunter2hunter2!": "[redacted TokenLower][redacted TokenLower]!",
	} {
		if got := r.text(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	secret := "abcdefghijklmnop"
	in := attempts.Receipt{
		Summary: secret, ErrorSummary: secret, Findings: secret, Suggestion: secret, Learning: secret, Claimed: secret, DiffStat: secret,
		FilesChanged: []string{secret}, PatternTags: []string{secret}, Checks: []attempts.CheckRun{{Name: secret, Tail: secret}},
	}
	out := r.receipt(in)
	told := strings.Join(append(append(out.FilesChanged, out.PatternTags...), out.Summary, out.ErrorSummary, out.Findings, out.Suggestion,
		out.Learning, out.Claimed, out.DiffStat, out.Checks[0].Name, out.Checks[0].Tail), " ")
	if strings.Contains(told, "abc") || strings.Count(told, "redacted") != 11 {
		t.Errorf("got %s", told)
	}
	if in.Checks[0].Tail != secret || in.FilesChanged[0] != secret {
		t.Error("the receipt it was given was changed")
	}
}
