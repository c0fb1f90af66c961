package attempts

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"relay/attempts/internal/durable"
)

// overruled returns the settings of a run, with what a foreign ledger had besides.
func (s Settings) overruled(by Settings) Settings {
	by.Extra, by.Review.Extra = s.Extra, s.Review.Extra
	return by
}

// differences names the settings that others has otherwise, with its values, as in "max_attempts_per_task: 5".
func (s Settings) differences(others Settings) []string {
	var out []string
	add := func(name string, ours, theirs any) {
		if ours != theirs {
			out = append(out, fmt.Sprintf("%s: %v", name, theirs))
		}
	}
	add("max_attempts_per_task", s.MaxAttemptsPerTask, others.MaxAttemptsPerTask)
	add("timeout_minutes", s.TimeoutMinutes, others.TimeoutMinutes)
	add("review.enabled", s.Review.Enabled, others.Review.Enabled)
	add("review.provider", s.Review.Provider, others.Review.Provider)
	return out
}

// keepForeign copies a ledger that relay did not write to a name of its own before it is replaced, and tells where, and which
// of its settings do not count.
func keepForeign(fsys durable.FS, o *Options, theirs Settings) error {
	name := LedgerFile + ".foreign"
	for n := 2; ; n++ {
		if _, err := fsys.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return err
		}
		name = fmt.Sprintf("%s.foreign-%d", LedgerFile, n)
	}
	if err := durable.CopyFile(fsys, LedgerFile, name); err != nil {
		return fmt.Errorf("keep a copy of %s: %w", LedgerFile, err)
	}
	o.Warn(fmt.Sprintf("relay writes %s from now on; the old file is kept in %s", LedgerFile, filepath.Join(o.Dir, name)))
	if o.Fresh == nil {
		return nil
	}
	ours := *o.Fresh
	theirs.MaxAttemptsPerTask = cmp.Or(theirs.MaxAttemptsPerTask, ours.MaxAttemptsPerTask) // what it does not say is not overruled
	theirs.TimeoutMinutes = cmp.Or(theirs.TimeoutMinutes, ours.TimeoutMinutes)
	if theirs.Review.Provider == "" {
		theirs.Review = ours.Review
	}
	if over := ours.differences(theirs); len(over) > 0 {
		o.Warn(fmt.Sprintf("the configuration overrules these settings of %s: %s", LedgerFile, strings.Join(over, ", ")))
	}
	return nil
}
