package briefing

import (
	"os"
	"path/filepath"
	"slices"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/secrets"
	"relay/reanchor"
	"relay/reanchor/git"
)

// Prompt returns a brief without the secrets that others left in names, commits and receipts. It does not change the user's
// words in the plan.
func Prompt(o *engine.LocalOptions, in reanchor.Input) []byte {
	prompt, _ := Held(o, in)
	return prompt
}

// Held returns the same, and what the ledger records of it.
func Held(o *engine.LocalOptions, in reanchor.Input) ([]byte, attempts.Briefed) {
	r := secrets.Cleaner{Redactor: o.Secrets}
	in.Facts.Recent = slices.Clone(in.Facts.Recent)
	for i := range in.Facts.Recent {
		r.Long(&in.Facts.Recent[i].Subject)
	}
	in.Facts.Changes = slices.Clone(in.Facts.Changes)
	for i := range in.Facts.Changes {
		r.Long(&in.Facts.Changes[i].Path)
		r.Long(&in.Facts.Changes[i].From)
	}
	r.Long(&in.Handoff.Text)
	r.Long(&in.Handoff.Context)
	in.Threads, in.Entries = slices.Clone(in.Threads), slices.Clone(in.Entries)
	for i := range in.Threads {
		r.Long(&in.Threads[i].Question)
	}
	for i := range in.Entries {
		r.Long(&in.Entries[i].Text)
	}
	brief, told := reanchor.Told(in)
	brief = WithoutSecrets(o, brief)
	told.Bytes, told.Files = len(brief), reanchor.NamedIn(brief, in)
	return brief, told
}

// WithoutSecrets blanks in a prompt all but what the user wrote into the plan.
func WithoutSecrets(o *engine.LocalOptions, prompt []byte) []byte {
	return []byte(o.Secrets.Except(string(prompt), o.Plan))
}

// FilesIn returns which of some files, named from the top of a checkout, are there.
func FilesIn(root string, names []string) (found []string) {
	for _, name := range names {
		if info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(name))); err == nil && !info.IsDir() {
			found = append(found, name)
		}
	}
	return found
}

// ExistsIn reports whether a checkout has a file or folder, named from its top.
func ExistsIn(root, name string) bool {
	name = filepath.FromSlash(name)
	return filepath.IsLocal(name) && git.Exists(filepath.Join(root, name))
}
