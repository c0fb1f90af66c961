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
func PromptOf(o *engine.Options, in reanchor.Input) []byte {
	prompt, _ := promptOf(o, in)
	return prompt
}

// promptOf returns the same, and what it holds.
func promptOf(o *engine.Options, in reanchor.Input) ([]byte, attempts.Briefed) {
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
	brief, told := reanchor.Told(in)
	brief = withoutSecrets(o, brief)
	told.Bytes, told.Files = len(brief), reanchor.NamedIn(brief, in)
	return brief, told
}

// documents returns which of the files that a brief tells its agent to follow are in a checkout.
func documents(root string) (found []string) {
	for _, name := range reanchor.Instructions() {
		if info, err := os.Lstat(filepath.Join(root, name)); err == nil && !info.IsDir() {
			found = append(found, name)
		}
	}
	return found
}

// withoutSecrets blanks in a prompt all but what the user wrote into the plan.
func withoutSecrets(o *engine.Options, prompt []byte) []byte {
	return []byte(o.Secrets.Except(string(prompt), string(o.Plan)))
}
