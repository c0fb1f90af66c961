package session

import "testing"

// Nothing that gives access to a remote is in its address as relay records it.
func TestRemoteWithoutCredentials(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"":                                  "",
		"https://example.org/a/b.git":       "https://example.org/a/b.git",
		"https://ada:s3cret@example.org/a":  "https://example.org/a",
		"https://s3cret@example.org/a":      "https://example.org/a",
		"https://example.org/a?token=s#s":   "https://example.org/a",
		"ssh://git:s3cret@example.org:22/a": "ssh://git@example.org:22/a",
		"git@example.org:a/b.git":           "git@example.org:a/b.git",
		"git:s3cret@example.org:a/b.git":    "example.org:a/b.git",
		"/srv/git/a@b:c.git":                "/srv/git/a@b:c.git",
		"../up.git":                         "../up.git",
		"https://ada:s3 cret@exa mple/\x01": "",
		"https://ada:%zz@example.org/a":     "",
	} {
		if got := withoutCredentials(address); got != want {
			t.Errorf("%q: got %q, want %q", address, got, want)
		}
	}
}
