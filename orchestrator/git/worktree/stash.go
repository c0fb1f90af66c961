package worktree

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"relay/reanchor/git"
)

// StashEntry is one entry of the stash.
type StashEntry struct{ Commit, Message string }

// maxStash bounds what is read of its log: an entry takes some two hundred bytes.
const maxStash = 4 << 20

// Stash lists the stash, oldest entry first, without a git.
func Stash(repo *git.Repo) (entries []StashEntry, err error) {
	path := filepath.Join(repo.CommonDir(), "logs", "refs", "stash")
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxStash))
	for line := range strings.Lines(string(data)) { // old commit, new commit, who, when, a tab and the message
		head, message, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if fields := strings.Fields(head); len(fields) > 1 {
			entries = append(entries, StashEntry{Commit: fields[1], Message: message})
		}
	}
	return entries, err
}
