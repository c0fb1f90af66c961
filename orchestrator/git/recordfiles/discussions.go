package recordfiles

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"relay/attempts/discussion"
	"relay/orchestrator/git/gitcmd"
	"relay/reanchor"
)

// keptEntriesName is the file in .git with the discussions that are kept out at the moment, as they were: a JSON object of texts by path.
const keptEntriesName = "relay-discussions"

// aside ends the name of a discussion that cannot go back to its place, for git has put another one there.
const aside = ".kept"

// IsDiscussion reports whether a path of a checkout is that of a discussion.
func IsDiscussion(p string) bool {
	return path.Dir(p) == discussion.Folder && (path.Ext(p) == ".yaml" || path.Ext(p) == ".yml")
}

// isRelays reports whether a file is a discussion that relay has opened, or half of one.
func isRelays(full string) bool {
	if strings.HasSuffix(full, discussion.TempSuffix) {
		return true
	}
	e, err := discussion.Decode(readFile(full))
	return err == nil && e.Origin != ""
}

// grown reports whether a file of the checkout is a discussion that has all that a commit has of it.
func grown(ctx context.Context, repo *reanchor.Git, commit, p string) bool {
	now := readFile(fullPath(repo, p))
	base, found, err := committedFile(ctx, repo, commit, p)
	if err != nil {
		return false
	}
	if !found {
		_, err := discussion.Decode(now)
		return err == nil
	}
	return discussion.Grown(base, now)
}

func fullPath(repo *reanchor.Git, p string) string {
	return filepath.Join(repo.Root(), filepath.FromSlash(p))
}

func readFile(full string) []byte { return []byte(gitcmd.Plain(full, discussion.MaxSize)) }

// grownEntries lists the tracked discussions that have more than HEAD has of them.
func (a *Apart) grownEntries(ctx context.Context) (paths []string, err error) {
	if _, err := os.Lstat(fullPath(a.Repo, discussion.Folder)); err != nil {
		return nil, nil //nolint:nilerr // there are none
	}
	args := []string{"diff", "--name-only", "--no-renames", "--diff-filter=M", "-z", "HEAD", "--", discussion.Folder}
	out, err := a.Repo.Run(ctx, reanchor.Call{Args: args, Limit: gitcmd.MaxPrinted})
	for p := range strings.SplitSeq(string(out), "\x00") {
		if IsDiscussion(p) && grown(ctx, a.Repo, "HEAD", p) {
			paths = append(paths, p)
		}
	}
	return paths, err
}

// takeEntries puts tracked discussions back to what HEAD has, as far as what was added to them is nobody's work: relay has opened them, or
// somebody had added to them before the run. It returns what they were.
func (a *Apart) takeEntries(ctx context.Context) (kept map[string]string, err error) {
	paths, err := a.grownEntries(ctx)
	if err != nil {
		return nil, err
	}
	bases := map[string][]byte{}
	kept = map[string]string{}
	for _, p := range paths {
		full := fullPath(a.Repo, p)
		if !isRelays(full) && !slices.Contains(a.before, p) {
			continue
		}
		if bases[p], _, err = committedFile(ctx, a.Repo, "HEAD", p); err != nil {
			return nil, err
		}
		kept[p] = string(readFile(full))
	}
	if len(kept) == 0 {
		return nil, nil
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(a.keptEntriesFile(), text, 0o600); err != nil {
		return nil, err
	}
	for p, base := range bases {
		if err := os.WriteFile(fullPath(a.Repo, p), base, 0o600); err != nil {
			return kept, err
		}
	}
	return kept, nil
}

// giveEntriesBack puts discussions back that were kept out. One that git has replaced by another text stays, and
// what it was goes beside it.
func (a *Apart) giveEntriesBack(kept map[string]string) error {
	for p, was := range kept {
		full := fullPath(a.Repo, p)
		now := readFile(full)
		switch {
		case bytes.Equal(now, []byte(was)) || discussion.Grown([]byte(was), now):
			continue
		case len(now) > 0 && !discussion.Grown(now, []byte(was)):
			full += aside
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(was), 0o600)); err != nil {
			return err
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return gitcmd.RemoveIfThere(a.keptEntriesFile())
}

// recoverEntries gives back what a relay had kept out that was killed.
func (a *Apart) recoverEntries() error {
	text := gitcmd.Plain(a.keptEntriesFile(), ledgerMost)
	if text == "" {
		return nil
	}
	var kept map[string]string
	if json.Unmarshal([]byte(text), &kept) != nil {
		return gitcmd.RemoveIfThere(a.keptEntriesFile()) // it was cut short: nothing was taken yet
	}
	return a.giveEntriesBack(kept)
}

func (a *Apart) keptEntriesFile() string { return filepath.Join(a.Repo.GitDir(), keptEntriesName) }
