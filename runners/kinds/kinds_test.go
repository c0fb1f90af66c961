package kinds_test

import (
	"testing"

	"relay/runners/command"
	"relay/runners/kinds"
)

// TestTestedVersions fails when an adapter was tested on no version, or on none in between.
func TestTestedVersions(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{kinds.Claude, kinds.Codex, kinds.Gemini, kinds.Opencode} {
		r, err := kinds.New(nil, kinds.Agent{Type: kind})
		if err != nil {
			t.Fatal(err)
		}
		if r.Name() != kind {
			t.Errorf("%s is called %s", kind, r.Name())
		}
		if v := r.(interface{ Tested() command.VersionRange }).Tested(); v.Compare(v.Oldest) != 0 || v.Compare(v.Newest) != 0 || v.Oldest == "" {
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
