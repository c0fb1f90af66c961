package project

import (
	"path/filepath"
	"testing"

	"relay/configs"
)

// Two repositories that name one folder must not take each other's worktrees for their own.
func TestWorktreesOfTwoRepositoriesLieApart(t *testing.T) {
	t.Parallel()
	at := func(root, dir string) string {
		p := &Project{Root: root, Dir: filepath.Join(root, ".agents-os", "relay"), Config: &configs.Config{}}
		p.Config.Relay.Worktree.Dir = dir
		return p.Worktrees().Dir
	}
	outside := t.TempDir()
	root := filepath.Join(outside, "a", "app")
	if got, want := at(root, ""), filepath.Join(root, ".agents-os", "relay", "worktrees"); got != want {
		t.Errorf("no folder named: got %s, want %s", got, want)
	}
	for _, dir := range []string{"trees", root + string(filepath.Separator) + "trees"} {
		if got, want := filepath.Dir(at(root, dir)), filepath.Join(root, "trees"); got != want {
			t.Errorf("%q: it lies in %s, want %s", dir, got, want)
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
