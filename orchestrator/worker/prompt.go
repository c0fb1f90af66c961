package worker

import (
	"os"
	"path/filepath"
	"slices"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/redact"
	"relay/reanchor"
)

// PromptOf is what an agent is told, without the secrets that others left in names, commits and receipts. What the user
// wrote into the plan stays as it is.
func PromptOf(o *engine.LocalOptions, in reanchor.Input) []byte {
	prompt, _ := promptOf(o, in)
	return prompt
}

// promptOf returns the same, and what it holds.
func promptOf(o *engine.LocalOptions, in reanchor.Input) ([]byte, attempts.Briefed) {
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
	brief = withoutSecrets(o, brief)
	told.Bytes, told.Files = len(brief), reanchor.NamedIn(brief, in)
	return brief, told
}

// filesIn returns which of some files, named from the top of a checkout, are there.
func filesIn(root string, names []string) (found []string) {
	for _, name := range names {
		if info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(name))); err == nil && !info.IsDir() {
			found = append(found, name)
		}
	}
	return found
}

// existsIn reports whether a checkout has a file or folder, named from its top.
func existsIn(root, name string) bool {
	name = filepath.FromSlash(name)
	return filepath.IsLocal(name) && exists(filepath.Join(root, name))
}

// withoutSecrets blanks in a prompt all but what the user wrote into the plan.
func withoutSecrets(o *engine.LocalOptions, prompt []byte) []byte {
	return []byte(o.Secrets.Except(string(prompt), o.Plan))
}
