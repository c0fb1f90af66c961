package worktree

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"

	"relay/attempts/ledgersync"
	"relay/epic/each"
	"relay/reanchor/git"
)

// ledgerMost is how much of a ledger is read.
const ledgerMost = 1 << 30

// WithoutRecords returns those of the uncommitted changes of a checkout that are more than records: entries added to the ledger,
// discussions that were only added to, and files that relay alone writes, are left out.
func WithoutRecords(ctx context.Context, repo *git.Repo, changes []git.Change) []git.Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c git.Change) bool { return OnlyRecords(ctx, repo, "HEAD", c.Path) })
}

// TrackedRecords returns the files of Others that git tracks.
func TrackedRecords(ctx context.Context, repo *git.Repo, changes []git.Change) (paths []string) {
	return each.Where(WithoutRecords(ctx, repo, changes), func(c git.Change) (string, bool) { return c.Path, c.Code != "??" })
}

// OnlyRecords reports whether all that a file of the checkout has beyond a commit are records.
func OnlyRecords(ctx context.Context, repo *git.Repo, commit, p string) bool {
	switch {
	case IsDiscussion(p):
		return grown(ctx, repo, commit, p)
	case p != LedgerFile:
		return OwnRecordFile(repo.Root(), p)
	}
	base, _, err := committed(ctx, repo, commit)
	return err == nil && AddsRecords(read(repo.Root()), base)
}

// Between reports whether all that one commit has beyond another in the ledger are entries: an agent has committed them with its own work.
func Between(ctx context.Context, repo *git.Repo, base, head string) bool {
	was, _, err := committed(ctx, repo, base)
	now, found, failed := committed(ctx, repo, head)
	return err == nil && failed == nil && found && AddsRecords(now, was)
}

// AddsRecords reports whether a ledger has all lines of base and, beyond them, nothing but entries.
func AddsRecords(now, base []byte) bool {
	there := lineSet(now)
	for line := range bytes.Lines(base) {
		if !there[trimmed(line)] {
			return false
		}
	}
	for line := range bytes.Lines(added(now, base)) {
		if _, _, err := ledgersync.Decode(line); err != nil {
			return false
		}
	}
	return len(now) > 0
}

// added returns the lines of a ledger that base lacks, each once.
func added(now, base []byte) []byte {
	there := lineSet(base)
	var fresh bytes.Buffer
	for line := range bytes.Lines(now) {
		if key := trimmed(line); key != "" && !there[key] {
			there[key] = true
			fresh.Write(bytes.TrimSuffix(line, []byte("\n")))
			fresh.WriteByte('\n')
		}
	}
	return fresh.Bytes()
}

func lineSet(text []byte) map[string]bool {
	set := make(map[string]bool)
	for line := range bytes.Lines(text) {
		set[trimmed(line)] = true
	}
	return set
}

// read returns the ledger of a checkout; "" if it is not a regular file.
func read(top string) []byte {
	return []byte(git.Plain(filepath.Clean(ledgersync.Path(top)), ledgerMost))
}

// committed returns the ledger of a commit as git writes it into a checkout, if the commit has one.
func committed(ctx context.Context, repo *git.Repo, commit string) (text []byte, found bool, err error) {
	return committedFile(ctx, repo, commit, LedgerFile)
}

// committedFile returns a file of a commit as git writes it into a checkout, if the commit has it.
func committedFile(ctx context.Context, repo *git.Repo, commit, p string) (text []byte, found bool, err error) {
	out, err := repo.Run(ctx, git.Call{Args: []string{"cat-file", "--filters", commit + ":" + p}, Limit: git.MaxPrinted})
	if git.ExitCode(err) == 128 {
		return nil, false, nil
	}
	return out, err == nil, err
}
