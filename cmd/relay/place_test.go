package main

import (
	"path/filepath"
	"testing"

	"relay/configs"
)

// Two repositories that name one folder outside of them must not take each other's worktrees for their own.
func TestWorktreesOfTwoRepositoriesLieApart(t *testing.T) {
	t.Parallel()
	at := func(root, dir string) string {
		p := &place{root: root, dir: filepath.Join(root, ".agents-os", "relay"), config: &configs.Config{}}
		p.config.Relay.Worktree.Dir = dir
		return p.worktrees().Dir
	}
	outside := t.TempDir()
	root := filepath.Join(outside, "a", "app")
	for dir, want := range map[string]string{
		"":      filepath.Join(root, ".agents-os", "relay", "worktrees"),
		"trees": filepath.Join(root, "trees"),
		root + string(filepath.Separator) + "trees": filepath.Join(root, "trees"),
	} {
		if got := at(root, dir); got != want {
			t.Errorf("%q: got %s, want %s", dir, got, want)
		}
	}
	for _, dir := range []string{outside, "../beside"} {
		one, other := at(root, dir), at(filepath.Join(outside, "b", "app"), dir)
		if one == other {
			t.Errorf("%q: both in %s", dir, one)
		}
		if filepath.Base(filepath.Dir(one)) != filepath.Base(dir) {
			t.Errorf("%q: got %s", dir, one)
		}
	}
}
