package slot

import (
	"os"
	"testing"

	"relay/orchestrator/repotest"
)

// What git may not look into would be lost unseen.
func TestUnsavedInProtectedFolders(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("nothing is protected against root")
	}
	l := repotest.New(t)
	l.Sh(`mkdir -p own/deep priv/deep keep; echo x > own/deep/f; echo x > priv/deep/f; echo x > keep/f; chmod 000 own/deep priv/deep priv; chmod 0300 own keep`)
	t.Cleanup(func() { l.Sh(`chmod 700 own priv keep; chmod 700 own/deep priv/deep`) })
	why, err := UnsavedWorktree(l.Context(), l.Open())
	if err != nil {
		t.Fatal(err)
	}
	if want := "folders that git may not look into: keep/, own/, priv/"; why != want {
		t.Errorf("got %q, want %q", why, want)
	}
}
