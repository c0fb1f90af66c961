package orchestrator

import (
	"context"
	"path/filepath"
	"slices"

	"relay/attempts"
	"relay/orchestrator/landing"
	"relay/reanchor"
)

// ClaimOf is what the ledger in dir knows of its epic's integration branch.
func ClaimOf(l *attempts.Ledger, dir string) landing.Claim {
	c := landing.Claim{Begun: l.Integration.Branch != "", Over: l.Integration.Finished != ""}
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
func Disputed(ctx context.Context, repo *reanchor.Git, epicID string, c landing.Claim) error {
	head, err := repo.Head(ctx)
	if err != nil || head == "" {
		return err
	}
	return landing.NewTrunk(repo, epicID, landing.Merge).Disputed(ctx, head, c)
}

// claims takes note of what the ledger knows of the integration branch, and refuses one that has another's work.
func (l *lanes) claims(ctx context.Context, known *attempts.Ledger) error {
	claim := ClaimOf(known, l.o.Dir)
	l.claim = &claim
	return l.trunk.Disputed(ctx, l.origin.Base, claim)
}
