package checks

import (
	"slices"
	"testing"
)

// A check that is repeated does not get a result that Go remembers.
func TestUncached(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	env := []string{"A=1", "GOFLAGS=-mod=mod"}
	if got := uncached(env); !slices.Equal(got, []string{"A=1", "GOFLAGS=-mod=mod -count=1"}) || env[1] != "GOFLAGS=-mod=mod" {
		t.Errorf("got %q, of %q", got, env)
	}
	if got := uncached(nil); !slices.Equal(got, []string{"GOFLAGS= -count=1"}) {
		t.Errorf("got %q", got)
	}
}
