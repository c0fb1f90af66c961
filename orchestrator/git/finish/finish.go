// Package finish ends an epic in git: it lands the integration branch on one of the user's branches, and finds the branches and the
// remains of ended runs.
//
// finish.go puts an epic's integration branch onto a branch of the user's: it plans the step, refuses what would overwrite or land
// something unseen, takes the step, and pushes. How two histories are joined is in package integration.
//
// remains.go lists and removes what runs that are over have left behind: slots, branches of tasks, copies of .git. Plans and forks are no
// runs, and have folders for their slots that are named and held here.
//
// taskbranch.go is about the branches that tasks work on: which there are, why one must stay, how one is deleted.
package finish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"relay/attempts"
	"relay/epic"
	"relay/epic/plaintext"
	"relay/orchestrator/git/integration"
	"relay/reanchor/git"
)

// Options say what becomes of an epic's integration branch.
type Options struct {
	Git     *git.Repo // the user's checkout
	Epic    *epic.Epic
	Into    string // branch that shall have the work, without refs/heads/
	Base    string // commit that the epic began from; "" : it is not known
	Landing integration.Mode
	Sign    bool // what is made for Into is signed, as git is set up
	Apart   bool // Into is not to be moved here: the work is proposed elsewhere
	Ledger  integration.LedgerView
}

// Step is the step that puts an epic's integration branch onto a branch of the user's. It is made in the object
// database and has not been taken.
type Step struct {
	Name    string // the integration branch, without refs/heads/
	Tip     string // commit it ends in
	Into    string
	Old     string // commit that Into is at
	New     string // commit it shall be at; Old when there is nothing to do
	How     How
	Commits int      // that Into gets
	Here    bool     // Into is checked out in the user's checkout
	Dropped []string // commits that the branch began from or followed, taken off Into since, each with its subject: they stay off
	Content Content  // what Into has of the branch already

	uncommitted []git.Change // in the user's checkout, where Into is checked out there
	ledger      bool         // the step changes the ledger of LedgerSync that is checked out
	offered     string       // commit that is proposed: Tip, or what of it Into has not
	branch      *integration.Branch
}

// How says in which way a branch takes another in.
type How string

// Ways of a [Step].
const (
	NothingToLand How = "nothing"
	Proposal      How = "proposal" // elsewhere, on a host
	FastForward   How = "fast-forward"
	MergeCommit   How = "merge"
	Replay        How = "rebase"
)

// Plan makes the step, and looks for whatever would be in its way. Its error is a [*attempts.RefusedError] with commands to type if the
// step cannot be taken.
func Plan(ctx context.Context, o Options) (*Step, error) {
	f := &Step{Into: o.Into, branch: integration.NewBranch(o.Git, o.Epic.ID, o.Landing)}
	f.branch.Signer.On = o.Sign
	err := findEnds(ctx, f, o)
	if err != nil {
		return nil, err
	}
	f.How, f.New, f.offered = NothingToLand, f.Old, f.Tip
	if f.Content, err = Compare(ctx, f.branch, f.Old, f.Tip); err != nil || f.Content.All {
		return f, err
	}
	err = integration.History{Branch: f.branch, Ledger: o.Ledger, Head: f.Old}.RefuseMixed(ctx, f.Tip)
	if err == nil && !o.Apart {
		err = f.checkTarget(ctx)
	}
	if err == nil {
		err = f.build(ctx, o)
	}
	if err != nil {
		return nil, err
	}
	if f.Commits, err = count(ctx, f, f.New); err != nil {
		return nil, err
	}
	if o.Apart && f.How != NothingToLand {
		f.How, f.New, f.offered = Proposal, f.Old, f.New
	}
	return f, f.checkOverwrites(ctx)
}

// findEnds finds the commits that the branch and Into are at, and refuses what cannot be landed or landed on.
func findEnds(ctx context.Context, f *Step, o Options) error {
	f.Name = strings.TrimPrefix(f.branch.BranchRef(), "refs/heads/")
	own, branch, err := f.branch.Position(ctx)
	if err != nil {
		return err
	}
	if own == "" && branch == "" {
		return &attempts.RefusedError{
			Reason: "there is no branch " + f.Name + ": no task of this epic has worked in a worktree",
			Hint:   "with isolation none or shared the work is in your checkout: git log, git status\nwith isolation worktree relay work makes the branch\nrelay init --adopt relay/EPIC PLAN, if the ledger of an earlier day is gone",
		}
	}
	if !o.Ledger.Begun && f.Into == "" {
		mixed := integration.History{Branch: f.branch, Ledger: o.Ledger, Head: "HEAD"}.RefuseMixed(ctx, cmp.Or(branch, own))
		return cmp.Or(mixed, error(&attempts.RefusedError{
			Reason: "this epic's ledger does not know " + f.Name + ": no run of it has worked there", Hint: "relay finish --into BRANCH names the branch it belongs on",
		}))
	}
	if err = f.resolve(ctx); err != nil {
		return err
	}
	if f.Old, err = o.Git.Ref(ctx, "refs/heads/"+f.Into); err != nil {
		return err
	}
	if f.Old == "" {
		return &attempts.RefusedError{Reason: "there is no branch " + f.Into, Hint: "relay finish --into BRANCH names another"}
	}
	if err = f.checkComplete(ctx, own, branch); err == nil && f.Tip == "" {
		f.Tip, err = f.branch.Tip(ctx)
	}
	return err
}

// resolve refuses a target that is none, and takes a name that stands for another branch for that branch: what moves is
// that one, and somebody may have it checked out.
func (f *Step) resolve(ctx context.Context) error {
	if f.Into == "" {
		return &attempts.RefusedError{
			Reason: "it is not known which branch " + f.Name + " belongs on: HEAD was detached when the epic began",
			Hint:   "relay finish --into BRANCH names it\ngit branch NAME " + f.Name + " keeps the work under another name",
		}
	}
	if _, err := f.branch.Git(ctx, nil, "check-ref-format", "refs/heads/"+f.Into); err != nil && ctx.Err() == nil {
		return &attempts.RefusedError{Reason: "there is no branch " + f.Into, Hint: "relay finish --into BRANCH names another"}
	}
	if target, err := f.branch.Git(ctx, nil, "symbolic-ref", "--quiet", "refs/heads/"+f.Into); err == nil {
		into, branch := strings.CutPrefix(target, "refs/heads/")
		if !branch {
			return &attempts.RefusedError{Reason: f.Into + " stands for " + target + ", which is not a branch", Hint: "relay finish --into BRANCH names another"}
		}
		f.Into = into
	}
	if f.Into == f.Name {
		return &attempts.RefusedError{Reason: f.Into + " is the branch to be landed itself", Hint: "relay finish --into BRANCH names another"}
	}
	return ctx.Err()
}

// checkTarget refuses a branch that somebody is at work on.
func (f *Step) checkTarget(ctx context.Context) error {
	facts, err := f.branch.Repo.Facts(ctx, 0)
	if err != nil {
		return err
	}
	f.Here = facts.Branch == f.Into
	if facts.Unmerged {
		return &attempts.RefusedError{Reason: "a merge, rebase or the like is half done in this checkout", Hint: "git status says how to finish it and how to abort it; then relay finish"}
	}
	if f.Here {
		f.uncommitted = slices.DeleteFunc(facts.Changes, func(c git.Change) bool { return f.united(ctx, c.Path) })
		return nil
	}
	where, rebased, err := git.CheckedOut(ctx, f.branch.Repo, "refs/heads/"+f.Into)
	switch {
	case err == nil && rebased:
		return &attempts.RefusedError{Reason: "a rebase or bisection that began on " + f.Into + " has not come to its end", Hint: "finish it, or git rebase --abort or git bisect reset; then relay finish"}
	case err != nil || where == "":
		return err
	}
	if _, err := os.Lstat(where); err != nil {
		return &attempts.RefusedError{Reason: f.Into + " is checked out in " + where + ", a worktree that is not there any more", Hint: "git worktree prune, then relay finish"}
	}
	return &attempts.RefusedError{
		Reason: f.Into + " is checked out in " + where + ", another worktree of this repository",
		Hint:   "git -C " + plaintext.ShellWord(where) + " merge " + tipName(ctx, f),
	}
}

// build makes the commit that Into shall be at. A commit that was taken off Into, or that it has as another, is not brought.
func (f *Step) build(ctx context.Context, o Options) (err error) {
	if f.Dropped, err = dropped(ctx, f, o); err != nil {
		return err
	}
	straight, err := git.Contains(ctx, f.branch.Repo, f.Tip, f.Old)
	if err != nil {
		return err
	}
	base, off := cmp.Or(f.Content.Upto, f.Old), len(f.Dropped) > 0
	always := off || base != f.Old || !o.Apart && (o.Landing == integration.Rebase || o.Landing == integration.Squash)
	if off {
		base = o.Base
	}
	if off || !straight {
		if done, err := f.replay(ctx, base, always); err != nil || done {
			return conflictHint(ctx, f, err, base)
		}
	}
	switch {
	case off:
		return &attempts.RefusedError{
			Reason: fmt.Sprintf("%s has no longer what %s began from or followed (%s), and the work cannot be replayed without it", f.Into, f.Name, plaintext.Listed(f.Dropped)),
			Hint:   "git merge " + tipName(ctx, f) + " brings it back, if you want that",
		}
	case straight, o.Apart:
		f.How, f.New = FastForward, f.Tip
		return nil
	}
	f.How = MergeCommit
	message := fmt.Sprintf("Merge branch '%s' into %s\n\n%s\n\nRelay-Epic: %s\n", f.Name, f.Into, plaintext.Capped(o.Epic.Title, 200), o.Epic.ID)
	f.New, err = f.branch.MergeCommit(ctx, f.Old, f.Tip, message)
	return conflictHint(ctx, f, err, f.Old)
}

// conflictHint adds to a conflict's error the commands with which a person can merge the two changes by hand, or pick those since base.
func conflictHint(ctx context.Context, f *Step, err error, base string) error {
	var c *integration.ConflictError
	if !errors.As(err, &c) {
		return err
	}
	begin, end := "git merge "+tipName(ctx, f), "git commit"
	if base != f.Old {
		begin = fmt.Sprintf("git cherry-pick $(git rev-list --reverse --no-merges %s..%s)", base, tipName(ctx, f))
		end = "git cherry-pick --continue"
	}
	if !f.Here {
		begin = "git switch " + plaintext.ShellWord(f.Into) + " && " + begin
	}
	where := plaintext.Listed(c.Files)
	if where == "" {
		return &attempts.RefusedError{Reason: f.Into + " and " + f.Name + " have no commit in common", Hint: begin + " --allow-unrelated-histories, if that is what you want"}
	}
	return &attempts.RefusedError{
		Reason: fmt.Sprintf("%s has changed since, and conflicts with %s in %s", f.Into, f.Name, where),
		Hint:   begin + ", resolve the conflicts, " + end + "; nothing has been changed yet",
	}
}

// tipName returns a name for the tip that a person can type: the branch, unless that is somewhere else.
func tipName(ctx context.Context, f *Step) string {
	if at, err := f.branch.Repo.Ref(ctx, f.branch.BranchRef()); err == nil && at == f.Tip {
		return f.Name
	}
	return f.Tip
}

// Unsigned returns why what the step has made has no signature that it should have; "" : it has, or needs none.
func (f *Step) Unsigned() string { return f.branch.Signer.Unsigned() }

// count returns how many commits to has that Into has not.
func count(ctx context.Context, f *Step, to string) (int, error) {
	out, err := f.branch.Git(ctx, nil, "rev-list", "--count", f.Old+".."+to, "--")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(out)
}
