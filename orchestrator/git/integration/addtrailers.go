package integration

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"relay/reanchor/git"
)

// mostCommits bounds how many commits of one attempt relay rewrites.
const mostCommits = 2000

// UnfitError reports that an attempt's commits cannot be marked as its own, and so not be landed: what is wrong with
// them is the agent's doing.
type UnfitError struct{ reason string }

// Error returns the message that says what is wrong.
func (e *UnfitError) Error() string { return e.reason }

// AttemptCommits are what an attempt has made.
type AttemptCommits struct {
	Base, Head string
	Began      time.Time // tells what it has pushed from what it has fetched; zero: not known
	Trailers   []string  // "Name: value"
}

// AddTrailers returns head with trailers in the message of every commit of base..head; author, dates and
// trees stay, signatures do not. The same commits get the same hashes, and a head that has all trailers is returned as
// it is. It leaves alone commits that others made and the attempt took in (landed work, the user's branch, remotes).
// An [*UnfitError] is the agent's.
func (b *Branch) AddTrailers(ctx context.Context, w AttemptCommits) (string, error) {
	commits, err := attemptCommits(ctx, b, w.Base, w.Head, w.Began)
	if err != nil {
		return "", err
	}
	renamed := make(map[string]string)
	for _, c := range commits {
		parents := c.Parents()
		for i, p := range parents {
			if now, ok := renamed[p]; ok {
				parents[i] = now
			}
		}
		message := WithTrailers(c.message, w.Trailers)
		if message == c.message && slices.Equal(parents, c.Parents()) {
			continue
		}
		next := c.on(c.Tree(), parents...)
		next.message = message
		if renamed[c.Name], err = hashCommit(ctx, b.Repo, next); err != nil {
			return "", err
		}
	}
	return cmp.Or(renamed[w.Head], w.Head), nil
}

// attemptCommits returns the commits of base..head that the attempt has made, parents first.
func attemptCommits(ctx context.Context, b *Branch, base, head string, began time.Time) ([]NamedCommit, error) {
	span := []string{head, "^" + base}
	for _, name := range []string{b.Ref(), "HEAD"} {
		commit, err := foreignTip(ctx, b, name)
		if err != nil {
			return nil, err
		}
		if commit != "" {
			span = append(span, "^"+commit)
		}
	}
	local, err := Commits(ctx, b.Repo, append(slices.Clone(span), "--not", "--remotes"))
	if err != nil || began.IsZero() {
		return local, err
	}
	// Commits that it has pushed are its own: no remote had them before it began.
	recent, err := Commits(ctx, b.Repo, append(span, "--max-age="+strconv.FormatInt(began.Unix(), 10)))
	if err != nil {
		return nil, err
	}
	pushed := slices.DeleteFunc(recent, func(c NamedCommit) bool {
		return slices.ContainsFunc(local, func(l NamedCommit) bool { return l.Name == c.Name })
	})
	return append(pushed, local...), nil // whatever a remote has comes before what none has
}

// foreignTip returns the commit of a ref whose history no attempt has made; "" when there is none, or when it is one of
// the branches tasks work on: the user may look at one.
func foreignTip(ctx context.Context, b *Branch, name string) (string, error) {
	if name == "HEAD" {
		branch, err := b.Repo.Branch(ctx)
		if err != nil || branch == "" || strings.HasPrefix(branch, git.TaskBranches) {
			return "", err
		}
	}
	return b.Repo.Ref(ctx, name)
}
