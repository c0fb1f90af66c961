package finish

import (
	"context"
	"strings"

	"relay/orchestrator/text"
)

// checkComplete refuses a branch from which somebody has taken what had landed, unless Into has that: relay's own ref still has it, and all of
// it would be landed without a word.
func (f *Step) checkComplete(ctx context.Context) error {
	own, branch, err := f.branch.Position(ctx)
	if err != nil || own == "" || branch == "" || own == branch {
		return err
	}
	if ahead, err := f.branch.Contains(ctx, branch, own); err != nil || ahead {
		return err
	}
	if late, err := f.lagging(ctx, own, branch); err != nil || late {
		return err
	}
	if c, err := Compare(ctx, f.branch, f.Old, own); err != nil || c.All { // it was rebased, say
		f.Tip = branch
		return err
	}
	lacking, err := f.branch.Git(ctx, nil, "rev-list", "--count", branch+".."+own, "--")
	if err != nil {
		return err
	}
	back := "git branch -f " + f.Name + " " + own
	if here, err := f.branch.Repo.Branch(ctx); err == nil && here == f.Name {
		back = "git reset --keep " + own
	}
	return &text.RefusedError{
		Reason: f.Name + " lacks commits that have landed on it: " + lacking,
		Hint:   "git update-ref " + f.branch.Ref() + " " + f.Name + ", then relay finish, lands it as it is\n" + back + " has it all again",
	}
}

// Has reports whether a commit of the integration branch is in what is landed.
func (f *Step) Has(ctx context.Context, commit string) (bool, error) {
	return f.branch.Holds(ctx, commit)
}

// lagging reports whether the branch has only not followed, as one that was checked out does: it never was anywhere but on
// its way to where it is.
func (f *Step) lagging(ctx context.Context, own, branch string) (bool, error) {
	if behind, err := f.branch.Contains(ctx, own, branch); err != nil || !behind {
		return false, err
	}
	been, err := f.branch.Git(ctx, nil, "log", "-g", "--max-count=1000", "--format=%H", f.branch.BranchRef(), "--")
	if err != nil || been == "" { // without a log nobody knows
		return false, err
	}
	further, err := f.branch.Git(ctx, strings.NewReader(been+"\n^"+branch+"\n"), "rev-list", "--ignore-missing", "--max-count=1", "--stdin")
	return further == "" && err == nil, err
}
