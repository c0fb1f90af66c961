package integration

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// work is what is to be put onto a tip.
type work struct {
	tip, head string
	fork      string       // where their histories part
	onto, own commitObject // the commits tip and head
}

// readWork reads the two ends.
func readWork(ctx context.Context, b *Branch, tip, head string) (w work, err error) {
	w = work{tip: tip, head: head, fork: tip}
	ends, err := readCommits(ctx, b.Repo, tip, head)
	if err != nil {
		return w, err
	}
	w.onto, w.own = ends[0].commitObject, ends[1].commitObject
	if !slices.Equal(w.own.Parents(), []string{tip}) {
		w.fork, err = forkOf(ctx, b, tip, head)
	}
	return w, err
}

// mergedTree returns the tree of the two ends merged.
func mergedTree(ctx context.Context, b *Branch, w work) (string, error) {
	if w.fork == w.tip {
		return w.own.Tree(), nil
	}
	return b.MergeTrees(ctx, w.tip, w.head)
}

// place puts work in a row on the tip. It returns the tip when the work changes nothing any more, and errMerges for work that is to be
// merged.
func place(ctx context.Context, b *Branch, w work, c MergeInput) (Integrated, error) {
	if slices.Equal(w.own.Parents(), []string{w.fork}) && hasTrailers(w.own, c) {
		if message := messageOf(b, w, c, NamedCommit{w.head, w.own}); message != w.own.message {
			return squash(ctx, b, w, message)
		}
		return placeOne(ctx, b, w)
	}
	span := []string{w.head, "^" + w.tip}
	if c.Base != "" {
		span = append(span, "^"+c.Base)
	}
	commits, err := Commits(ctx, b.Repo, span)
	if _, ok := errors.AsType[*UnfitError](err); ok { // it was fit to get trailers: the rest was taken in
		return Integrated{}, errMerges
	}
	if err != nil {
		return Integrated{}, err
	}
	if slices.ContainsFunc(commits, func(one NamedCommit) bool { return !hasTrailers(one.commitObject, c) }) {
		return Integrated{}, errMerges
	}
	switch {
	case b.mode == Squash, alike(commits):
		return squash(ctx, b, w, messageOf(b, w, c, commits...))
	case b.mode == Rebase:
		return replay(ctx, b, w, commits, c.Message)
	}
	return Integrated{}, errMerges
}

// messageOf returns the one of work that is one commit then, with those whom its commits name.
func messageOf(b *Branch, w work, c MergeInput, commits ...NamedCommit) string {
	if b.mode == Squash || w.own.message == c.Left {
		return withPeople(c.Squash, commits)
	}
	return w.own.message
}

// hasTrailers reports whether a commit is one of the task's own.
func hasTrailers(one commitObject, c MergeInput) bool {
	return WithTrailers(one.message, c.Trailers) == one.message
}

// alike reports whether commits follow one another and have one message, as those have that relay makes of what an agent leaves
// uncommitted round by round.
func alike(commits []NamedCommit) bool {
	return len(commits) > 1 && !slices.ContainsFunc(commits, func(one NamedCommit) bool {
		return len(one.Parents()) != 1 || one.message != commits[0].message
	})
}

// placeOne returns the only commit of the work on the tip: itself, when it stands there and needs no signature.
func placeOne(ctx context.Context, b *Branch, w work) (Integrated, error) {
	if w.fork == w.tip && !b.Signer.On {
		return Integrated{Commit: w.head}, nil
	}
	tree, err := mergedTree(ctx, b, w)
	if err != nil {
		return Integrated{}, err
	}
	if tree == w.onto.Tree() {
		if began, err := b.Repo.Tree(ctx, w.fork); err != nil || began != w.own.Tree() {
			return Integrated{Commit: w.tip, Anew: true}, err
		}
	}
	return again(ctx, b, w.own.on(tree, w.tip))
}

// squash returns one commit on the tip that has all of the work, by the author of its last commit.
func squash(ctx context.Context, b *Branch, w work, message string) (Integrated, error) {
	one := w.own.on("")
	if one.message != message {
		one.message = message
		one.header = slices.DeleteFunc(one.header, func(field string) bool {
			return !strings.HasPrefix(field, "author ") && !strings.HasPrefix(field, "committer ")
		})
		for i, field := range one.header { // the message is UTF-8, and so all of it is
			one.header[i] = strings.ToValidUTF8(field, "\ufffd")
		}
	}
	tree, err := mergedTree(ctx, b, w)
	if err != nil || tree == w.onto.Tree() {
		return Integrated{Commit: w.tip, Anew: true}, err
	}
	return again(ctx, b, one.on(tree, w.tip))
}
