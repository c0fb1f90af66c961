package integration

import (
	"testing"

	"relay/reanchor/git/repotest"
)

func TestMain(m *testing.M) { repotest.Main(m) }

// lab is a repository in which something lands.
type lab struct{ *repotest.Repo }

// newLand makes one; options are for git init.
func newLand(t *testing.T, options ...string) *lab {
	t.Helper()
	return &lab{repotest.New(t, options...)}
}
