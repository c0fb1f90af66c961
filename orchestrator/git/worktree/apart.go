package worktree

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"relay/attempts/discussion"
	"relay/attempts/ledgersync"
	"relay/reanchor/git"
)

// RecordsApart keeps out of git's work what a checkout's ledger and tracked discussions have beyond HEAD. Only one goroutine may use it.
type RecordsApart struct {
	Repo *git.Repo
	All  bool // a ledger that git does not track is removed meanwhile; discussions stay

	busy bool
}

const (
	keptName = "relay-records" // file in .git with what is kept out at the moment: a JSON object of texts by path
	aside    = ".kept"         // ends the name of a discussion that cannot go back to its place, for git has put another one there
)

// Do calls f while the ledger and tracked discussions are as HEAD has them. Afterwards it adds again what they had before, behind what
// git has put there. A nil Apart only calls f, and so does f's own Do.
func (a *RecordsApart) Do(ctx context.Context, f func() error) error {
	if a == nil || a.busy {
		return f()
	}
	a.busy = true
	defer func() { a.busy = false }()
	if err := a.recover(); err != nil {
		return err
	}
	kept, release, err := a.take(ctx)
	if err == nil {
		err = f()
	}
	release()
	return errors.Join(err, a.giveBack(kept))
}

// apart calls f as [RecordsApart.Do] does, and returns its result.
func apart[T any](ctx context.Context, a *RecordsApart, f func() (T, error)) (result T, err error) {
	err = a.Do(ctx, func() error {
		result, err = f()
		return err
	})
	return result, err
}

// take puts the ledger and the discussions back to what HEAD has, and returns what they were. Others append to the ledger after release.
func (a *RecordsApart) take(ctx context.Context) (kept map[string]string, release func(), err error) {
	kept, bases, release := map[string]string{}, map[string][]byte{}, func() {}
	paths, err := a.grownEntries(ctx)
	for _, p := range paths {
		text, _, failed := committedFile(ctx, a.Repo, "HEAD", p)
		kept[p], bases[p], err = string(readFile(fullPath(a.Repo, p))), text, errors.Join(err, failed)
	}
	held, failed := ledgersync.Hold(a.Repo.Root())
	if errors.Is(failed, fs.ErrNotExist) {
		if err == nil {
			err = a.note(kept)
		}
		if err != nil {
			return nil, release, err
		}
		return kept, release, restoreRecords(a.Repo, bases)
	}
	if err = errors.Join(err, failed); err != nil {
		return nil, release, err
	}
	now, err := held.Text()
	base, tracked, failed := committed(ctx, a.Repo, "HEAD")
	if err = errors.Join(err, failed); err != nil {
		return nil, held.Release, err
	}
	kept[LedgerFile] = string(now)
	if err := a.note(kept); err != nil {
		return nil, held.Release, err
	}
	if err := restoreRecords(a.Repo, bases); err != nil {
		return kept, held.Release, err
	}
	switch without := within(now, base); {
	case bytes.Equal(without, now), !a.All && !tracked && !a.seen(ctx):
		return kept, held.Release, nil
	case a.All && !tracked:
		held.Release()
		return kept, release, a.remove()
	default:
		return kept, held.Release, held.Rewrite(without)
	}
}

// note writes down what is kept out: a relay that is killed then has not lost it.
func (a *RecordsApart) note(kept map[string]string) error {
	if len(kept) == 0 {
		return nil
	}
	text, err := json.Marshal(kept)
	return errors.Join(err, os.WriteFile(a.keptFile(), text, 0o600))
}

func restoreRecords(repo *git.Repo, bases map[string][]byte) (err error) {
	for p, base := range bases {
		err = errors.Join(err, os.WriteFile(fullPath(repo, p), base, 0o600))
	}
	return err
}

// remove removes the ledger, and the configuration that relay has put beside it: git shall put its own there.
func (a *RecordsApart) remove() error {
	top := a.Repo.Root()
	if ledgersync.IsNewConfig(top, filepath.Base(top)) {
		if err := os.Remove(filepath.Join(top, ledgersync.Folder, ledgersync.ConfigFile)); err != nil {
			return err
		}
	}
	return os.Remove(ledgersync.Path(top))
}

// within returns the lines of a ledger that base has.
func within(now, base []byte) []byte {
	noted := lineSet(base)
	var rest bytes.Buffer
	for line := range bytes.Lines(now) {
		if noted[trimmed(line)] {
			rest.Write(line)
		}
	}
	if bytes.Equal(bytes.TrimSuffix(rest.Bytes(), []byte("\n")), base) { // its last line had no end
		return base
	}
	return rest.Bytes()
}

// seen reports whether git looks at the ledger though no commit has it.
func (a *RecordsApart) seen(ctx context.Context) bool {
	out, err := a.Repo.Run(ctx, git.Call{Args: []string{"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", LedgerFile}})
	return err != nil || len(out) > 0
}

// giveBack adds the lines that the ledger has no more, and puts discussions back. A discussion that git has replaced by another text stays,
// and what it was goes beside it.
func (a *RecordsApart) giveBack(kept map[string]string) error {
	if len(kept) == 0 {
		return nil
	}
	for p, was := range kept {
		give := giveEntry
		if p == LedgerFile {
			give = giveLines
		}
		if err := give(a.Repo, p, []byte(was)); err != nil {
			return err
		}
	}
	return git.RemoveIfThere(a.keptFile())
}

func giveLines(repo *git.Repo, _ string, was []byte) error {
	top := repo.Root()
	lines := bytes.Split(bytes.TrimSpace(added(was, read(top))), []byte("\n"))
	if len(lines[0]) == 0 {
		return nil
	}
	w, err := ledgersync.Open(top, filepath.Base(top), nil)
	if err != nil {
		return err
	}
	_, err = w.AppendLines(lines...)
	return errors.Join(err, w.Close())
}

func giveEntry(repo *git.Repo, p string, was []byte) error {
	full := fullPath(repo, p)
	now := readFile(full)
	switch {
	case bytes.Equal(now, was) || discussion.Grown(was, now):
		return nil
	case len(now) > 0 && !discussion.Grown(now, was):
		full += aside
	}
	return errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, was, 0o600))
}

// recover gives back what a relay had kept out that was killed.
func (a *RecordsApart) recover() error {
	text := git.Plain(a.keptFile(), ledgerMost)
	if text == "" {
		return nil
	}
	var kept map[string]string
	if json.Unmarshal([]byte(text), &kept) != nil {
		return git.RemoveIfThere(a.keptFile()) // it was cut short: nothing was taken yet
	}
	return a.giveBack(kept)
}

func (a *RecordsApart) keptFile() string { return filepath.Join(a.Repo.GitDir(), keptName) }

// grownEntries lists the tracked discussions that have more than HEAD has of them.
func (a *RecordsApart) grownEntries(ctx context.Context) (paths []string, err error) {
	if _, err := os.Lstat(fullPath(a.Repo, discussion.Folder)); err != nil || a.All {
		return nil, nil //nolint:nilerr // there are none
	}
	args := []string{"diff", "--name-only", "--no-renames", "--diff-filter=M", "-z", "HEAD", "--", discussion.Folder}
	out, err := a.Repo.Run(ctx, git.Call{Args: args, Limit: git.MaxPrinted})
	for p := range strings.SplitSeq(string(out), "\x00") {
		if IsDiscussion(p) && grown(ctx, a.Repo, "HEAD", p) {
			paths = append(paths, p)
		}
	}
	return paths, err
}
