package kinds_test

import (
	"testing"

	"relay/runners/command"
	"relay/runners/kinds"
)

// TestTestedVersions fails when an adapter was tested on no version, or on none in between.
func TestTestedVersions(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds.Types() {
		r, err := kinds.New(nil, kinds.Agent{Type: kind})
		if err != nil {
			t.Fatal(err)
		}
		if r.Name() != kind {
			t.Errorf("%s is called %s", kind, r.Name())
		}
		tested, ok := r.(interface{ Tested() command.VersionRange })
		if !ok {
			t.Errorf("%s does not say which versions it was tested on", kind)
			continue
		}
		if v := tested.Tested(); v.Compare(v.Oldest) != 0 || v.Compare(v.Newest) != 0 || v.Oldest == "" {
			t.Errorf("%s: %s", kind, v)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for want, a := range map[string]kinds.Agent{
		`agent a has type "b", which this relay does not know`:                     {Name: "a", Type: "b"},
		`opencode has no permission "all", only auto, config, readonly, workspace`: {Type: kinds.Opencode, Permission: "all"},
	} {
		if r, err := kinds.New(nil, a); err == nil || err.Error() != want || r != nil {
			t.Errorf("got %v, %v, want %s", r, err, want)
		}
	}
}

func TestSteers(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		".claude": true, ".mcp.json": true, "CLAUDE.md": true, "CLAUDE.local.md": true, ".codex": true, "AGENTS.md": true, "GEMINI.md": true, "opencode.jsonc": true,
		"claude": false, "README.md": false, "opencode.md": false, "MY_CLAUDE.md": false, ".claude.bak": false,
	} {
		if kinds.Steers(name) != want {
			t.Errorf("%s: want %v", name, want)
		}
	}
}
