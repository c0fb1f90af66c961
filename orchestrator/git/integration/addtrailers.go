package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"relay/orchestrator/git/gitcmd"
	"relay/reanchor"
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
// it is. What somebody else made and the attempt only took in (what has landed, the user's branch, remotes) is left
// alone. An [*UnfitError] is the agent's.
func (b *Branch) AddTrailers(ctx context.Context, w AttemptCommits) (string, error) {
	commits, err := b.attemptCommits(ctx, w.Base, w.Head, w.Began)
	if err != nil {
		return "", err
	}
	head := w.Head
	made := objects{wide: gitcmd.Wide(head)}
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
		renamed[c.Name] = made.add(next)
	}
	if now, ok := renamed[head]; ok {
		head = now
	}
	return head, b.store(ctx, &made)
}

// attemptCommits returns the commits of base..head that the attempt has made, parents first.
func (b *Branch) attemptCommits(ctx context.Context, base, head string, began time.Time) ([]NamedCommit, error) {
	span := []string{head, "^" + base}
	for _, name := range []string{b.Ref(), "HEAD"} {
		commit, err := b.foreignTip(ctx, name)
		if err != nil {
			return nil, err
		}
		if commit != "" {
			span = append(span, "^"+commit)
		}
	}
	local, err := b.Commits(ctx, append(slices.Clone(span), "--not", "--remotes"))
	if err != nil || began.IsZero() {
		return local, err
	}
	// Commits that it has pushed are its own: no remote had them before it began.
	recent, err := b.Commits(ctx, append(span, "--max-age="+strconv.FormatInt(began.Unix(), 10)))
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
func (b *Branch) foreignTip(ctx context.Context, name string) (string, error) {
	if name == "HEAD" {
		branch, err := b.Repo.Branch(ctx)
		if err != nil || branch == "" || strings.HasPrefix(branch, gitcmd.TaskBranches) {
			return "", err
		}
	}
	return b.Repo.Ref(ctx, name)
}

// NamedCommit is a commit and its name.
type NamedCommit struct {
	Name string
	commitObject
}

// Commits reads the commits of a span (arguments of rev-list), parents first.
func (b *Branch) Commits(ctx context.Context, span []string) ([]NamedCommit, error) {
	args := append([]string{"rev-list", "--topo-order", "--reverse", "--max-count=" + strconv.Itoa(mostCommits+1)}, span...)
	list, err := b.Git(ctx, nil, append(args, "--")...)
	if err != nil || list == "" {
		return nil, err
	}
	names := strings.Split(list, "\n")
	if len(names) > mostCommits {
		return nil, &UnfitError{fmt.Sprintf("the work has more than %d commits", mostCommits)}
	}
	bodies, err := b.read(ctx, names)
	if errors.Is(err, reanchor.ErrTooMuch) {
		return nil, &UnfitError{"the messages of the work's commits are too long to be read"}
	}
	if err != nil {
		return nil, err
	}
	found := make([]NamedCommit, len(names))
	for i := range names {
		found[i].Name = names[i]
		if found[i].commitObject, err = parseCommit(bodies[i]); err != nil {
			return nil, &UnfitError{fmt.Sprintf("commit %s: %v", names[i], err)}
		}
	}
	return found, nil
}

// read returns the bytes of objects, in one process for all.
func (b *Branch) read(ctx context.Context, names []string) ([]string, error) {
	call := gitcmd.Writing("cat-file", "--batch", "--buffer")
	call.Stdin = strings.NewReader(strings.Join(names, "\n") + "\n")
	out, err := b.Repo.Run(ctx, call)
	if err != nil {
		return nil, err
	}
	bodies := make([]string, len(names))
	for i := range names {
		line, rest, _ := bytes.Cut(out, []byte("\n"))
		at := bytes.LastIndexByte(line, ' ')
		size, err := strconv.Atoi(string(line[at+1:]))
		if err != nil || size < 0 || size >= len(rest) {
			return nil, fmt.Errorf("git cat-file says: %s", line)
		}
		bodies[i], out = string(rest[:size]), rest[size+1:]
	}
	return bodies, nil
}

// store writes commits into the repository. No ref leads to them yet.
func (b *Branch) store(ctx context.Context, made *objects) error {
	if len(made.bodies) == 0 {
		return nil
	}
	pack, err := made.pack()
	if err == nil {
		_, err = b.Git(ctx, bytes.NewReader(pack), "unpack-objects", "-q")
	}
	return err
}
