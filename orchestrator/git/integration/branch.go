// Package integration is an epic's integration branch: where it is, how the work of attempts is put onto it (marked with
// trailers, merged or replayed), what of it is whose, and how it is put back when it was moved. All of it happens in the object
// database; no checkout is touched. Package finish puts the branch onto one of the user's.
//
// Every commit on the branch's first-parent line is a tree on which the checks of the landed task passed, and no check of the
// epic that passed on the tip fails after a landing. A check that failed from the start, and fails in a second run, is
// not charged to tasks. Commits of the branch that the epic began from are added at the start of a run.
//
// refs/relay-tip/EPIC is the authoritative tip; relay/EPIC is the user-visible copy, and follows whenever
// no worktree has it checked out. Commits that a person adds to it are kept and reported, with what they change of protected
// files and tests; any other move is reverted.
//
// The branch is named by the epic's id alone, and outlives ledgers. A run begins from it, and relay finish lands it, only if the
// ledger knows what is on it (LedgerView): all that relay has landed there (trailers Relay-Epic, Relay-Run) is below a commit
// that the ledger has as landed, of one of its runs, or in the user's branch already. A ledger that has never run there accepts
// nothing that the user's branch lacks. When a user has renamed or deleted the branch because of that, refs/relay-tip/EPIC is set
// to where this ledger left it, and what it pointed to is kept as refs/relay/EPIC-moved/COMMIT.
package integration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"relay/attempts"
	"relay/epic/each"
	"relay/reanchor/git"
)

// errMoved means that somebody else moved the integration branch: ask for the tip again.
var errMoved = errors.New("the integration branch was moved")

// Branch is an epic's integration branch: what has landed. More is added to it in the object database, so no checkout is
// needed, and whatever is checked out anywhere stays as it is.
//
// Where it stands is kept in a ref of its own (refs/relay-tip/EPIC). The branch people look at (relay/EPIC) follows
// whenever it is checked out nowhere.
type Branch struct {
	Repo      *git.Repo // of the user's repository
	Additions bool      // lines that both sides of a merge have added at one place are kept: checks follow
	epic      string
	mode      Mode
	Signer    signer
}

// NewBranch returns the integration branch of an epic; mode says how work is put onto it; "" is
// [Merge].
func NewBranch(repo *git.Repo, epicID string, mode Mode) *Branch {
	return &Branch{Repo: repo, epic: epicID, mode: cmp.Or(mode, Merge)}
}

// Ref returns refs/relay-tip/EPIC, the authoritative tip; [Branch.BranchRef] is the copy that a user sees.
func (b *Branch) Ref() string { return "refs/relay-tip/" + b.epic }

// BranchRef returns refs/heads/relay/EPIC.
func (b *Branch) BranchRef() string { return "refs/heads/relay/" + b.epic }

// Git runs a command in the user's repository and returns what it prints, without the newline at its end.
func (b *Branch) Git(ctx context.Context, stdin io.Reader, args ...string) (string, error) {
	call := git.Writing(args...)
	call.Stdin = stdin
	out, err := b.Repo.Run(ctx, call)
	return strings.TrimSuffix(string(out), "\n"), err
}

// create creates the integration branch at head when there is none, and returns its tip. It takes in what a user has
// committed on the branch, lets the branch follow when it is behind, and makes it again when it is gone.
func create(ctx context.Context, b *Branch, head string) (tip string, err error) {
	if tip, err = b.Tip(ctx); err != nil {
		return "", err
	}
	tip = cmp.Or(tip, head)
	if err = updateRefs(ctx, b, tip); err == nil {
		return tip, nil
	}
	if taken, refErr := b.Repo.Ref(ctx, "refs/heads/relay"); refErr == nil && taken != "" {
		return "", &attempts.RefusedError{Reason: "there is a branch named relay, so git cannot make one named relay/" + b.epic, Hint: "git branch -m relay another-name, then relay work"}
	}
	below, listErr := b.Git(ctx, nil, "for-each-ref", "--count=1", "--format=%(refname:short)", b.BranchRef()+"/")
	if listErr == nil && below != "" {
		return "", &attempts.RefusedError{Reason: "there is a branch named " + below + ", so git cannot make one named relay/" + b.epic, Hint: "git branch -m " + below + " another-name, then relay work"}
	}
	return "", err
}

// Position returns where relay's own ref and the branch are; "" for one that is not there.
func (b *Branch) Position(ctx context.Context) (tip, branch string, err error) {
	if tip, err = b.Repo.Ref(ctx, b.Ref()); err == nil {
		branch, err = b.Repo.Ref(ctx, b.BranchRef())
	}
	return tip, branch, err
}

// Tip returns the commit the branch ends in, "" when it has not begun: what a user has committed on the branch is part
// of it, and a branch that is behind, or gone, is not. Nothing is written. A [*attempts.RefusedError] says that the two have
// diverged.
func (b *Branch) Tip(ctx context.Context) (string, error) {
	tip, branch, err := b.Position(ctx)
	switch {
	case err != nil || branch == "" || tip == branch:
		return tip, err
	case tip == "":
		return branch, nil
	}
	for _, ends := range [][2]string{{branch, tip}, {tip, branch}} {
		if held, err := git.Contains(ctx, b.Repo, ends[0], ends[1]); err != nil || held {
			return ends[0], err
		}
	}
	return "", &attempts.RefusedError{
		Reason: "the branch relay/" + b.epic + " has commits of its own and lacks some that landed",
		Hint:   "git branch -m relay/" + b.epic + " mine-" + b.epic + ", then relay work: the branch is made again with all that landed",
	}
}

// updateRefs brings relay's own ref to the tip, and the branch unless it is checked out somewhere.
func updateRefs(ctx context.Context, b *Branch, tip string) error {
	own, branch, err := b.Position(ctx)
	var moves []move
	if own != tip {
		moves = append(moves, move{b.Ref(), own, tip})
	}
	if branch != tip && err == nil && !held(ctx, b) {
		moves = append(moves, move{b.BranchRef(), branch, tip})
	}
	if err != nil || len(moves) == 0 {
		return err
	}
	return moveRefs(ctx, b, moves...)
}

// advance moves the branch from one commit to another that has it in its history; from "" begins it. The error is
// errMoved when it is not at from any more, or when the branch has a commit that to lacks.
func advance(ctx context.Context, b *Branch, from, to string) error {
	_, branch, err := b.Position(ctx)
	if err != nil {
		return err
	}
	moves := []move{{b.Ref(), from, to}}
	if branch != from && branch != "" {
		held, err := git.Contains(ctx, b.Repo, to, branch)
		if err != nil || !held {
			return errors.Join(err, errMoved)
		}
	}
	if branch != to && !held(ctx, b) {
		moves = append(moves, move{b.BranchRef(), branch, to})
	}
	return moveRefs(ctx, b, moves...)
}

// held reports whether a worktree has the branch checked out or will come back to it, the user's checkout among them, or git cannot say.
func held(ctx context.Context, b *Branch) bool {
	at, rebased, err := git.CheckedOut(ctx, b.Repo, b.BranchRef())
	return err != nil || at != "" || rebased
}

// move is a ref that goes from one commit ("" : it is not there) to another.
type move struct{ ref, from, to string }

// moveRefs moves refs, all or none; errMoved when one of them is not where it should be.
func moveRefs(ctx context.Context, b *Branch, moves ...move) error {
	var script strings.Builder
	for _, m := range moves {
		fmt.Fprintf(&script, "update %s %s %s\n", m.ref, m.to, cmp.Or(m.from, strings.Repeat("0", len(m.to))))
	}
	var err error
	for range 2 {
		_, err = b.Git(ctx, strings.NewReader(script.String()), "update-ref", "--no-deref", "-m", "relay: landed", "--stdin")
		if err == nil || ctx.Err() != nil {
			return err
		}
		for _, m := range moves {
			if now, refErr := b.Repo.Ref(ctx, m.ref); refErr == nil && now != m.from {
				return errMoved
			}
		}
		refs := each.Of(moves, func(one move) string { return one.ref })
		if unlocking := git.Unlatch(b.Repo, refs...); unlocking != nil {
			return errors.Join(err, unlocking)
		}
	}
	return err
}

// Pin keeps a commit that nothing leads to yet from the user's git gc, until another one is pinned or [Branch.Unpin] is called.
func (b *Branch) Pin(ctx context.Context, commit string) error {
	_, err := b.Git(ctx, nil, "update-ref", "--no-deref", "--", pinRef(b), commit)
	return err
}

// Unpin ends that.
func (b *Branch) Unpin(ctx context.Context) error {
	if at, err := b.Repo.Ref(ctx, pinRef(b)); err != nil || at == "" {
		return err
	}
	_, err := b.Git(ctx, nil, "update-ref", "--no-deref", "-d", pinRef(b))
	return err
}

func pinRef(b *Branch) string { return "refs/relay-pin/" + b.epic }

// Holds reports whether commit is in the tip's history.
func (b *Branch) Holds(ctx context.Context, commit string) (bool, error) {
	tip, err := b.Tip(ctx)
	if err != nil || tip == "" {
		return false, err
	}
	held, err := git.Contains(ctx, b.Repo, tip, commit)
	if err == nil {
		return held, nil
	}
	if _, missing := b.Git(ctx, nil, "cat-file", "-e", commit+"^{commit}"); missing != nil && ctx.Err() == nil {
		return false, nil // it is not in the repository at all
	}
	return false, err
}
