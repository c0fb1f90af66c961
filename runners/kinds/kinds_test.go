package kinds_test

import (
	"testing"

	"relay/runners/kinds"
	"relay/runners/version"
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
		if v := r.(interface{ Tested() version.Range }).Tested(); v.Compare(v.Oldest) != 0 || v.Compare(v.Newest) != 0 || v.Oldest == "" {
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

// TestWhyNoFork fails when a CLI is asked to go on from a place in a session without being able to, or is not though it can.
func TestWhyNoFork(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		kinds.Claude:   "",
		kinds.Gemini:   "",
		kinds.Codex:    "codex goes on in a copy of a whole session only",
		kinds.Opencode: "opencode goes on in a copy of a whole session only, and in the folder in which that began",
		kinds.Command:  "such an agent keeps no sessions",
	} {
		if got := kinds.WhyNoFork(kind); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}
