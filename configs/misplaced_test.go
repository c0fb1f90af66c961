package configs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file that git tracks takes hosts away, and adds none.
func TestTrackedHosts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ own, tracked, want string }{
		{"open", "none", "none"},
		{"open", "[a.com]", "a.com"},
		{"[a.com, b.com]", "[b.com]", "b.com"},
		{"[a.com]", "none", "none"},
		{"[a.com]", "[a.com, b.com]", "a.com"},
		{"[a.com]", "open", "a.com"},
		{"none", "[a.com]", "none"},
		{"none", "open", "none"},
		{"none", "[]", ""},
	} {
		dir := t.TempDir()
		own := filepath.Join(dir, "own.yml")
		for name, list := range map[string]string{own: test.own, filepath.Join(dir, SharedFile): test.tracked} {
			if err := os.WriteFile(name, []byte("relay: {sandbox_network: {checks: "+list+"}}"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c, err := Load(Sources{Dir: dir, UserFile: own})
		if got := strings.Join(c.Relay.SandboxNetwork.Checks, " "); err != nil || got != test.want {
			t.Errorf("own %s, tracked %s: got %q, %v, want %q", test.own, test.tracked, got, err, test.want)
		}
		if warned := strings.Contains(strings.Join(c.Warnings, ""), "stricter"); warned != (test.want != strings.Trim(test.tracked, "[]")) {
			t.Errorf("own %s, tracked %s: %q", test.own, test.tracked, c.Warnings)
		}
	}
}

// A setting in the wrong place, or in a file of another name, is a warning; a number that may be octal is a mistake.
func TestMisplacedSettings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{SharedFile: "budget_usd: 5\nrelay:\n  jobs: 010\n", ".agents.yaml": "relay: {}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Load(Sources{Dir: dir})
	if err == nil || !strings.Contains(err.Error(), ":3:9: relay.jobs wants a number that does not begin with 0, got 010") {
		t.Errorf("got %v", err)
	}
	said := strings.Join(c.Warnings, "\n")
	for _, want := range []string{`:1:1: "budget_usd" is ignored: relay reads it below relay:, as relay.budget_usd`, ".agents.yaml is not read: relay reads .agents.yml"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q lacks %q", said, want)
		}
	}
}
