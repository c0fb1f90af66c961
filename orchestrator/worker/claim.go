package worker

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"relay/attempts"
	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/integration"
	"relay/orchestrator/runlock"
	"relay/reanchor"
)

// ClaimOf is what the ledger in dir knows of its epic's integration branch.
func ClaimOf(l *attempts.Ledger, dir string) integration.LedgerView {
	c := integration.LedgerView{Begun: l.Integration.Branch != "", Over: l.Integration.Finished != ""}
	var runs []string
	for _, rec := range l.Tasks {
		for i := range rec.Attempts {
			a := &rec.Attempts[i]
			runs = append(runs, a.Run)
			if a.Landed != "" {
				c.Landed = append(c.Landed, a.Landed)
			}
			if a.Landing != nil && a.Landing.Landed != "" {
				c.Landing = append(c.Landing, a.Landing.Landed)
			}
		}
	}
	slices.Sort(c.Landed)
	c.Landed = slices.Compact(c.Landed)
	c.Ran = func(run string) bool {
		return slices.Contains(runs, run) || filepath.Base(run) == run && exists(filepath.Join(dir, "runs", run, "epic.yml"))
	}
	return c
}

// Disputed refuses an epic's integration branch with work that is not the claimant's, and that HEAD does not have either.
func Disputed(ctx context.Context, repo *reanchor.Git, epicID string, c integration.LedgerView) error {
	head, err := repo.Head(ctx)
	if err != nil || head == "" {
		return err
	}
	return integration.NewBranch(repo, epicID, integration.Merge).RefuseForeign(ctx, head, c)
}

// SetAside renames the integration branch that the ledger in dir has made and HEAD has not taken in, before that ledger is
// put away, and reports whether it did. What another checkout works on stays.
func SetAside(ctx context.Context, repo *reanchor.Git, l *attempts.Ledger, to BranchOf) (moved bool, err error) {
	head, err := repo.Head(ctx)
	if err != nil || head == "" || l.Integration.Branch == "" || runlock.EpicFree(repo, to.Epic, to.Dir) != nil {
		return false, err
	}
	release, err := gitcmd.LockRepository(ctx, repo)
	if err != nil {
		return false, err
	}
	moved, err = integration.NewBranch(repo, to.Epic, integration.Merge).RenameAside(ctx, head, ClaimOf(l, to.Dir), to.Name)
	return moved, errors.Join(err, release())
}

// BranchOf is the integration branch of an epic, which a ledger in Dir has made, and the Name it shall have.
type BranchOf struct{ Epic, Dir, Name string }

// claims takes note of what the ledger knows of the integration branch, and refuses one that has another's work.
func (s *slotEngine) claims(ctx context.Context, known *attempts.Ledger) error {
	claim := ClaimOf(known, s.o.Dir)
	s.claim = &claim
	return s.integration.RefuseForeign(ctx, s.origin.Base, claim)
}
