package worker

import (
	"errors"
	"os"
	"slices"
	"syscall"

	"relay/orchestrator/engine"
	"relay/orchestrator/redact"
	"relay/reanchor"
	"relay/runners"
)

// PromptOf is what an agent is told, without the secrets that others left in names, commits and receipts. What the user
// wrote into the plan stays as it is.
func PromptOf(o *engine.Options, in reanchor.Input) []byte {
	r := redact.Redactor{Redactor: o.Secrets}
	in.Facts.Recent = slices.Clone(in.Facts.Recent)
	for i := range in.Facts.Recent {
		r.Long(&in.Facts.Recent[i].Subject)
	}
	in.Facts.Changes = slices.Clone(in.Facts.Changes)
	for i := range in.Facts.Changes {
		r.Long(&in.Facts.Changes[i].Path)
		r.Long(&in.Facts.Changes[i].From)
	}
	return withoutSecrets(o, reanchor.Brief(in))
}

// withoutSecrets blanks in a prompt all but what the user wrote into the plan.
func withoutSecrets(o *engine.Options, prompt []byte) []byte {
	return []byte(o.Secrets.Except(string(prompt), string(o.Plan)))
}

// makePrivate blanks secrets in a file that an agent wrote and that has been read, and makes it the user's alone. An
// agent can stand in the way of that; then the file goes, as far as it can. A disk without room is an error: what would be
// freed here is not enough for anything, and the next attempt would pay for that.
func makePrivate(o *engine.Options, path string) error {
	data, err := runners.ReadResultFile(path)
	if err != nil {
		return nil //nolint:nilerr // there is none, or none that anything reads
	}
	part := path + ".part"
	_ = os.Remove(part) // else it may be a link to somewhere
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = f.WriteString(o.Secrets.Text(string(data)))
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
