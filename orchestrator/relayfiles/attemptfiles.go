// Package relayfiles keeps relay's own files besides the log: those of attempts, agents' output, the lock of a run, and the ledger that
// an epic's branch belongs to.
//
// attemptfiles.go writes and cleans the files of an attempt in relay's folder, where agents can write as well.
//
// epicbranch.go tells whose an epic's integration branch is: the ledger that has made it, or another one of the same epic id.
//
// run.go holds a run's locks: on its epic, and on the checkout it works in.
//
// transcripts.go keeps what agents have printed: as they print it while an attempt is open, compressed after the run, and until somebody
// removes what is old. Agents can write where these files are, so only regular files are opened, through no link.
package relayfiles

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"relay/attempts"
	"relay/orchestrator/secrets"
	"relay/reanchor/git"
	"relay/runners"
)

// MakeRoom makes sure that files of an attempt can be made below dir, the epic's folder, whatever agents have put where
// they go.
func MakeRoom(dir string, files ...string) error {
	top, folder, made := filepath.Join(dir, attempts.RunsDir), "", false
	for _, file := range files {
		var err error
		if at := filepath.Dir(file); at != folder {
			folder = at
			made, err = git.ClearFolder(top, folder)
		}
		if err == nil && !made {
			err = git.RemoveTree(file)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// IsIn reports whether a path is a folder or below it.
func IsIn(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+string(filepath.Separator))
}

// MakePrivate blanks secrets in a file that an agent wrote and that has been read, and makes it the user's alone. An
// agent can stand in the way of that; then the file goes, as far as it can. A disk without room is an error: what would be
// freed here is not enough for anything, and the next attempt would pay for that.
func MakePrivate(s *secrets.Redactor, path string) error {
	data, err := runners.ReadResultFile(path)
	if err != nil {
		return nil //nolint:nilerr // there is none, or none that anything reads
	}
	part := path + ".part"
	_ = os.Remove(part) // else it may be a link to somewhere
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = f.WriteString(s.Text(string(data)))
		if err = errors.Join(err, f.Close()); err == nil {
			err = os.Rename(part, path)
		}
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return errors.Join(err, os.Remove(part))
	case err != nil:
		_, _ = os.Remove(path), os.Remove(part)
	}
	return nil
}
