package worktree

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"relay/epic/plaintext"
	"relay/reanchor/git"
)

// StashEntry is one entry of the stash.
type StashEntry struct{ Commit, Message string }

// maxStash bounds what is read of its log: an entry takes some two hundred bytes.
const maxStash = 4 << 20

// Stash lists the stash, oldest entry first, without a git.
func Stash(repo *git.Repo) (entries []StashEntry, err error) {
	path := filepath.Join(repo.CommonDir(), "logs", "refs", "stash")
	data, err := plaintext.ReadFile(path, maxStash)
	if _, odd := errors.AsType[*plaintext.IrregularError](err); odd || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for line := range strings.Lines(string(data)) { // old commit, new commit, who, when, a tab and the message
		head, message, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if fields := strings.Fields(head); len(fields) > 1 {
			entries = append(entries, StashEntry{Commit: fields[1], Message: message})
		}
	}
	return entries, err
}
