package trees

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"relay/reanchor"
)

// Stashed is one entry of the stash, which all worktrees of a repository share.
type Stashed struct{ Commit, Message string }

// On reports whether an entry was made on a branch.
func (e Stashed) On(branch string) bool {
	return strings.HasPrefix(e.Message, "WIP on "+branch+": ") || strings.HasPrefix(e.Message, "On "+branch+": ")
}

// OnTask reports whether an entry was made on the branch of any task: an agent that runs now may want it back.
func (e Stashed) OnTask() bool {
	return strings.HasPrefix(e.Message, "WIP on "+TaskBranches) || strings.HasPrefix(e.Message, "On "+TaskBranches)
}

// maxStash bounds what is read of its log: an entry takes some two hundred bytes.
const maxStash = 4 << 20

// stashLog is the log of the stash, oldest entry first.
type stashLog struct {
	lines   []string // as git wrote them: old commit, new commit, who, when, a tab and the message
	entries []Stashed
	whole   bool // nothing was left out
}

// Stash lists the stash, oldest entry first, without a git.
func Stash(repo *reanchor.Git) ([]Stashed, error) {
	log, err := readStash(repo)
	return log.entries, err
}

func stashLogPath(repo *reanchor.Git) string {
	return filepath.Join(repo.CommonDir(), "logs", "refs", "stash")
}

func readStash(repo *reanchor.Git) (log stashLog, err error) {
	info, err := os.Stat(stashLogPath(repo))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return log, nil
	}
	if err != nil {
		return log, err
	}
	f, err := os.Open(stashLogPath(repo))
	if err != nil {
		return log, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxStash))
	log.whole = err == nil && info.Size() < maxStash
	for line := range strings.Lines(string(data)) {
		head, message, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if fields := strings.Fields(head); len(fields) > 1 {
			log.lines = append(log.lines, line)
			log.entries = append(log.entries, Stashed{Commit: fields[1], Message: message})
		}
	}
	return log, err
}

// unstashTries bounds how often an entry is taken out while somebody else stashes.
const unstashTries = 10

// Unstash takes an entry out of the stash, and no other: git stash drop knows entries by their place, which changes while
// somebody else stashes.
func Unstash(ctx context.Context, repo *reanchor.Git, e Stashed) error {
	var err error
	for range unstashTries {
		tip, _ := repo.Run(ctx, reanchor.Call{Args: []string{"rev-parse", "--verify", "--quiet", stashRef}}) // none: nothing to take out of
		log, reading := readStash(repo)
		switch {
		case reading != nil:
			return reading
		case !slices.Contains(log.entries, e):
			return nil
		case len(log.entries) > 1:
			return takeOut(ctx, repo, e)
		}
		// With the last entry goes the ref, if it is still the one that was seen.
		if _, err = repo.Run(ctx, Writing("update-ref", "--no-deref", "-d", stashRef, strings.TrimSpace(string(tip)))); err == nil {
			return nil
		}
	}
	return err
}

// takeOut does what git reflog delete --rewrite --updateref does, with git's lock of the stash taken before the entry is
// looked for.
func takeOut(ctx context.Context, repo *reanchor.Git, e Stashed) (err error) {
	if err := latch(ctx, repo, stashRef); err != nil {
		return err
	}
	lock := lockOf(repo, stashRef)
	latched := true
	defer func() {
		if latched {
			err = errors.Join(err, os.Remove(lock))
		}
	}()
	log, err := readStash(repo)
	at := slices.Index(log.entries, e)
	if err != nil || at < 0 || len(log.lines) == 1 || !log.whole {
		return err
	}
	if at+1 < len(log.lines) { // whose old commit is now the one before
		_, rest, _ := strings.Cut(log.lines[at+1], " ")
		was, _, _ := strings.Cut(log.lines[at], " ")
		log.lines[at+1] = was + " " + rest
	}
	last := at+1 == len(log.lines)
	if err := replaceFile(stashLogPath(repo), []byte(strings.Join(slices.Delete(log.lines, at, at+1), ""))); err != nil || !last {
		return err
	}
	if err := os.WriteFile(lock, []byte(log.entries[at-1].Commit+"\n"), 0o644); err != nil {
		return err
	}
	if err := os.Rename(lock, filepath.Join(repo.CommonDir(), filepath.FromSlash(stashRef))); err != nil {
		return err
	}
	latched = false
	return nil
}

// latch takes git's lock of a ref, as soon as nobody who lives has it.
func latch(ctx context.Context, repo *reanchor.Git, ref string) error {
	late := time.NewTimer(2 * deadRef)
	defer late.Stop()
	pause := time.NewTicker(deadRef / 300)
	defer pause.Stop()
	for {
		f, err := os.OpenFile(lockOf(repo, ref), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err == nil {
			return f.Close()
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-late.C:
			return err
		case <-pause.C:
		}
		if err := Unlatch(repo, ref); err != nil {
			return err
		}
	}
}
