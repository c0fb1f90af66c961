package integration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// errMerges means that a history has merges in it, which a replay would take apart, or commits of others, which it would
// land a second time under other names.
var errMerges = errors.New("the work has merges in it")

// replay returns the commits of the work on the tip, one by one; several are closed by a merge commit, so that the branch has
// only trees that were proved. A commit that changes nothing any more is left out. The author stays, the committer is
// whoever replays.
func replay(ctx context.Context, b *Branch, w work, commits []NamedCommit, message string) (made Integrated, err error) {
	if len(commits) == 0 {
		return Integrated{Commit: w.tip, Anew: true}, nil
	}
	if slices.ContainsFunc(commits, func(one NamedCommit) bool { return len(one.Parents()) != 1 }) {
		return made, errMerges
	}
	made.Commit = w.head
	if commits[0].Parents()[0] != w.tip || b.Signer.On {
		made.Anew = true
		if made.Commit, err = b.Rebase(ctx, w.tip, commits); err != nil || made.Commit == w.tip {
			return made, err
		}
		commits, err = Commits(ctx, b.Repo, []string{made.Commit, "^" + w.tip})
	}
	if err != nil || len(commits) == 1 {
		return made, err
	}
	made.Commit, err = b.CloseBatch(ctx, w.tip, made.Commit, message)
	return made, err
}

// Rebase replays commits on top of onto, and returns the last one.
func (b *Branch) Rebase(ctx context.Context, onto string, commits []NamedCommit) (string, error) {
	who, err := committer(ctx, b.Repo)
	if err != nil {
		return "", err
	}
	around, err := readCommits(ctx, b.Repo, onto, commits[0].Parents()[0])
	if err != nil {
		return "", err
	}
	now, before := around[0].Tree(), around[1].Tree() // of the replay, and of its original
	for _, c := range commits {
		tree, err := pickTree(ctx, b, pick{tree: now, before: before, commit: c})
		if err != nil {
			return "", err
		}
		empty := c.Tree() == before
		before = c.Tree()
		if tree == now && !empty {
			continue
		}
		if onto, err = write(ctx, b, c.on(tree, onto).by(who)); err != nil {
			return "", err
		}
		now = tree
	}
	return onto, nil
}

// pick is one commit to be replayed.
type pick struct {
	tree   string // of the commit it comes to stand on
	before string // the tree the commit was made on
	commit NamedCommit
}

// pickTree returns the tree of onto with what a commit changed. Where both sides began from the same tree nothing is merged.
func pickTree(ctx context.Context, b *Branch, p pick) (string, error) {
	switch {
	case p.tree == p.before, p.tree == p.commit.Tree():
		return p.commit.Tree(), nil
	case p.commit.Tree() == p.before:
		return p.tree, nil
	}
	// A stand-in for onto whose only parent is the commit's own: what the two have in common is then exactly that parent.
	who := " relay <relay@localhost> 0 +0000" // always the same, so that a replay tried again leaves nothing new behind
	name, err := hashCommit(ctx, b.Repo, commitObject{
		header:  []string{"tree " + p.tree, "parent " + p.commit.Parents()[0], "author" + who, "committer" + who},
		message: "stand-in\n",
	})
	if err != nil {
		return "", err
	}
	tree, err := b.MergeTrees(ctx, name, p.commit.Name)
	if conflict, ok := errors.AsType[*ConflictError](err); ok {
		title, _, _ := strings.Cut(strings.TrimSpace(p.commit.message), "\n")
		conflict.Text = cleaned(fmt.Sprintf("in commit %q:\n%s", title, conflict.Text))
	}
	return tree, err
}
