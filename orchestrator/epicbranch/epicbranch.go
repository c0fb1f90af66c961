// Package epicbranch tells whose an epic's integration branch is: the ledger that has made it, or another one of the same epic id.
package epicbranch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"relay/attempts"
	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/integration"
	"relay/orchestrator/runlock"
	"relay/reanchor"
)

// ViewOf returns what the ledger in dir knows of its epic's integration branch.
func ViewOf(l *attempts.Ledger, dir string) integration.LedgerView {
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
		return slices.Contains(runs, run) || filepath.Base(run) == run && exists(filepath.Join(dir, attempts.RunsDir, run, "epic.yml"))
	}
	return c
}

// RefuseForeign refuses an epic's integration branch with work that its ledger does not know and that HEAD does not have either.
func RefuseForeign(ctx context.Context, repo *reanchor.Git, epicID string, c integration.LedgerView) error {
	head, err := repo.Head(ctx)
	if err != nil || head == "" {
		return err
	}
	return integration.NewBranch(repo, epicID, integration.Merge).RefuseForeign(ctx, head, c)
}

// SetAside renames the integration branch that the ledger in dir has made and HEAD has not taken in, before that ledger is
// put away, and reports whether it did. What another checkout works on stays.
func SetAside(ctx context.Context, repo *reanchor.Git, l *attempts.Ledger, to Aside) (moved bool, err error) {
	head, err := repo.Head(ctx)
	if err != nil || head == "" || l.Integration.Branch == "" || runlock.EpicFree(repo, to.Epic, to.Dir) != nil {
		return false, err
	}
	release, err := gitcmd.LockRepository(ctx, repo)
	if err != nil {
		return false, err
	}
	moved, err = integration.NewBranch(repo, to.Epic, integration.Merge).RenameAside(ctx, head, ViewOf(l, to.Dir), to.Name)
	return moved, errors.Join(err, release())
}

// Aside is the integration branch of an epic, which a ledger in Dir has made, and the Name it shall have.
type Aside struct{ Epic, Dir, Name string }

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
