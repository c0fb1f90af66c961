package git

import (
	"os"
	"path/filepath"
	"testing"
)

// Whoever writes another commit into an object's file does not change what is read of that commit.
func TestForgedCommit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git(t, dir, "init", "-q", ".")
	commit := func(content string) (string, string) {
		write(t, dir, "file", content)
		git(t, dir, "add", ".")
		git(t, dir, "commit", "-q", "-m", content)
		g, err := Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		head, err := g.HeadCommit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return head, filepath.Join(dir, ".git", "objects", head[:2], head[2:])
	}
	first, path := commit("first")
	_, other := commit("other")
	forged, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, forged, 0o600); err != nil {
		t.Fatal(err)
	}
	g, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if tree, err := g.Tree(t.Context(), first); err == nil {
		t.Errorf("Tree of a forged commit = %q, want an error", tree)
	}
}
