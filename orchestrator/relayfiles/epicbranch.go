package relayfiles

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"relay/attempts"
	"relay/orchestrator/git/integration"
	"relay/reanchor/git"
)

// LedgerViewOf returns what the ledger in dir knows of its epic's integration branch.
func LedgerViewOf(l *attempts.Ledger, dir string) integration.LedgerView {
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
	c.Ran = func(run string) bool {
		return slices.Contains(runs, run) || filepath.Base(run) == run && git.Exists(filepath.Join(dir, attempts.RunsDir, run, "epic.yml"))
	}
	return c
}

// RefuseForeign refuses an epic's integration branch with work that its ledger does not know and that HEAD does not have either.
func RefuseForeign(ctx context.Context, repo *git.Repo, epicID string, c integration.LedgerView) error {
	head, err := repo.Head(ctx)
	if err != nil || head == "" {
		return err
	}
	return integration.History{Branch: integration.NewBranch(repo, epicID, integration.Merge), Ledger: c, Head: head}.RefuseForeign(ctx)
}

// SetBranchAside renames the integration branch that the ledger in dir has made and HEAD has not taken in, before that ledger is
// put away, and reports whether it did. It leaves a branch that another checkout works on.
func SetBranchAside(ctx context.Context, repo *git.Repo, l *attempts.Ledger, to BranchAside) (moved bool, err error) {
	head, err := repo.Head(ctx)
	if err != nil || head == "" || l.Integration.Branch == "" || EpicFree(repo, to.Epic, to.Dir) != nil {
		return false, err
	}
	release, err := git.LockRepository(ctx, repo)
	if err != nil {
		return false, err
	}
	branch := integration.NewBranch(repo, to.Epic, integration.Merge)
	moved, err = integration.History{Branch: branch, Ledger: LedgerViewOf(l, to.Dir), Head: head}.RenameAside(ctx, to.Name)
	return moved, errors.Join(err, release())
}

// Adopted returns the state of an epic whose ledger is gone, as the trailers of the commits on its integration branch tell it: which tasks
// have landed, and from where. The branch belongs on the one that is checked out.
func Adopted(ctx context.Context, repo *git.Repo, epicID string) (*attempts.Accepted, error) {
	b, at := integration.NewBranch(repo, epicID, integration.Merge), attempts.Integration{Branch: "relay/" + epicID}
	tip, err := b.Tip(ctx)
	tip = cmp.Or(tip, "HEAD")
	from, detached := repo.Branch(ctx)
	base, apart := b.Git(ctx, nil, "merge-base", "HEAD", tip)
	out, unread := b.Git(ctx, nil, "-c", "trailer.separators=:", "log", "--no-show-signature", "--reverse", "--topo-order", "--basic-regexp",
		"--grep=^Relay-Epic: "+epicID+"$", "--format=%H%x00%cI%x00"+integration.Trailer("Relay-Run")+"%x00"+integration.Trailer("Relay-Task"),
		tip, "--")
	if err = errors.Join(err, detached, apart, unread); err != nil {
		return nil, err
	}
	at.From, at.Base = from, base
	tasks := map[string]attempts.TaskRecord{}
	for line := range strings.Lines(out) {
		c := strings.Split(line, "\x00")
		when, _ := time.Parse(time.RFC3339, c[1])
		for task := range strings.FieldsSeq(c[3]) {
			tasks[task] = attempts.TaskRecord{Completed: true, Attempts: []attempts.Attempt{{
				ID: 1, StartedAt: when.UTC(), EndedAt: when.UTC(), Result: attempts.ResultSuccess, Run: c[2], Head: c[0], Landed: c[0],
				Receipt: attempts.Receipt{Summary: "Rebuilt from commit " + c[0] + " of " + at.Branch + "."},
			}}}
		}
	}
	if len(tasks) == 0 {
		return nil, &attempts.RefusedError{Reason: "no task of epic " + epicID + " has landed on a branch " + at.Branch, Hint: "git branch --list 'relay/*' lists the branches"}
	}
	return &attempts.Accepted{Tasks: tasks, Base: &attempts.Base{EpicID: epicID, Integration: at, Part: 1, Parts: 1}}, nil
}

// BranchAside is the integration branch of an epic, which a ledger in Dir has made, and the Name it shall have.
type BranchAside struct{ Epic, Dir, Name string }
