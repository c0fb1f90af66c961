package integration

import (
	"context"
	"fmt"

	"relay/epic/plaintext"
)

// Behind says which commits of the branch that the epic began from an integration branch lacks.
type Behind struct {
	From     string // the branch that the epic began from
	Head     string // its newest commit
	Commits  int    // how many are lacking
	Straight bool   // From has all commits of the integration branch
}

// FindBehind compares the tip of an integration branch with the branch that the epic began from. It finds no commits if that is gone.
func FindBehind(ctx context.Context, b *Branch, tip, from string) (Behind, error) {
	if tip == "" || from == "" {
		return Behind{}, nil
	}
	head, err := b.Repo.Ref(ctx, "refs/heads/"+from)
	if err != nil || head == "" || head == tip {
		return Behind{}, err
	}
	counts, err := b.Git(ctx, nil, "rev-list", "--left-right", "--count", head+"..."+tip, "--")
	if err != nil {
		return Behind{}, err
	}
	var lacking, own int
	_, err = fmt.Sscan(counts, &lacking, &own)
	return Behind{From: from, Head: head, Commits: lacking, Straight: own == 0}, err
}

// Text names the commits: "2 commits of main".
func (l Behind) Text() string {
	return fmt.Sprintf("%s of %s", plaintext.Count(l.Commits, "commit"), l.From)
}

// ByHand says what to type to merge the commits into the integration branch of that name.
func (l Behind) ByHand(name string) string {
	return fmt.Sprintf("to merge them, type: git switch %s && git merge %s", name, plaintext.ShellWord(l.From))
}
