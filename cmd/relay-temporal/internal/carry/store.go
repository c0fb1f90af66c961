// Package carry takes orders, work and results between two repositories by way of a git repository that both sides reach.
//
// store.go talks to that repository: it pushes and fetches refs below refs/relay, tries again while the repository is out of reach, and
// removes them.
//
// files.go keeps the files of an order or a result in a commit. result.go pushes what an attempt has come to, without secrets, and checks
// what comes back.
package carry

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"relay/cmd/relay-temporal/internal/order"
	"relay/epic/each"
	"relay/reanchor/git"
)

// Store is the repository that both sides reach, used from the repository of one side.
type Store struct {
	Repo     *git.Repo
	URL      string
	Patience time.Duration // how long it is tried again when it is out of reach; 0: no second try

	ordering sync.Mutex // orders move one ref, side by side
}

// Refs of the store.
const (
	ordersRef  = "refs/relay/orders/"
	resultsRef = "refs/relay/results/"
	ChecksRef  = "refs/relay/checks/" // what relay check sends
	baseRef    = "refs/relay/base/"   // the newest base of a run: by it the next push sends only what is new
)

// runTime begins the name of a run.
const runTime = "20060102T150405Z"

func place(id order.ID) string { return fmt.Sprintf("%s/%s/%d", id.Run, id.Task, id.Number) }

// OrderRef returns the ref of an order; ResultRef that of its result.
func OrderRef(id order.ID) string { return ordersRef + place(id) }

// ResultRef returns the ref of the result of an order.
func ResultRef(id order.ID) string { return resultsRef + place(id) }

// run runs a git command, and again while the store is out of reach.
func (s *Store) run(ctx context.Context, args ...string) (out []byte, err error) {
	end, pause := time.Now().Add(s.Patience), 100*time.Millisecond
	for {
		call := git.Writing(args...)
		call.Own = true // it asks for the user's own credentials
		out, err = s.Repo.Run(ctx, call)
		if err == nil || ctx.Err() != nil || time.Now().Add(pause).After(end) || rejected(err) {
			return out, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, 10*time.Second)
	}
}

// rejected reports whether the store has answered, and the answer is no.
func rejected(err error) bool {
	e, ok := errors.AsType[*git.Error](err)
	said := func(words string) bool { return strings.Contains(e.Stderr, words) }
	no := []string{"[rejected]", "[remote rejected]", "couldn't find remote ref", "fsck error", "bad object"}
	return ok && !said("cannot lock ref") && slices.ContainsFunc(no, said)
}

// push sets refs of the store to commits.
func (s *Store) push(ctx context.Context, refs ...string) error {
	_, err := s.run(ctx, append([]string{"push", "--quiet", "--force", "--no-verify", s.URL}, refs...)...)
	return err
}

// refs lists refs of the store.
func (s *Store) refs(ctx context.Context, patterns ...string) (refs []string, err error) {
	out, err := s.run(ctx, append([]string{"ls-remote", "--refs", s.URL}, patterns...)...)
	for line := range strings.Lines(string(out)) {
		if _, ref, _ := strings.Cut(strings.TrimSpace(line), "\t"); strings.HasPrefix(ref, "refs/relay/") {
			refs = append(refs, ref)
		}
	}
	return refs, err
}

// fetch gets refs of the store under the same names, and checks all objects that come with them. It returns the commit of the first.
func (s *Store) fetch(ctx context.Context, refs ...string) (commit string, err error) {
	args := []string{
		"-c", "fetch.fsckObjects=true", "-c", "fetch.unpackLimit=1", "fetch", "--quiet", "--no-tags", "--no-write-fetch-head",
		"--no-recurse-submodules", s.URL,
	}
	for _, ref := range refs {
		args = append(args, "+"+ref+":"+ref)
	}
	if _, err = s.run(ctx, args...); err != nil {
		return "", err
	}
	return s.Repo.Ref(ctx, refs[0])
}

// Keep gives a commit of this side a ref.
func (s *Store) Keep(ctx context.Context, ref, commit string) error {
	_, err := s.Repo.Run(ctx, git.Writing("update-ref", ref, commit))
	return err
}

// Forget removes a ref of this side.
func (s *Store) Forget(ctx context.Context, ref string) error {
	_, err := s.Repo.Run(ctx, git.Writing("update-ref", "-d", ref))
	return err
}

// Remove removes the orders and results of attempts from the store. Some may be gone already.
func (s *Store) Remove(ctx context.Context, ids ...order.ID) error {
	if len(ids) == 0 {
		return nil
	}
	var refs []string
	for _, id := range ids {
		refs = append(refs, OrderRef(id), ResultRef(id))
	}
	there, err := s.refs(ctx, refs...)
	if err != nil || len(there) == 0 {
		return err
	}
	return s.Offer(ctx, "", there)
}

// PushOrder writes the contents of an order into a commit, pushes it with all commits that the attempt needs, and returns the message.
func (s *Store) PushOrder(ctx context.Context, c order.Contents, trusted string) (o order.Order, err error) {
	a := &c.Attempt
	o = order.Order{Version: order.Version, ID: order.IDOf(*a), Base: a.Base, Trusted: trusted, Wall: a.Wall}
	files, err := c.Files()
	if err != nil {
		return o, err
	}
	o.Hash = order.HashOf(files)
	w := writer{repo: s.Repo, ref: OrderRef(o.ID), message: "Order " + o.String(), parents: []string{o.Base, trusted}}
	if before := a.Previous.Head; before != "" && git.Has(ctx, s.Repo, before) {
		w.parents = append(w.parents, before)
	}
	for name, text := range files {
		w.add(name, text)
	}
	if o.Commit, err = w.commit(ctx); err != nil {
		return o, err
	}
	s.ordering.Lock()
	defer s.ordering.Unlock()
	err = s.push(ctx, o.Commit+":"+w.ref, o.Base+":"+baseRef+o.Run)
	return o, errors.Join(err, s.Forget(ctx, w.ref))
}

// FetchOrder gets an order, and all commits that it needs, and returns its contents.
func (s *Store) FetchOrder(ctx context.Context, o order.Order) (c order.Contents, err error) {
	if at, err := s.fetch(ctx, OrderRef(o.ID), baseRef+o.Run); err != nil {
		return c, err
	} else if at != o.Commit {
		return c, fmt.Errorf("the order of %s is the commit %s, not %s", o.ID, at, o.Commit)
	}
	files, err := read(ctx, s.Repo, o.Commit, "")
	if err != nil {
		return c, err
	}
	if c, err = order.ContentsIn(files, &o); err != nil {
		return c, err
	}
	for _, commit := range []string{o.Base, o.Trusted} {
		if !git.IsHash(commit) {
			return c, fmt.Errorf("the order of %s names the commit %q", o.ID, commit)
		}
		if held, err := git.Contains(ctx, s.Repo, o.Commit, commit); err != nil || !held {
			return c, errors.Join(err, fmt.Errorf("the order of %s does not bring the commit %s", o.ID, commit))
		}
	}
	return c, nil
}

// Offer gives the store a commit under refs, each for one host to Take. With "" it removes those that none has taken.
func (s *Store) Offer(ctx context.Context, commit string, refs []string) error {
	return s.push(ctx, each.Of(refs, func(ref string) string { return commit + ":" + ref })...)
}

// Take fetches a commit, and removes its ref on both sides.
func (s *Store) Take(ctx context.Context, ref string) (commit string, err error) {
	if commit, err = s.fetch(ctx, ref); err != nil {
		return "", err
	}
	return commit, errors.Join(s.Forget(ctx, ref), s.push(ctx, ":"+ref))
}

// Old lists refs of the store that runs or checks from before a time have left.
func (s *Store) Old(ctx context.Context, before time.Time) (refs []string, err error) {
	refs, err = s.refs(ctx, ordersRef+"*", resultsRef+"*", ChecksRef+"*", baseRef+"*")
	return slices.DeleteFunc(refs, func(ref string) bool {
		run, _, _ := strings.Cut(strings.Split(ref, "/")[3], "-")
		began, err := time.Parse(runTime, run)
		return err != nil || !began.Before(before)
	}), err
}

// Public reports whether the store is a remote of the project itself, which others may be able to read.
func (s *Store) Public(ctx context.Context) (name string, err error) {
	out, err := s.Repo.Run(ctx, git.Call{Args: []string{"config", "--get-regexp", `^remote\..*\.(push)?url$`}})
	if git.ExitCode(err) == 1 {
		return "", nil
	}
	for line := range strings.Lines(string(out)) {
		key, address, _ := strings.Cut(strings.TrimSpace(line), " ")
		if same(address) == same(s.URL) {
			return strings.Split(key, ".")[1], nil
		}
	}
	return "", err
}

// same returns an address in a form in which two of one repository are alike, as far as text tells.
func same(address string) string {
	address = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(address, "/"), ".git"), "/")
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return strings.ToLower(u.Hostname()) + ":" + strings.Trim(u.Path, "/")
	}
	address = strings.TrimPrefix(address, "file://")
	if host, path, ok := strings.Cut(address, ":"); ok && !strings.Contains(host, "/") {
		host = host[strings.LastIndex(host, "@")+1:]
		return strings.ToLower(host) + ":" + strings.Trim(path, "/")
	}
	if real, err := filepath.EvalSymlinks(address); err == nil {
		return real
	}
	return address
}
