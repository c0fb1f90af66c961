package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"relay/attempts"
	"relay/configs"
	"relay/orchestrator"
)

// epicFiles are what belongs to one epic, epic.yml first: without it nothing else counts as an epic.
var epicFiles = []string{"epic.yml", "attempt-ledger.yml", "runs", "deferred-findings.jsonl"}

// clear makes room for a new epic: whatever is there of an old one goes to the archive. It refuses an epic that is
// running, and without force one in progress. It returns the archive's path from the root, and the new name of the branch
// that has what the old epic landed and the user's branch lacks, each "" when there is none.
func (p *place) clear(ctx context.Context, opts initOptions, now time.Time) (archived, branch string, err error) {
	var old []string
	for _, name := range epicFiles {
		if exists(p.file(name)) {
			old = append(old, name)
		}
	}
	if len(old) == 0 {
		return "", "", nil
	}
	id, ledger := "unfinished", (*attempts.Ledger)(nil)
	if old[0] == "epic.yml" {
		if id, ledger, err = p.replaceable(opts); err != nil {
			return "", "", err
		}
	}
	folder := p.archiveFolder(id, now)
	if ledger != nil {
		name := "relay/" + filepath.Base(folder)
		moved, err := orchestrator.SetAside(ctx, p.git, ledger, orchestrator.BranchOf{Epic: id, Dir: p.dir, Name: name})
		if err != nil {
			return "", "", fmt.Errorf("rename the old branch: %w", err)
		}
		if moved {
			branch = name
		}
	}
	if err := p.archive(folder, old); err != nil {
		return "", "", fmt.Errorf("archive the old epic: %w", err)
	}
	return p.shown(folder), branch, nil
}

// replaceable decides whether the epic that is there may go, and returns its id and, if it can be read, its ledger.
func (p *place) replaceable(opts initOptions) (id string, ledger *attempts.Ledger, err error) {
	old, err := p.plan()
	if err != nil {
		if opts.force {
			return "unreadable", nil, nil
		}
		return "", nil, &hinted{err: err, code: exitInvalid, hint: "to archive that epic and begin anew: relay init --force " + opts.blueprint}
	}
	view, err := attempts.Read(p.dir, old.epic, old.graph)
	switch {
	case err != nil && opts.force:
		return old.epic.ID, nil, nil
	case err != nil:
		return "", nil, &hinted{err: fmt.Errorf("the ledger of the epic that is there cannot be read: %w", err),
			hint: "relay ledger validate tells what is wrong; relay init --force " + opts.blueprint + " archives it and begins anew"}
	case view.Running:
		return "", nil, &attempts.HeldError{Holder: *view.Holder}
	}
	done, tried := 0, false
	for _, rec := range view.Ledger.Tasks {
		tried = tried || len(rec.Attempts) > 0
		if rec.Completed {
			done++
		}
	}
	if tried && done < len(old.epic.Tasks) && !opts.force {
		return "", nil, &hinted{
			err:  fmt.Errorf("epic %s is in progress: %d of %s completed", old.epic.ID, done, count(len(old.epic.Tasks), "task")),
			hint: "relay work continues it; relay init --force " + opts.blueprint + " archives it and begins anew",
		}
	}
	return old.epic.ID, view.Ledger, nil
}

// archiveFolder is a folder for an epic that is put away, which is not there yet.
func (p *place) archiveFolder(id string, now time.Time) string {
	stamp := now.UTC().Format("20060102T150405Z")
	folder := p.file("archive", id+"-"+stamp)
	for n := 2; exists(folder); n++ {
		folder = p.file("archive", fmt.Sprintf("%s-%s-%d", id, stamp, n))
	}
	return folder
}

// archive moves files out of the way into a folder of their own.
func (p *place) archive(folder string, names []string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, name := range names {
		err := os.Rename(p.file(name), filepath.Join(folder, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// settings are the limits of a configuration as the ledger records them.
func settings(c *configs.Config) attempts.Settings {
	return attempts.Settings{
		MaxAttemptsPerTask: c.Relay.MaxAttemptsPerTask,
		TimeoutMinutes:     c.Relay.Timeout.Minutes(),
		Review:             attempts.ReviewSettings{Enabled: c.Relay.Review.Enabled, Provider: c.Relay.Review.Provider},
	}
}

// replaceFile puts a file in place whole: a reader, or a crash, sees the old one or the new one.
func replaceFile(path string, data []byte) error {
	return replaceWith(path, 0o644, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// replacePrivate is replaceFile for what is nobody else's to read.
func replacePrivate(path string, data []byte) error {
	return replaceWith(path, 0o600, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// replaceWith is replaceFile for what is written piece by piece.
func replaceWith(path string, mode fs.FileMode, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already when all went well
	err = errors.Join(write(f), f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}
