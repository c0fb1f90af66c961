package worker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"relay/orchestrator/engine"
	"relay/orchestrator/git/recordfiles"
	"relay/orchestrator/text"
	"relay/reanchor"
)

// recordLeft records files of an attempt that are in no commit and were not removed either.
func (c collector) recordLeft(f *state) {
	if paths := c.tree.Noted(); len(paths) > 0 {
		f.Note("left", text.Listed(paths)+" is in no commit: left as it is, neither committed nor removed")
	}
}

// withoutRecords leaves out of the changes of an attempt what of relay's records the agent has committed: they are not its work.
func (c collector) withoutRecords(ctx context.Context, a engine.Attempt, names []reanchor.Change, head string) []reanchor.Change {
	if c.tree.Records == nil {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), func(n reanchor.Change) bool {
		return c.tree.User.Also(n.Path) || n.Path == recordfiles.Ledger && c.tree.Records.Between(ctx, a.Base, head)
	})
}

// keepAltered keeps, in the attempt's folder, what it has changed of files that the set-up had made or relay had brought:
// they are in no commit, and are removed.
func (w *slotAttempt) keepAltered(ctx context.Context, f *state) error {
	listed, err := os.Lstat(filepath.Join(w.p.folder, untrackedName))
	if err != nil {
		return nil // nobody knows what was there
	}
	names, err := w.c.tree.User.Altered(ctx, w.c.tree.Runner(), listed.ModTime())
	if err != nil || len(names) == 0 {
		return err
	}
	root, err := os.OpenRoot(w.c.repo.Root())
	if err != nil {
		return err
	}
	defer root.Close()
	to, tooLarge := filepath.Join(w.p.folder, alteredName), []string{}
	left := int64(alteredMost)
	for _, name := range names {
		info, err := root.Lstat(filepath.FromSlash(name))
		if err != nil || info.Size() > left {
			tooLarge = append(tooLarge, name)
			continue
		}
		left -= info.Size()
		if err := w.keepFile(root, name, filepath.Join(to, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	message := text.Listed(names) + " is of the set-up or was brought by relay: what the agent changed of it is in no commit, and is kept in " + w.relative(to)
	if len(tooLarge) > 0 {
		message += ", but not " + text.Listed(tooLarge) + ", which is too large"
	}
	f.Note("left", message)
	return nil
}

// Where what an attempt has altered is kept, and how much of it.
const (
	alteredName = "altered"
	alteredMost = 8 << 20
)

func (w *slotAttempt) keepFile(root *os.Root, name, to string) error {
	content, err := root.ReadFile(filepath.FromSlash(name))
	if err != nil {
		return err
	}
	if err := errors.Join(w.makeRoom(to), os.MkdirAll(filepath.Dir(to), 0o700)); err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o600)
}

// loadOwn reads what an earlier run has written down of what is the user's own.
func (c *checkout) loadOwn(ctx context.Context, run string) error {
	return errors.Join(c.tree.User.Load(ctx, c.tree.Runner(), c.untrackedFile(run)), c.tree.Records.Load(ctx, c.entriesFile(run)))
}

// entriesFile has the lines of the ledger of LedgerSync that were in no commit before a run, and are the user's.
func (c *checkout) entriesFile(run string) string {
	return filepath.Join(c.o.Dir, "runs", run, "entries-before")
}

// untrackedFile lists what was not tracked before a run, and is the user's.
func (c *checkout) untrackedFile(run string) string {
	return filepath.Join(c.o.Dir, "runs", run, untrackedName)
}
