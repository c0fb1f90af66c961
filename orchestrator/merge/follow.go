package merge

import (
	"context"
	"fmt"

	"relay/attempts"
	"relay/orchestrator/git/integration"
	"relay/orchestrator/text"
)

// Follow adds the commits of the branch that the epic began from to the integration branch, which lacks them. Its notes say what it did.
func Follow(ctx context.Context, m *Merger, from string) ([]attempts.Note, error) {
	tip := m.Guard.Tip()
	lacks, err := integration.FindBehind(ctx, m.Branch, tip, from)
	if err != nil || lacks.Commits == 0 {
		return nil, err
	}
	name := "relay/" + m.Options.Epic.ID
	moved, err := m.Guard.Forward(ctx, lacks.Head)
	if err != nil {
		return nil, err
	}
	said := fmt.Sprintf("%s now has %s: git log %.7s..%.7s", name, lacks.Text(), tip, lacks.Head)
	if !moved {
		said = fmt.Sprintf("%s lacks %s: git switch %s && git merge %s brings them in", name, lacks.Text(), name, text.ShellWord(from))
	}
	return []attempts.Note{{Kind: "base", Text: said}}, nil
}
