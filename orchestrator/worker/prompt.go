package worker

import (
	"slices"

	"relay/orchestrator/engine"
	"relay/orchestrator/redact"
	"relay/reanchor"
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
