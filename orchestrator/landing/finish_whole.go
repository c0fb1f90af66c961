package landing

import (
	"context"
	"strings"

	"relay/orchestrator/text"
)

// whole refuses a branch from which somebody has taken what had landed: relay's own ref still has it, and all of it
// would be landed without a word.
func (f *Finish) whole(ctx context.Context) error {
	own, branch, err := f.trunk.stands(ctx)
	if err != nil || own == "" || branch == "" || own == branch {
		return err
	}
	if ahead, err := f.trunk.Contains(ctx, branch, own); err != nil || ahead {
		return err
	}
	if late, err := f.late(ctx, own, branch); err != nil || late {
		return err
	}
	lacking, err := f.trunk.git(ctx, nil, "rev-list", "--count", branch+".."+own, "--")
	if err != nil {
		return err
	}
	back := "git branch -f " + f.Branch + " " + own
	if here, err := f.trunk.repo.Branch(ctx); err == nil && here == f.Branch {
		back = "git reset --keep " + own
	}
	return &text.RefusedError{Reason: f.Branch + " lacks commits that have landed on it: " + lacking,
		Hint: "git update-ref " + f.trunk.Ref() + " " + f.Branch + ", then relay finish, lands it as it is; " + back + " has it all again"}
}

// Has reports whether a commit of the integration branch is in what is landed.
func (f *Finish) Has(ctx context.Context, commit string) (bool, error) {
	return f.trunk.Holds(ctx, commit)
}

// late reports whether the branch has only not followed, as one that was checked out does: it never was anywhere but on
// its way to where it is.
func (f *Finish) late(ctx context.Context, own, branch string) (bool, error) {
	if behind, err := f.trunk.Contains(ctx, own, branch); err != nil || !behind {
		return false, err
	}
	been, err := f.trunk.git(ctx, nil, "log", "-g", "--max-count=1000", "--format=%H", f.trunk.branch(), "--")
	if err != nil || been == "" { // without a log nobody knows
		return false, err
	}
	further, err := f.trunk.git(ctx, strings.NewReader(been+"\n^"+branch+"\n"), "rev-list", "--ignore-missing", "--max-count=1", "--stdin")
	return further == "" && err == nil, err
}

// done is there, and refuses to land what is not all this ledger's.
func (f *Finish) done(ctx context.Context, c Claim) (bool, error) {
	there, err := f.there(ctx)
	if err == nil && !there {
		err = f.trunk.unmixed(ctx, f.Tip, f.Old, c)
	}
	return there, err
}

// there reports whether Into has everything of the branch: as it is, or as other commits that come to the same.
func (f *Finish) there(ctx context.Context) (bool, error) {
	if held, err := f.trunk.Contains(ctx, f.Old, f.Tip); err != nil || held {
		return held, err
	}
	if straight, err := f.trunk.Contains(ctx, f.Tip, f.Old); err != nil || straight {
		return false, err
	}
	merged, err := f.trunk.merge(ctx, f.Old, f.Tip)
	if err != nil {
		return false, ctx.Err() // whoever makes the step is told
	}
	tree, err := f.trunk.git(ctx, nil, "rev-parse", "--verify", f.Old+"^{tree}")
	return merged == tree, err
}
