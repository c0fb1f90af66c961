package landing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"relay/orchestrator/trees"
	"relay/reanchor"
)

// mostCommits bounds how many commits of one attempt relay rewrites.
const mostCommits = 2000

// UnfitError says that an attempt's commits cannot be marked as its own, and so not be landed: what is wrong with them
// is the agent's doing.
type UnfitError struct{ reason string }

// Error says what is wrong.
func (e *UnfitError) Error() string { return e.reason }

// Work is what an attempt has made.
type Work struct {
	Base, Head string
	Began      time.Time // tells what it has pushed from what it has fetched; zero: not known
	Trailers   []string  // "Name: value"
}

// Stamp returns head with trailers in the message of every commit of base..head; author, dates and
// trees stay, signatures do not. The same commits get the same hashes, and a head that has all trailers is returned as
// it is. What somebody else made and the attempt only took in (what has landed, the user's branch, remotes) is left
// alone. An [*UnfitError] is the agent's.
func (t *Trunk) Stamp(ctx context.Context, w Work) (string, error) {
	commits, err := t.own(ctx, w.Base, w.Head, w.Began)
	if err != nil {
		return "", err
	}
	head := w.Head
	made := objects{wide: trees.Wide(head)}
	renamed := make(map[string]string)
	for _, c := range commits {
		parents := c.parents()
		for i, p := range parents {
			if now, ok := renamed[p]; ok {
				parents[i] = now
			}
		}
		message := withTrailers(c.message, w.Trailers)
		if message == c.message && slices.Equal(parents, c.parents()) {
			continue
		}
		next := c.on(c.tree(), parents...)
		next.message = message
		renamed[c.name] = made.add(next)
	}
	if now, ok := renamed[head]; ok {
		head = now
	}
	return head, t.store(ctx, &made)
}

// own returns the commits of base..head that the attempt has made, parents first.
func (t *Trunk) own(ctx context.Context, base, head string, began time.Time) ([]named, error) {
	span := []string{head, "^" + base}
	for _, name := range []string{t.Ref(), "HEAD"} {
		commit, err := t.foreign(ctx, name)
		if err != nil {
			return nil, err
		}
		if commit != "" {
			span = append(span, "^"+commit)
		}
	}
	local, err := t.commits(ctx, append(slices.Clone(span), "--not", "--remotes"))
	if err != nil || began.IsZero() || straight(local, base, head) {
		return local, err
	}
	// Something is not the attempt's, or it has pushed: no remote had those commits before it began.
	recent, err := t.commits(ctx, append(span, "--max-age="+strconv.FormatInt(began.Unix(), 10)))
	if err != nil {
		return nil, err
	}
	pushed := slices.DeleteFunc(recent, func(c named) bool {
		return slices.ContainsFunc(local, func(l named) bool { return l.name == c.name })
	})
	return append(pushed, local...), nil // whatever a remote has comes before what none has
}

// straight reports whether commits are all there is from base to head.
func straight(commits []named, base, head string) bool {
	known := map[string]bool{base: true}
	for _, c := range commits {
		for _, p := range c.parents() {
			if !known[p] {
				return false
			}
		}
		known[c.name] = true
	}
	return known[head]
}

// foreign returns the commit of a ref whose history no attempt has made; "" when there is none, or when it is one of
// the branches tasks work on: the user may look at one.
func (t *Trunk) foreign(ctx context.Context, name string) (string, error) {
	if name == "HEAD" {
		branch, err := t.repo.Branch(ctx)
		if err != nil || branch == "" || strings.HasPrefix(branch, trees.TaskBranches) {
			return "", err
		}
	}
	return t.repo.Ref(ctx, name)
}

// named is a commit and its name.
type named struct {
	name string
	commitObject
}

// commits reads the commits of a span (arguments of rev-list), parents first.
func (t *Trunk) commits(ctx context.Context, span []string) ([]named, error) {
	args := append([]string{"rev-list", "--topo-order", "--reverse", "--max-count=" + strconv.Itoa(mostCommits+1)}, span...)
	list, err := t.git(ctx, nil, append(args, "--")...)
	if err != nil || list == "" {
		return nil, err
	}
	names := strings.Split(list, "\n")
	if len(names) > mostCommits {
		return nil, &UnfitError{fmt.Sprintf("the work has more than %d commits", mostCommits)}
	}
	bodies, err := t.read(ctx, names)
	if errors.Is(err, reanchor.ErrTooMuch) {
		return nil, &UnfitError{"the messages of the work's commits are too long to be read"}
	}
	if err != nil {
		return nil, err
	}
	found := make([]named, len(names))
	for i := range names {
		found[i].name = names[i]
		if found[i].commitObject, err = parseCommit(bodies[i]); err != nil {
			return nil, &UnfitError{fmt.Sprintf("commit %s: %v", names[i], err)}
		}
	}
	return found, nil
}

// read returns the bytes of objects, in one process for all.
func (t *Trunk) read(ctx context.Context, names []string) ([]string, error) {
	call := trees.Writing("cat-file", "--batch", "--buffer")
	call.Stdin = strings.NewReader(strings.Join(names, "\n") + "\n")
	out, err := t.repo.Run(ctx, call)
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
func (t *Trunk) store(ctx context.Context, made *objects) error {
	if len(made.bodies) == 0 {
		return nil
	}
	pack, err := made.pack()
	if err == nil {
		_, err = t.git(ctx, bytes.NewReader(pack), "unpack-objects", "-q")
	}
	return err
}
