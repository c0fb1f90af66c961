package slot

import (
	"testing"

	"relay/reanchor/git/repotest"
)

func TestMain(m *testing.M) { repotest.Main(m) }

// lab is a user's repository.
type lab struct{ *repotest.Repo }
