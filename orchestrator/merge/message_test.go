package merge

import (
	"testing"

	"relay/reanchor/git"
	"relay/reanchor/git/repotest"
)

func TestMain(m *testing.M) { repotest.Main(m) }

// Where git cannot say which tasks have landed, nobody is named.
func TestSinceOfNoCommits(t *testing.T) {
	t.Parallel()
	r := &repotest.Repo{T: t, Root: t.TempDir()}
	r.Git("init", "-q")
	home, err := git.Open(t.Context(), r.Root)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := since(t.Context(), home, "no", "where"), "the integration branch"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
