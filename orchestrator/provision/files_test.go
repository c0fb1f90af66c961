package provision

import (
	"strings"
	"testing"

	"relay/orchestrator/engine"
	"relay/orchestrator/repotest"
	"relay/reanchor"
)

func TestMain(m *testing.M) { repotest.Main(m) }

// Without a setting git has a place for what is ignored everywhere.
func TestUsersExcludes(t *testing.T) {
	t.Parallel()
	r := &repotest.Repo{T: t, Root: t.TempDir()}
	r.Git("init", "-q")
	home, err := reanchor.OpenGit(t.Context(), r.Root)
	if err != nil {
		t.Fatal(err)
	}
	for env, want := range map[string]string{"HOME=/h": "/h/.config/git/ignore", "XDG_CONFIG_HOME=/x HOME=/h": "/x/git/ignore", "HOME=/h XDG_CONFIG_HOME=": "/h/.config/git/ignore", "": ""} {
		if got := New(home, &engine.LocalOptions{Options: engine.Options{Env: strings.Fields(env)}}).usersExcludes(t.Context()); got != want {
			t.Errorf("%s: got %q, want %q", env, got, want)
		}
	}
}
