package bench

import (
	"context"
	"path/filepath"
	"strings"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/finish"
	"relay/orchestrator/git/integration"
	"relay/orchestrator/git/worktree"
	"relay/orchestrator/relayfiles"
	"relay/reanchor/git"
	"relay/runners"
)

// workedIn returns the isolation of an attempt that a killed run left open: "" when nothing had been prepared for its agent yet,
// and for IsolationShared, which leaves nothing of a task's own.
func workedIn(dir string, a engine.Attempt) engine.Isolation {
	switch {
	case git.Exists(filepath.Join(relayfiles.Of(dir, a).Folder, relayfiles.SlotFile)):
		return engine.IsolationWorktree
	case git.Exists(filepath.Join(dir, "runs", a.Run, relayfiles.UntrackedName)):
		return engine.IsolationNone
	}
	return ""
}

// RefuseOtherIsolation refuses a run that would look for work where it was not done: what a killed run left in slots is not in
// the checkout, and the other way round. here reports whether any is left where this run works.
func RefuseOtherIsolation(ctx context.Context, o *engine.LocalOptions, l *attempts.Ledger, left []engine.Attempt) (here bool, err error) {
	for _, open := range left {
		switch was := workedIn(o.Dir, open); was {
		case "":
		case o.Isolation:
			here = true
		default:
			return false, elsewhere(was, open.Task.ID+" was at work")
		}
	}
	return here, refuseMissingWork(ctx, o, l.Integration)
}

func elsewhere(was engine.Isolation, during string) error {
	return &attempts.RefusedError{
		Reason: "a run with isolation: " + string(was) + " was killed while " + during + ", and what was left is to be looked at there",
		Hint:   "relay work --isolation " + string(was) + " goes on with it",
	}
}

// refuseMissingWork refuses a run in the checkout whose tasks would begin without what completed ones have made, because that has
// landed on the integration branch only.
func refuseMissingWork(ctx context.Context, o *engine.LocalOptions, at attempts.Integration) error {
	if o.Isolation == engine.IsolationWorktree || at.Branch == "" || at.Finished != "" {
		return nil
	}
	head, err := o.Repo.Head(ctx)
	if err != nil {
		return err
	}
	if lacks, err := finish.Lacking(ctx, integration.NewBranch(o.Repo, o.Epic.ID, o.Landing), head); err != nil || lacks == "" {
		return err
	}
	return &attempts.RefusedError{
		Reason: "tasks of this epic have landed on " + at.Branch + ", and this checkout lacks their work",
		Hint:   "relay work --isolation worktree goes on there\nor type relay finish, then relay work",
	}
}

// RefuseUncommitted refuses a checkout in which a merge or the like is half done, or changes are not committed: they would be mixed up
// with an agent's.
func RefuseUncommitted(ctx context.Context, repo *git.Repo) error {
	if half := repo.Operation(); half != "" {
		return &attempts.RefusedError{Reason: "a " + half + " is half done in this checkout", Hint: "finish it, or end it as git status says, then relay work"}
	}
	changes, err := repo.Changes(ctx)
	if err != nil {
		return err
	}
	dirty := worktree.TrackedRecords(ctx, repo, changes)
	if len(dirty) == 0 {
		return nil
	}
	hint := worktree.CommitHint(ctx, repo, dirty, ", then relay work")
	return &attempts.RefusedError{Reason: "there are uncommitted changes in this checkout: " + plaintext.Listed(dirty), Hint: hint}
}

// RefuseUnread refuses a checkout in which a run was killed while reviewers read, if somebody has committed since: whose doing that is
// only a person can tell.
func RefuseUnread(ctx context.Context, repo *git.Repo, reading string) error {
	began, err := runners.ReadResultFile(reading)
	if err != nil {
		return nil //nolint:nilerr // no run was killed then
	}
	from := strings.TrimSpace(string(began))
	head, err := repo.Head(ctx)
	if err != nil || head == from {
		return err
	}
	return &attempts.RefusedError{
		Reason: "relay was killed while reviewers read or checks ran in this checkout, and there are commits since: git log -p " + from + "..HEAD",
		Hint: "git reset --hard " + from + " if they are not yours\n" +
			"rm " + plaintext.ShellWord(plaintext.Relative(repo.Root(), reading)) + ", then relay work",
	}
}
