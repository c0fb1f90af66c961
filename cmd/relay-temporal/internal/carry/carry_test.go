package carry

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/cmd/relay-temporal/internal/order"
	"relay/epic"
	"relay/orchestrator/engine"
	"relay/orchestrator/secrets"
	"relay/reanchor/git"
)

func TestMain(m *testing.M) {
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
		"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
	} {
		_ = os.Setenv(name, value)
	}
	os.Exit(m.Run())
}

// lab has a repository on each side, and one that both reach.
type lab struct {
	t            *testing.T
	remote       string
	decides, far *Store
	base         string
}

func newLab(t *testing.T, files int) *lab {
	t.Helper()
	dir := t.TempDir()
	l := &lab{t: t, remote: filepath.Join(dir, "remote.git")}
	l.git(dir, "init", "-q", "--bare", l.remote)
	open := func(name string) *Store {
		l.git(dir, "init", "-q", "-b", "main", name)
		repo, err := git.Open(t.Context(), filepath.Join(dir, name))
		l.must(err)
		return &Store{Repo: repo, URL: l.remote}
	}
	l.decides, l.far = open("project"), open("clone")
	for i := range files {
		path := filepath.Join(l.decides.Repo.Root(), fmt.Sprintf("folder%d", i/100), fmt.Sprintf("file%d.txt", i))
		l.must(errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, fmt.Appendf(nil, "file %d %x\n", i, i*7919), 0o600)))
	}
	l.commit(l.decides, "a.txt", "a")
	l.base = l.head(l.decides)
	return l
}

func (l *lab) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) git(dir string, args ...string) string {
	l.t.Helper()
	cmd := exec.CommandContext(l.t.Context(), "git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		l.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (l *lab) head(s *Store) string { return l.git(s.Repo.Root(), "rev-parse", "HEAD") }

func (l *lab) commit(s *Store, name, text string) {
	l.t.Helper()
	l.must(os.WriteFile(filepath.Join(s.Repo.Root(), name), []byte(text), 0o600))
	l.git(s.Repo.Root(), "add", "-A")
	l.git(s.Repo.Root(), "commit", "-q", "-m", name)
}

const epicID = "20260101-one"

// order sends an order of an attempt and fetches it on the other side.
func (l *lab) order(number int) order.Order {
	l.t.Helper()
	task := epic.Task{ID: "T1", Title: "One"}
	o := &engine.Options{Epic: &epic.Epic{ID: epicID, Tasks: []epic.Task{task}}, Plan: []byte("id: " + epicID + "\n")}
	a := engine.Attempt{Run: "20260101T220000Z-beef", Task: task, Number: number, Base: l.base}
	sent, err := l.decides.PushOrder(l.t.Context(), order.ContentsOf(o, a), l.base)
	l.must(err)
	got, err := l.far.FetchOrder(l.t.Context(), sent)
	l.must(err)
	if got.Attempt.Number != number || got.Epic.ID != epicID || string(got.Plan) != string(o.Plan) {
		l.t.Errorf("got %+v", got)
	}
	return sent
}

// work makes a commit on the far side, and a folder with the files of the attempt.
func (l *lab) work(name, text string) Done {
	l.t.Helper()
	l.git(l.far.Repo.Root(), "checkout", "-q", "--detach", l.base)
	l.commit(l.far, name, text)
	folder := l.t.TempDir()
	l.must(os.MkdirAll(filepath.Join(folder, "checks"), 0o700))
	for file, text := range map[string]string{"transcript.jsonl": "it is " + token + "\n", "checks/1.log": "passed\n", "worktree": "1", "changes.patch": "diff"} {
		l.must(os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600))
	}
	r := engine.Result{Outcome: attempts.Success, Head: l.head(l.far), Receipt: attempts.Receipt{Summary: "it is " + token}}
	return Done{Host: "build1", Result: r, Folder: folder, Rules: secrets.New([]string{"API_TOKEN=" + token})}
}

const token = "q8Zr2LkV0pXw7TnYc4Bd"

func (l *lab) back(o order.Order, d Done) (order.Result, engine.Result, error) {
	l.t.Helper()
	m, err := l.far.PushResult(l.t.Context(), epicID, o, d)
	l.must(err)
	r, err := l.decides.FetchResult(l.t.Context(), Incoming{epicID, o, m, []string{"protected/**"}})
	return m, r, err
}

// An order, its work and its files go there and back, without secrets and what is of use on the host only.
func TestThereAndBack(t *testing.T) {
	t.Parallel()
	l := newLab(t, 3)
	o := l.order(1)
	done := l.work("b.txt", "b")
	m, r, err := l.back(o, done)
	l.must(err)
	if r.Head != done.Result.Head || r.Receipt.Summary != "it is [redacted API_TOKEN]" || len(m.Stays) > 0 {
		t.Errorf("got %+v, %+v", m, r)
	}
	dir := t.TempDir()
	folder := filepath.Join(dir, "runs", o.Run, "T1", "1")
	l.must(l.decides.TakeFiles(t.Context(), dir, folder, m))
	for file, want := range map[string]string{"transcript.jsonl": "it is [redacted API_TOKEN]\n", "checks/1.log": "passed\n"} {
		if text, err := os.ReadFile(filepath.Join(folder, file)); err != nil || string(text) != want {
			t.Errorf("%s: got %q, %v", file, text, err)
		}
	}
	for _, file := range []string{"worktree", "changes.patch"} {
		if _, err := os.Lstat(filepath.Join(folder, file)); err == nil {
			t.Errorf("%s came back", file)
		}
	}
	l.must(l.decides.Keep(t.Context(), "refs/heads/relay-tasks/one/T1", r.Head))
	l.must(l.decides.Forget(t.Context(), ResultRef(o.ID)))
	l.must(l.decides.Remove(t.Context(), o.ID, order.ID{Run: o.Run, Task: "T9", Number: 1}))
	if left := l.git(l.remote, "for-each-ref", "--format=%(refname)"); left != "refs/relay/base/"+o.Run {
		t.Errorf("left in the store: %s", left)
	}
	if at := l.git(l.decides.Repo.Root(), "for-each-ref", "--format=%(refname)", "refs/relay", "refs/heads/relay-tasks"); at != "refs/heads/relay-tasks/one/T1" {
		t.Errorf("left where the run is: %s", at)
	}
	for _, dir := range []string{l.remote} {
		if out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "grep", "-q", token, m.Commit).CombinedOutput(); err == nil {
			t.Errorf("a secret is in the store: %s", out)
		}
	}
}

// The second order sends only what is new, also when the first one was removed.
func TestSecondOrder(t *testing.T) {
	t.Parallel()
	l := newLab(t, 2000)
	size := func() int {
		n := 0
		for _, dir := range []string{l.remote, l.far.Repo.GitDir()} {
			l.must(filepath.Walk(filepath.Join(dir, "objects"), func(_ string, info os.FileInfo, err error) error {
				if err == nil && info.Mode().IsRegular() {
					n += int(info.Size())
				}
				return err
			}))
		}
		return n
	}
	o := l.order(1)
	first := size()
	l.must(l.decides.Remove(t.Context(), o.ID))
	l.commit(l.decides, "b.txt", "b")
	l.base = l.head(l.decides)
	l.order(2)
	second := size() - first
	t.Logf("first order: %d bytes, second: %d", first, second)
	if first < 100_000 || second > 20_000 {
		t.Errorf("the second order moved %d bytes, the first %d", second, first)
	}
}

// What has a secret stays on its host, and the result says what and where.
func TestSecretStays(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1)
	o := l.order(1)
	done := l.work("config.txt", "token = "+token+"\n")
	m, r, err := l.back(o, done)
	l.must(err)
	if r.Outcome != attempts.Environment || r.Gate != attempts.Infrastructure || r.Head != "" || len(m.Stays) != 1 || !strings.Contains(m.Stays[0], "build1") ||
		!strings.Contains(m.Stays[0], "config.txt") {
		t.Errorf("got %+v, %+v", m, r)
	}
	if out, err := exec.CommandContext(t.Context(), "git", "-C", l.remote, "cat-file", "-e", done.Result.Head).CombinedOutput(); err == nil {
		t.Errorf("the work is in the store %s", out)
	}
	done.SendSecrets = true
	if _, r, err = l.back(o, done); err != nil || r.Outcome != attempts.Success || r.Head == "" {
		t.Errorf("got %+v, %v", r, err)
	}
}

// A result whose message did not arrive is found by its ref.
func TestFind(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1)
	o := l.order(1)
	if m, found, err := l.decides.FindResult(t.Context(), o); found || err != nil {
		t.Errorf("got %+v, %v", m, err)
	}
	want, err := l.far.PushResult(t.Context(), epicID, o, l.work("b.txt", "b"))
	l.must(err)
	got, found, err := l.decides.FindResult(t.Context(), o)
	if want.Refs = nil; err != nil || !found || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	ref, err := l.decides.KeepLate(t.Context(), epicID, o, got)
	l.must(err)
	if text := l.git(l.decides.Repo.Root(), "show", ref+":files/checks/1.log"); text != "passed" {
		t.Errorf("got %s", text)
	}
}

// What is kept of an attempt that failed has the same refs on both sides.
func TestKept(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1)
	o := l.order(1)
	done := l.work("b.txt", "b")
	own := "refs/relay/" + epicID + "/T1/1"
	l.git(l.far.Repo.Root(), "update-ref", own, done.Result.Head)
	l.git(l.far.Repo.Root(), "update-ref", own+"-left/files", l.git(l.far.Repo.Root(), "commit-tree", "-m", "left", done.Result.Head+"^{tree}"))
	done.Result.Outcome, done.Result.Receipt.Salvage, done.Result.Receipt.Kept = attempts.Check, own, []string{own + "-left/files"}
	m, _, err := l.back(o, done)
	l.must(err)
	for name, commit := range m.Refs {
		if at := l.git(l.decides.Repo.Root(), "rev-parse", name); at != commit {
			t.Errorf("%s is %s, want %s", name, at, commit)
		}
	}
	if len(m.Refs) != 2 {
		t.Errorf("got %v", m.Refs)
	}
}

// A result that is not what was ordered is not used.
func TestLies(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1)
	o := l.order(1)
	other := l.order(2)
	done := l.work("b.txt", "b")
	m, err := l.far.PushResult(t.Context(), epicID, o, done)
	l.must(err)
	orphan := l.work("c.txt", "c")
	l.git(l.far.Repo.Root(), "checkout", "-q", "--orphan", "other")
	l.commit(l.far, "d.txt", "d")
	orphan.Result.Head = l.head(l.far)
	forbidden := l.work("e.txt", "e")
	l.must(os.MkdirAll(filepath.Join(l.far.Repo.Root(), "protected"), 0o755))
	l.commit(l.far, "protected/f.txt", "f")
	forbidden.Result.Head = l.head(l.far)
	for name, c := range map[string]struct {
		done   *Done
		change func(m *order.Result)
		says   string
	}{
		"another order":    {nil, func(m *order.Result) { m.ID, m.Order = other.ID, other.Hash }, "it answers another order"},
		"another hash":     {nil, func(m *order.Result) { m.Order = other.Hash }, "it answers another order"},
		"another commit":   {nil, func(m *order.Result) { m.Commit = done.Result.Head }, "the result is the commit"},
		"another head":     {nil, func(m *order.Result) { m.Head = strings.Repeat("a", 40) }, "which it does not bring"},
		"no head":          {nil, func(m *order.Result) { m.Head = "" }, "a success without a commit"},
		"another outcome":  {nil, func(m *order.Result) { m.Outcome = attempts.Check }, "its message says check"},
		"foreign ref":      {nil, func(m *order.Result) { m.Refs = map[string]string{"refs/heads/main": m.Head} }, "which is none of this attempt"},
		"ref of a sibling": {nil, func(m *order.Result) { m.Refs = map[string]string{"refs/relay/" + epicID + "/T1/11": m.Head} }, "none of this attempt"},
		"other history":    {&orphan, func(*order.Result) {}, "does not begin at"},
		"protected file":   {&forbidden, func(*order.Result) {}, "protected/f.txt, which is protected"},
	} {
		lied := m
		if c.done != nil {
			lied, err = l.far.PushResult(t.Context(), epicID, o, *c.done)
			l.must(err)
		} else {
			l.must(l.far.push(t.Context(), m.Commit+":"+ResultRef(o.ID)))
		}
		c.change(&lied)
		_, err := l.decides.FetchResult(t.Context(), Incoming{epicID, o, lied, []string{"protected/**"}})
		var lie *LieError
		if !errors.As(err, &lie) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %q", name, err, c.says)
		}
	}
	if at := l.git(l.decides.Repo.Root(), "for-each-ref", "--format=%(refname)", "refs/relay/"+epicID); at != "" {
		t.Errorf("refs were made: %s", at)
	}
}

// A tree with a link, or a name that leads elsewhere, is refused before anything is written.
func TestOddFiles(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1)
	blob := l.git(l.decides.Repo.Root(), "hash-object", "-w", "a.txt")
	for _, entry := range []string{"120000 blob " + blob + "\tresult.json", "100755 blob " + blob + "\tresult.json"} {
		cmd := exec.CommandContext(t.Context(), "git", "mktree")
		cmd.Dir, cmd.Stdin = l.decides.Repo.Root(), strings.NewReader(entry+"\n")
		tree, err := cmd.Output()
		l.must(err)
		commit := l.git(l.decides.Repo.Root(), "commit-tree", "-m", "odd", string(bytes.TrimSpace(tree)))
		if _, err := read(t.Context(), l.decides.Repo, commit, ""); err == nil || !strings.Contains(err.Error(), "must be a plain file") {
			t.Errorf("%s: got %v", entry, err)
		}
	}
}

// A store that is out of reach is tried again until the patience ends.
func TestOutOfReach(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1)
	tried := filepath.Join(t.TempDir(), "tried")
	program := filepath.Join(t.TempDir(), "receive-pack")
	l.must(os.WriteFile(program, []byte("#!/bin/sh\ntest -e "+tried+" && exec git-receive-pack \"$@\"\ntouch "+tried+"; exit 1\n"), 0o700))
	l.git(l.decides.Repo.Root(), "config", "remote.store.url", l.remote)
	l.git(l.decides.Repo.Root(), "config", "remote.store.receivepack", program)
	l.decides.URL = "store"
	if err := l.decides.push(t.Context(), l.base+":refs/relay/x"); err == nil {
		t.Error("it was tried again without patience")
	}
	l.must(os.Remove(tried))
	l.decides.Patience = time.Minute
	l.order(1)
}

// The project's own remotes are known, however their addresses are written.
func TestPublic(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1)
	l.git(l.decides.Repo.Root(), "remote", "add", "origin", "git@example.com:me/project.git")
	l.git(l.decides.Repo.Root(), "remote", "add", "near", l.remote)
	for url, want := range map[string]string{
		"ssh://git@example.com/me/project": "origin", "https://example.com/me/project.git": "origin", "example.com:me/project/": "origin",
		"ssh://git@example.com/me/other": "", "file://" + l.remote: "near", l.remote + "/": "near", "/nowhere": "",
	} {
		s := Store{Repo: l.decides.Repo, URL: url}
		if got, err := s.Public(t.Context()); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", url, got, err, want)
		}
	}
}
