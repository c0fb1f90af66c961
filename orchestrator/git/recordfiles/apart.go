package recordfiles

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"relay/attempts/ledgersync"
	"relay/orchestrator/git/gitcmd"
	"relay/reanchor"
)

// Apart keeps records out of the ledger of a checkout while git works on it. Only one goroutine may use it.
type Apart struct {
	Repo *reanchor.Git
	All  bool // all that is in no commit is kept out, whoever has added it, and a ledger that git does not track altogether

	before []string // lines and paths of discussions that others had added to when the run began, and that were in no commit
	busy   bool
}

// keptName is the file in .git with the lines that are kept out at the moment: a relay that is killed then has not lost them.
const keptName = "relay-records"

// Do calls f while the ledger has no line of relay that is in no commit. Afterwards it has again all lines of relay that it had before,
// each once, behind those that git has put there. So it is with tracked discussions, but for All:
// what is done then leaves them alone. A nil Apart only calls f, and so does f's own Do.
func (a *Apart) Do(ctx context.Context, f func() error) error {
	if a == nil || a.busy {
		return f()
	}
	a.busy = true
	defer func() { a.busy = false }()
	if err := errors.Join(a.recoverKept(), a.recoverEntries()); err != nil {
		return err
	}
	kept, release, err := a.take(ctx)
	var entries map[string]string
	if err == nil && !a.All {
		entries, err = a.takeEntries(ctx)
	}
	if err == nil {
		err = f()
	}
	release()
	return errors.Join(err, a.giveBack(kept), a.giveEntriesBack(entries))
}

// Record takes note of the lines that others have added when a run begins.
func (a *Apart) Record(ctx context.Context) error {
	if err := errors.Join(a.recoverKept(), a.recoverEntries()); err != nil {
		return err
	}
	base, _, err := committed(ctx, a.Repo, "HEAD")
	a.before = nil
	for line := range bytes.Lines(added(read(a.Repo.Root()), base)) {
		a.before = append(a.before, trimmed(line))
	}
	entries, eerr := a.grownEntries(ctx)
	a.before = append(a.before, entries...)
	return errors.Join(err, eerr)
}

// Save writes down what Record has noted, for a run that has to bring this one to its end.
func (a *Apart) Save(file string) error {
	var text bytes.Buffer
	for _, line := range a.before {
		text.WriteString(line + "\n")
	}
	return os.WriteFile(file, text.Bytes(), 0o600)
}

// Load reads what Save of an earlier run has written. When that is gone, all lines that are there count as noted.
func (a *Apart) Load(ctx context.Context, file string) error {
	text := gitcmd.Plain(file, ledgerMost)
	if _, err := os.Lstat(file); err != nil {
		return a.Record(ctx)
	}
	a.before = nil
	for line := range bytes.Lines([]byte(text)) {
		a.before = append(a.before, trimmed(line))
	}
	return nil
}

// Between reports whether all that one commit has beyond another in the ledger are lines that are no attempt's: an agent has committed
// them with its own work.
func (a *Apart) Between(ctx context.Context, base, head string) bool {
	was, _, err := committed(ctx, a.Repo, base)
	if err != nil {
		return false
	}
	now, found, err := committed(ctx, a.Repo, head)
	if err != nil || !found || !Adds(now, was) {
		return false
	}
	without, _, _ := a.split(now, was)
	return len(added(without, was)) == 0
}

// take takes the lines out that are no part of anybody's work, and returns all of them that the ledger has. Nobody appends to it until
// release is called.
func (a *Apart) take(ctx context.Context) (kept [][]byte, release func(), err error) {
	held, err := ledgersync.Hold(a.Repo.Root())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, func() {}, nil
	}
	if err != nil {
		return nil, func() {}, err
	}
	now, err := held.Text()
	if err != nil {
		return nil, held.Release, err
	}
	base, tracked, err := committed(ctx, a.Repo, "HEAD")
	if err != nil {
		return nil, held.Release, err
	}
	without, out, kept := a.split(now, base)
	if len(out) == 0 || !a.All && !tracked && !a.seen(ctx) {
		return kept, held.Release, nil
	}
	if err := os.WriteFile(a.keptFile(), append(bytes.Join(kept, []byte("\n")), '\n'), 0o600); err != nil {
		return nil, held.Release, err
	}
	if a.All && !tracked {
		held.Release()
		return kept, func() {}, a.remove()
	}
	return kept, held.Release, held.Rewrite(without)
}

// remove removes the ledger, and the configuration that relay has put beside it: git shall put its own there.
func (a *Apart) remove() error {
	top := a.Repo.Root()
	if ledgersync.IsNewConfig(top, filepath.Base(top)) {
		if err := os.Remove(filepath.Join(top, ledgersync.Folder, ledgersync.ConfigFile)); err != nil {
			return err
		}
	}
	return os.Remove(ledgersync.Path(top))
}

// split returns a ledger without the lines that are kept out, these lines, and all lines of their kind that it has.
func (a *Apart) split(now, base []byte) (without []byte, out, kept [][]byte) {
	noted := lineSet(base)
	before := make(map[string]bool)
	for _, line := range a.before {
		before[line] = true
	}
	var rest bytes.Buffer
	for line := range bytes.Lines(now) {
		key := trimmed(line)
		switch nobodys := before[key] || Own([]byte(key)); {
		case !noted[key] && (a.All || nobodys):
			kept, out = append(kept, []byte(key)), append(out, []byte(key))
			continue
		case !a.All && nobodys: // the commit that has it may be taken back
			kept = append(kept, []byte(key))
		}
		rest.Write(line)
	}
	without = rest.Bytes()
	if len(out) > 0 && bytes.Equal(bytes.TrimSuffix(without, []byte("\n")), base) { // the last line of base had no end
		without = base
	}
	return without, out, kept
}

// seen reports whether git looks at the ledger though no commit has it.
func (a *Apart) seen(ctx context.Context) bool {
	out, err := a.Repo.Run(ctx, reanchor.Call{Args: []string{"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", Ledger}})
	return err != nil || len(out) > 0
}

// giveBack adds the lines that the ledger has no more.
func (a *Apart) giveBack(kept [][]byte) error {
	there := lineSet(read(a.Repo.Root()))
	var lines [][]byte
	for _, line := range kept {
		if key := string(line); !there[key] && key != "" {
			there[key] = true
			lines = append(lines, line)
		}
	}
	if len(lines) > 0 {
		top := a.Repo.Root()
		w, err := ledgersync.Open(top, filepath.Base(top), nil)
		if err != nil {
			return err
		}
		_, err = w.AppendLines(lines...)
		if err := errors.Join(err, w.Close()); err != nil {
			return err
		}
	}
	return gitcmd.RemoveIfThere(a.keptFile())
}

// recoverKept gives back what a relay had kept out that was killed.
func (a *Apart) recoverKept() error {
	var kept [][]byte
	for line := range bytes.Lines([]byte(gitcmd.Plain(a.keptFile(), ledgerMost))) {
		kept = append(kept, bytes.TrimRight(line, "\r\n"))
	}
	if len(kept) == 0 {
		return nil
	}
	return a.giveBack(kept)
}

func (a *Apart) keptFile() string { return filepath.Join(a.Repo.GitDir(), keptName) }
