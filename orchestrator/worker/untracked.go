package worker

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"relay/orchestrator/text"
)

// recordLeft records files of an attempt that are in no commit and were not removed either.
func (c collector) recordLeft(f *state) {
	if paths := c.tree.Noted(); len(paths) > 0 {
		f.Note("left", text.Listed(paths)+" is in no commit: left as it is, neither committed nor removed")
	}
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

// untrackedFile lists what was not tracked before a run, and is the user's.
func (c *checkout) untrackedFile(run string) string {
	return filepath.Join(c.o.Dir, "runs", run, untrackedName)
}
