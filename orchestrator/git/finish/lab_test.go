package finish

import (
	"testing"

	"relay/reanchor/git/repotest"
)

// lab is a repository in which an epic's integration branch is put onto a branch of the user's.
type lab struct{ *repotest.Repo }

func TestMain(m *testing.M) { repotest.Main(m) }

// newLab makes one.
func newLab(t *testing.T) *lab {
	t.Helper()
	return &lab{repotest.New(t)}
}
