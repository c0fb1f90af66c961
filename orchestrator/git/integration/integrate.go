package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"relay/reanchor/git"
)

// MergeInput is what a task brings to the branch.
type MergeInput struct {
	Base     string   // the commit the task began from: what lies below is not replayed; "" : as far as the tip lacks it
	Message  string   // of a merge commit, whole, with its trailers
	Squash   string   // the same of the one commit that a squash makes, or relay of what an agent left uncommitted
	Left     string   // the same of commits that relay has made of that
	Trailers []string // that the task's own commits have: others are not replayed
}

// Integrated is a commit that holds a tip and what a task brings to it.
type Integrated struct {
	Commit string
	Anew   bool // the task's commits have become others: the head is not in the history of Commit
}

// Integrate puts head onto tip. Work of one commit, and all work in a squash, is one commit on the tip then; other work is a merge
// commit with tip as its first parent. Commit is tip itself when there is nothing to add. A [*ConflictError] says that the two do
// not go together. No ref moves.
func (b *Branch) Integrate(ctx context.Context, tip, head string, c MergeInput) (Integrated, error) {
	w, err := readWork(ctx, b, tip, head)
	if err != nil || w.fork == head {
		return Integrated{Commit: tip}, err
	}
	made, err := place(ctx, b, w, c)
	if err == nil && (made.Commit != tip || b.mode != Merge) || err != nil && !errors.Is(err, errMerges) {
		return made, err
	}
	made = Integrated{}
	made.Commit, err = mergeCommit(ctx, b, w, c.Message)
	return made, err
}

// MergeCommit returns a merge commit of head onto tip, or tip when it has all of head.
func (b *Branch) MergeCommit(ctx context.Context, tip, head, message string) (string, error) {
	fork, err := forkOf(ctx, b, tip, head)
	if err != nil || fork == head {
		return tip, err
	}
	return mergeCommit(ctx, b, work{tip: tip, head: head, fork: fork}, message)
}

func mergeCommit(ctx context.Context, b *Branch, w work, message string) (string, error) {
	tree, err := mergedTree(ctx, b, w)
	if err != nil {
		return "", err
	}
	return makeCommit(ctx, b, tree, message, w.tip, w.head)
}

// CloseBatch puts one merge commit on tip that has the tree of chain: what a batch added becomes one step of the branch.
func (b *Branch) CloseBatch(ctx context.Context, tip, chain, message string) (string, error) {
	tree, err := b.Repo.Tree(ctx, chain)
	if err != nil {
		return "", err
	}
	return makeCommit(ctx, b, tree, message, tip, chain)
}

// forkOf returns the commit at which two histories part; with several it is one of them.
func forkOf(ctx context.Context, b *Branch, tip, head string) (string, error) {
	fork, err := b.Git(ctx, nil, "merge-base", tip, head)
	if git.ExitCode(err) == 1 {
		return "", &ConflictError{Text: "the work has no commit in common with the integration branch"}
	}
	return fork, err
}

// MergeTrees returns the tree of two commits merged, or a [*ConflictError]. A ledger of LedgerSync does not conflict: each side only adds
// lines to it, and the tree has those of both. With [Branch.Additions] the same holds for lines that both add at one place of a file.
//
// The attributes that say how files are merged are those of the user's checkout, and not what is being merged. They
// can only name drivers that the configuration defines, which is the user's, or somebody's who could run programs
// here anyway. Nothing is checked out, so filters run only where merge.renormalize asks for them.
func (b *Branch) MergeTrees(ctx context.Context, tip, head string) (tree string, err error) {
	out, err := mergeTree(ctx, b, "merge", tip, head)
	if git.ExitCode(err) == 1 {
		if tree, err = withAdditions(ctx, b, out, tip, head); err == nil && tree == "" {
			err = conflictError(ctx, b, out, tip, head)
		}
		return tree, err
	}
	if err != nil {
		return "", fmt.Errorf("merge: %w", err)
	}
	tree, _, _ = strings.Cut(out, "\x00")
	return tree, nil
}

// mergeTree has git merge two commits, and returns what it says; style is that of conflicts.
func mergeTree(ctx context.Context, b *Branch, style, tip, head string) (string, error) {
	return b.Git(ctx, nil, "-c", "merge.conflictStyle="+style, "merge-tree", "--write-tree", "-z", "--name-only", "--messages", tip, head)
}
