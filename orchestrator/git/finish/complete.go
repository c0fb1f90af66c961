package finish

import (
	"context"
	"strings"

	"relay/orchestrator/git/integration"
	"relay/orchestrator/text"
)

// checkComplete refuses a branch from which somebody has taken what had landed: relay's own ref still has it, and all of it
// would be landed without a word.
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

// alreadyLanded reports whether Into contains all of the tip, as containsAll does. It fails when some of what would
// land is not this ledger's.
func (f *Step) alreadyLanded(ctx context.Context, c integration.LedgerView) (bool, error) {
	there, err := f.containsAll(ctx)
	if err == nil && !there {
		err = f.branch.RefuseMixed(ctx, f.Tip, f.Old, c)
	}
	return there, err
}

// containsAll reports whether Into has everything of the branch: as it is, or as other commits that come to the same.
func (f *Step) containsAll(ctx context.Context) (bool, error) {
	if held, err := f.branch.Contains(ctx, f.Old, f.Tip); err != nil || held {
		return held, err
	}
	if straight, err := f.branch.Contains(ctx, f.Tip, f.Old); err != nil || straight {
		return false, err
	}
	merged, err := f.branch.MergeTrees(ctx, f.Old, f.Tip)
	if err != nil {
		return false, ctx.Err() // whoever makes the step is told
	}
	tree, err := f.branch.Git(ctx, nil, "rev-parse", "--verify", f.Old+"^{tree}")
	return merged == tree, err
}
