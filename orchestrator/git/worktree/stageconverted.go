package worktree

import (
	"context"
	"slices"
	"strings"

	"relay/orchestrator/git/gitcmd"
)

// index is what of a checkout's files is staged, and is committed.
type index struct{ tree *Tree }

// nothingStaged reports whether the index is as HEAD has it.
func (x index) nothingStaged(ctx context.Context) (bool, error) {
	quiet := func() bool {
		_, err := x.tree.git(ctx, nil, "diff", "--cached", "--quiet", "--ignore-submodules=none")
		return err == nil
	}
	if quiet() {
		return true, nil
	}
	unstaged, err := x.unstageConverted(ctx)
	return unstaged && err == nil && quiet(), err
}

func (x index) headUnless(ctx context.Context, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return x.tree.Head(ctx)
}

// unstageConverted takes files out of the index again that only git's conversions have changed, which is no work, and
// reports whether there were any.
func (x index) unstageConverted(ctx context.Context) (bool, error) {
	out, err := x.tree.git(ctx, nil, "diff", "--cached", "--name-only", "--no-renames", "--diff-filter=M", "-z", "HEAD", "--")
	if err != nil || len(out) == 0 {
		return false, err
	}
	staged := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	changed := gitcmd.Unconverted(ctx, x.tree.Repo, "HEAD", slices.Clone(staged))
	same := slices.DeleteFunc(staged, func(p string) bool { return slices.Contains(changed, p) })
	if len(same) == 0 {
		return false, nil
	}
	_, err = x.tree.git(ctx, strings.NewReader(strings.Join(same, "\x00")),
		"reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul")
	return true, err
}
