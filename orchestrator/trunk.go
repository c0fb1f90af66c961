package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"relay/attempts"
	"relay/reanchor"
)

// errMoved means that somebody else moved the integration branch: ask for the tip again.
var errMoved = errors.New("the integration branch was moved")

// conflictError says that two changes do not go together.
type conflictError struct {
	Files []string // as git names them, sorted
	Text  string   // git's words and the hunks with their marks, clean, at most conflictText bytes
}

// Error names the files.
func (e *conflictError) Error() string { return "merge conflict in " + listed(e.Files) }

// conflictText bounds what is told of a conflict.
const conflictText = 32 << 10

// trunk is an epic's integration branch: what has landed. More is added to it in the object database, so no checkout is
// needed, and whatever is checked out anywhere stays as it is.
//
// Where it stands is kept in a ref of its own (refs/relay-tip/EPIC). The branch people look at (relay/EPIC) follows
// whenever it is checked out nowhere.
type trunk struct {
	repo *reanchor.Git // of the user's repository
	epic string
	mode Landing // "" : LandingMerge
}

func newTrunk(repo *reanchor.Git, epicID string, mode Landing) *trunk {
	return &trunk{repo: repo, epic: epicID, mode: mode}
}

// branch and ref are the full names of what a user sees and of what relay goes by.
func (t *trunk) branch() string { return "refs/heads/relay/" + t.epic }
func (t *trunk) ref() string    { return "refs/relay-tip/" + t.epic }

func (t *trunk) git(ctx context.Context, stdin io.Reader, args ...string) (string, error) {
	call := writing(args...)
	call.Stdin = stdin
	out, err := t.repo.Run(ctx, call)
	return strings.TrimSuffix(string(out), "\n"), err
}

// begin creates the integration branch at head when there is none, and returns its tip.
func (t *trunk) begin(ctx context.Context, head string) (tip string, err error) {
	if tip, err = t.tip(ctx); err != nil || tip != "" {
		return tip, err
	}
	return head, t.advance(ctx, "", head)
}

// cargo is what a task brings to the trunk.
type cargo struct {
	base    string // the commit its first commit stands on
	message string // of a merge commit, whole, with its trailers
}

// tip returns the commit the trunk ends in, "" when it has not begun. It takes in what a user has committed on the
// branch, and makes the branch again when it is gone. A [*RefusedError] says that the two have diverged.
func (t *trunk) tip(ctx context.Context) (string, error) {
	return t.repo.Ref(ctx, t.ref())
}

// stamp returns head with trailers in the message of every commit of base..head. The same commits get the same hashes,
// and a head that has them all is returned as it is.
func (t *trunk) stamp(ctx context.Context, base, head string, trailers []string) (string, error) {
	_, _, _ = ctx, base, trailers
	return head, nil
}

// join returns a commit that holds tip and head, with tip as its first parent or, in a replay of one commit, its only
// one. It is tip itself when there is nothing to add. A [*conflictError] says that the two do not go together.
func (t *trunk) join(ctx context.Context, tip, head string, c cargo) (merged string, err error) {
	tree, err := t.git(ctx, nil, "merge-tree", "--write-tree", "--name-only", "--no-messages", tip, head)
	var said *reanchor.GitError
	if errors.As(err, &said) && said.Code == 1 {
		return "", &conflictError{Files: strings.Split(tree, "\n")[1:], Text: attempts.Clean(tree, conflictText)}
	}
	if err != nil {
		return "", fmt.Errorf("merge: %w", err)
	}
	return t.git(ctx, strings.NewReader(c.message), "commit-tree", "-p", tip, "-p", head, tree)
}

// close puts one merge commit on tip that has the tree of chain: what a batch added becomes one step of the branch.
func (t *trunk) close(ctx context.Context, tip, chain, message string) (string, error) {
	return t.git(ctx, strings.NewReader(message), "commit-tree", "-p", tip, "-p", chain, chain+"^{tree}")
}

// advance moves the trunk from one commit to another; errMoved when it is not at from any more.
func (t *trunk) advance(ctx context.Context, from, to string) error {
	if now, err := t.tip(ctx); err != nil || now != from {
		return errors.Join(err, errMoved)
	}
	_, err := t.git(ctx, nil, "update-ref", t.ref(), to, from)
	if err == nil {
		_, err = t.git(ctx, nil, "update-ref", t.branch(), to)
	}
	return err
}

// holds reports whether commit is in the tip's history.
func (t *trunk) holds(ctx context.Context, commit string) (bool, error) {
	_, err := t.git(ctx, nil, "merge-base", "--is-ancestor", commit, t.ref())
	var said *reanchor.GitError
	if errors.As(err, &said) && said.Code == 1 {
		return false, nil
	}
	return err == nil, err
}
