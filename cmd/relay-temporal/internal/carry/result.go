package carry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/cmd/relay-temporal/internal/order"
	"relay/epic/plaintext"
	"relay/orchestrator/changes"
	"relay/orchestrator/collect"
	"relay/orchestrator/engine"
	"relay/orchestrator/relayfiles"
	"relay/orchestrator/secrets"
	"relay/reanchor/git"
)

// Names in the commit of a result.
const (
	resultFile  = "result.json"
	messageFile = "message.json" // of the result, without its commit
	filesFolder = "files/"
)

// Done is what an attempt has come to on a host.
type Done struct {
	Host        string
	Result      engine.Result
	Folder      string // of the attempt's files
	Rules       *secrets.Redactor
	SendSecrets bool // the user of the host lets secrets in the work leave it
}

// PushResult pushes what an attempt has come to: its work, unless that has a secret, and its files without secrets. It returns the message.
func (s *Store) PushResult(ctx context.Context, epicID string, o order.Order, d Done) (m order.Result, err error) {
	r := &d.Result
	m = order.Result{Version: order.Version, ID: o.ID, Order: o.Hash, Host: d.Host, Outcome: r.Outcome, Usage: r.Usage}
	if r.Succeeded() {
		r.Receipt.Salvage = "" // it is on its way to land
	}
	commits := map[string]string{} // by ref
	for _, ref := range append([]string{r.Receipt.Salvage}, r.Receipt.Kept...) {
		if at, err := s.Repo.Ref(ctx, ref); err == nil && at != "" {
			commits[ref] = at
		}
	}
	if err := s.keepBack(ctx, o, &d, commits, &m); err != nil {
		return m, err
	}
	w := writer{repo: s.Repo, ref: ResultRef(o.ID), message: "Result " + o.String(), parents: []string{o.Commit, o.Base}}
	if m.Head = r.Head; m.Head != "" {
		w.parents[1] = m.Head
	}
	m.Refs = commits
	w.parents = append(w.parents, slices.Sorted(maps.Values(commits))...)
	if err := w.attempt(ctx, d, &m); err != nil {
		return m, err
	}
	message, err := order.Encode(m)
	if err != nil {
		return m, err
	}
	w.add(messageFile, message)
	if m.Commit, err = w.commit(ctx); err != nil {
		return m, err
	}
	if err := s.push(ctx, m.Commit+":"+w.ref); err != nil {
		return m, err
	}
	return m, errors.Join(s.Forget(ctx, w.ref), s.Forget(ctx, OrderRef(o.ID)))
}

// FindResult returns the message of the result of an order that a host has pushed and that did not arrive; false: there is none.
func (s *Store) FindResult(ctx context.Context, o order.Order) (m order.Result, found bool, err error) {
	there, err := s.refs(ctx, ResultRef(o.ID))
	if err != nil || len(there) == 0 {
		return m, false, err
	}
	at, err := s.fetch(ctx, ResultRef(o.ID))
	if err != nil {
		return m, false, err
	}
	files, err := read(ctx, s.Repo, at, messageFile)
	if err == nil {
		m, err = order.Decode[order.Result](files[""])
	}
	m.Commit = at
	return m, err == nil, err
}

// KeepLate gives a result that came after its attempt was given up a name of its own, and returns that.
func (s *Store) KeepLate(ctx context.Context, epicID string, o order.Order, m order.Result) (ref string, err error) {
	ref = fmt.Sprintf("refs/relay/%s/%s/%d-late", epicID, o.Task, o.Number)
	return ref, errors.Join(s.Keep(ctx, ref, m.Commit), s.Forget(ctx, ResultRef(o.ID)))
}

// keepBack takes out of a result what has a secret, gives the work a ref here, and says where it stays.
func (s *Store) keepBack(ctx context.Context, o order.Order, d *Done, commits map[string]string, m *order.Result) error {
	r := &d.Result
	if d.SendSecrets {
		return nil
	}
	search := collect.Search{Repo: s.Repo, Rules: d.Rules}
	stays := func(what, commit string) (bool, error) {
		if commit == "" || commit == o.Base {
			return false, nil
		}
		found, err := search.Commits(ctx, o.Base, commit)
		if len(found) > 0 {
			m.Stays = append(m.Stays, fmt.Sprintf("%s stays on %s, as the commit %s in %s: it has %s", what, d.Host, commit, s.Repo.Root(), found[0]))
		}
		return len(found) > 0, err
	}
	for _, ref := range slices.Sorted(maps.Keys(commits)) {
		if secret, err := stays(ref, commits[ref]); err != nil {
			return err
		} else if secret {
			delete(commits, ref)
		}
	}
	if secret, err := stays("the work", r.Head); err != nil || !secret {
		return err
	}
	if r.Succeeded() {
		r.Fail("environment", "cli_error", m.Stays[len(m.Stays)-1])
		r.Gate, m.Outcome = "infrastructure", r.Outcome
	}
	head := r.Head
	r.Head = ""
	return s.Keep(ctx, "refs/relay/stays/"+place(o.ID), head)
}

// local are parts of an attempt's folder that are of use on its host only, or that no rule can search.
var local = []string{
	"out", "out.sha256", relayfiles.SlotFile, relayfiles.MakingFile, relayfiles.UntrackedName, relayfiles.KeptName, "ignored", "altered",
}

// attempt adds the result and the files of the attempt.
func (w *writer) attempt(ctx context.Context, d Done, m *order.Result) error {
	rules := plaintext.Cleaner{Line: d.Rules.Text, Block: d.Rules.Text, Own: d.Rules.Text, Most: math.MaxInt}
	text, err := json.Marshal(plaintext.CleanAll(rules, d.Result))
	if err != nil {
		return err
	}
	w.add(resultFile, text)
	return filepath.WalkDir(d.Folder, func(path string, e fs.DirEntry, err error) error {
		rel, outside := filepath.Rel(d.Folder, path)
		if err != nil || outside != nil {
			return errors.Join(err, outside)
		}
		if top, _, _ := strings.Cut(filepath.ToSlash(rel), "/"); slices.Contains(local, top) {
			if top == rel && e.IsDir() {
				m.Stays = append(m.Stays, path+" stays on "+d.Host)
				return fs.SkipDir
			}
			return nil
		}
		if !e.Type().IsRegular() || rel == "changes.patch" && (d.Result.Succeeded() || d.Result.Head == "") {
			return nil
		}
		return w.copy(ctx, filesFolder+filepath.ToSlash(rel), path, d.Rules)
	})
}

// LieError means that what came back is not what was ordered.
type LieError struct{ Host, Why string }

func (e *LieError) Error() string {
	return fmt.Sprintf("what %s has sent is not used: %s", e.Host, e.Why)
}

// Incoming is a result that a host says it has pushed.
type Incoming struct {
	Epic      string // its id
	Order     order.Order
	Message   order.Result
	Protected []string // globs of files that the attempt must not change
}

func (in *Incoming) lie(why string, args ...any) error {
	return &LieError{in.Message.Host, fmt.Sprintf(why, args...)}
}

// FetchResult gets the result of an order and its work, and checks both. The work leads from the order's base, and is on no branch yet;
// what is kept of the attempt has its refs.
func (s *Store) FetchResult(ctx context.Context, in Incoming) (r engine.Result, err error) {
	o, m := &in.Order, &in.Message
	if m.ID != o.ID || m.Order != o.Hash {
		return r, in.lie("it answers another order, %s with the hash %s", m.ID, m.Order)
	}
	if at, err := s.fetch(ctx, ResultRef(o.ID)); err != nil {
		return r, err
	} else if at != m.Commit {
		return r, in.lie("the result is the commit %s, not %s", at, m.Commit)
	}
	out, err := s.Repo.Run(ctx, git.Call{Args: []string{"rev-parse", m.Commit + "^@"}})
	if err != nil {
		return r, err
	}
	parents := strings.Fields(string(out))
	files, err := read(ctx, s.Repo, m.Commit, resultFile)
	if err != nil {
		return r, in.lie("%v", err)
	}
	if err := json.Unmarshal(files[""], &r); err != nil {
		return r, in.lie("the result cannot be read: %v", err)
	}
	r.Head, r.Landed = m.Head, "" // the rules for secrets may have hit the name of a commit
	if err = in.check(&r, parents); err == nil && r.Succeeded() {
		err = s.checkWork(ctx, &in, r.Head)
	}
	if err != nil {
		return engine.Result{}, err
	}
	for name, commit := range m.Refs {
		err = errors.Join(err, s.Keep(ctx, name, commit))
	}
	return r, err
}

// check holds a result against its message, and against the parents of its commit.
func (in *Incoming) check(r *engine.Result, parents []string) error {
	switch {
	case len(parents) == 0 || parents[0] != in.Order.Commit:
		return in.lie("it does not come from the order")
	case r.Outcome != in.Message.Outcome:
		return in.lie("its outcome is %s, and its message says %s", r.Outcome, in.Message.Outcome)
	case r.Head == "" && r.Succeeded():
		return in.lie("it is a success without a commit")
	case r.Head != "" && r.Head != in.Order.Base && !slices.Contains(parents, r.Head):
		return in.lie("its work is the commit %s, which it does not bring", r.Head)
	}
	own := fmt.Sprintf("refs/relay/%s/%s/%d", in.Epic, in.Order.Task, in.Order.Number)
	for name, commit := range in.Message.Refs {
		if name != own && !strings.HasPrefix(name, own+"-") || !slices.Contains(parents, commit) {
			return in.lie("it keeps %s as %s, which is none of this attempt", commit, name)
		}
	}
	return nil
}

// checkWork sees where work that is to land begins, and what it changes.
func (s *Store) checkWork(ctx context.Context, in *Incoming, head string) error {
	held, err := git.Contains(ctx, s.Repo, head, in.Order.Base)
	own, failed := git.Contains(ctx, s.Repo, head, in.Order.Commit)
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	if !held || own {
		return in.lie("its work does not begin at %s", in.Order.Base)
	}
	names, err := s.Repo.Names(ctx, in.Order.Base, head)
	if err != nil {
		return in.lie("its changes cannot be listed: %v", err)
	}
	if hits := changes.ProtectedHits(in.Protected, names); len(hits) > 0 {
		return in.lie("it is a success that changes %s, which is protected", strings.Join(hits, ", "))
	}
	return nil
}

// TakeFiles writes the files of a result into the folder of its attempt, below dir.
func (s *Store) TakeFiles(ctx context.Context, dir, folder string, m order.Result) error {
	return eachFile(ctx, s.Repo, m.Commit, filesFolder, func(name string, from io.Reader) error {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := relayfiles.MakeRoom(dir, path); err != nil {
			return err
		}
		to, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(to, from)
		return errors.Join(err, to.Close())
	})
}
