package worktree_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"relay/orchestrator/git/worktree"
	"relay/reanchor/git/repotest"
)

const (
	entry   = ".ledger/entries/mine.yaml"
	origin  = "topic: Mine\norigin: epic/T1/run/1/gate\nhistory:\n  - status: unresolved\n"
	noted   = origin + "  - status: tentative\n"
	noticed = origin + "  - status: accepted\n"
)

// discussed returns a repository with a tracked discussion of relay that has more than its commit has.
func discussed(t *testing.T) (*repotest.Repo, *worktree.RecordsApart) {
	t.Helper()
	l := repotest.New(t)
	l.Write(entry, origin)
	l.Sh("git add -f .ledger; git commit -q -m Discussed")
	l.Write(entry, noted)
	return l, &worktree.RecordsApart{Repo: l.Open()}
}

// What is added to a discussion of relay is no change while git works, whatever git does, and is there again afterwards.
func TestDiscussionsApart(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	for name, c := range map[string]struct {
		work string // what git does meanwhile
		err  error
		want map[string]string
	}{
		"nothing":           {"", nil, map[string]string{entry: noted}},
		"it fails":          {"", failed, map[string]string{entry: noted}},
		"the same":          {"printf '" + noted + "' > " + entry, nil, map[string]string{entry: noted}},
		"more":              {"printf '" + noted + "  - status: revived\n' > " + entry, nil, map[string]string{entry: noted + "  - status: revived\n"}},
		"another text":      {"printf '" + noticed + "' > " + entry, nil, map[string]string{entry: noticed, entry + ".kept": noted}},
		"it removes it":     {"rm -r .ledger", nil, map[string]string{entry: noted}},
		"less":              {"echo 'topic: Mine' > " + entry, nil, map[string]string{entry: noted}},
		"it cannot be read": {"echo '[' > " + entry, nil, map[string]string{entry: "[\n", entry + ".kept": noted}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, apart := discussed(t)
			err := apart.Do(t.Context(), func() error {
				if got := l.Git("status", "--porcelain"); got != "" {
					t.Errorf("while git works there is %s", got)
				}
				l.Sh(strings.ReplaceAll(c.work, "\n", `\n`))
				return c.err
			})
			if !errors.Is(err, c.err) {
				t.Error(err)
			}
			l.Wants(c.want)
			if _, err := os.Lstat(l.Path(".git/relay-records")); !os.IsNotExist(err) {
				t.Error("what was kept out is still noted")
			}
		})
	}
}

// A relay that is killed while git works has lost nothing: the next one gives back what was kept out.
func TestDiscussionsAfterKill(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]func(context.Context, *worktree.RecordsApart) error{
		"the next work": func(ctx context.Context, a *worktree.RecordsApart) error {
			return a.Do(ctx, func() error { return nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, apart := discussed(t)
			note := ""
			_ = apart.Do(t.Context(), func() error {
				data, err := os.ReadFile(l.Path(".git/relay-records"))
				note = string(data)
				return err
			})
			l.Write(entry, origin) // as it was when the other was killed
			l.Write(".git/relay-records", note)
			if err := again(t.Context(), &worktree.RecordsApart{Repo: l.Open()}); err != nil {
				t.Error(err)
			}
			l.Wants(map[string]string{entry: noted})

			l.Write(".git/relay-records", note[:len(note)/2]) // killed before anything was taken
			if err := again(t.Context(), &worktree.RecordsApart{Repo: l.Open()}); err != nil {
				t.Error(err)
			}
			l.Wants(map[string]string{entry: noted})
		})
	}
}

// What could not be noted stays where it is: a relay that is killed then has not lost it.
func TestDiscussionsThatCannotBeNoted(t *testing.T) {
	t.Parallel()
	for _, ledger := range []bool{false, true} {
		l, apart := discussed(t)
		if ledger {
			l.Write(".ledgersync/ledger.jsonl", "{\"id\":\"person\"}\n")
		}
		l.Write(".git/relay-records/x", "")
		l.Sh("touch -d '1 hour ago' " + entry)
		before := l.Sh("stat -c %y " + entry)
		err := apart.Do(t.Context(), func() error { return nil })
		if after := l.Sh("stat -c %y " + entry); err == nil || after != before {
			t.Errorf("with a ledger %v: it was written at %s and at %s (%v)", ledger, before, after, err)
		}
		l.Wants(map[string]string{entry: noted})
	}
}
