package merge

import (
	"context"
	"errors"
	"fmt"

	"relay/attempts"
	"relay/epic"
	"relay/epic/plaintext"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/finish"
	"relay/orchestrator/git/integration"
	"relay/orchestrator/verdict"
)

// Follow adds the commits that the integration branch lacks of the branch that the epic began from. It moves the integration branch
// there, or else merges the two if no check of the epic fails that passes on one of them. Its note says what it did.
func Follow(ctx context.Context, m *Merger, from string) ([]attempts.Note, error) {
	tip, name := m.Guard.Tip(), "relay/"+m.Options.Epic.ID
	lacks, err := integration.FindBehind(ctx, m.Branch, tip, from)
	if err != nil || lacks.Commits == 0 {
		return nil, err
	}
	to, why := lacks.Head, ""
	if !lacks.Straight {
		to, why, err = mergeBase(ctx, m, tip, lacks)
	}
	moved := false
	if err == nil && why == "" {
		moved, err = m.Guard.Forward(ctx, to)
	}
	said := fmt.Sprintf("%s now has %s: git log %.7s..%.7s", name, lacks.Text(), tip, lacks.Head)
	if !moved {
		said = fmt.Sprintf("%s lacks %s%s; %s", name, lacks.Text(), why, lacks.ByHand(name))
	}
	return []attempts.Note{{Kind: "base", Text: said}}, err
}

// KeepsApart returns why a merge with the branch that the epic began from is not tried; "": it is.
func KeepsApart(ctx context.Context, b *integration.Branch, mode integration.Mode, tip string, l integration.Behind) (string, error) {
	if mode == integration.Rebase || mode == integration.Squash {
		return fmt.Sprintf(", as relay.landing is %s", mode), nil
	}
	there, err := finish.Compare(ctx, b, l.Head, tip)
	if there.All || there.Upto != "" {
		return ", as that has work of the epic as other commits", err
	}
	return "", err
}

// mergeBase merges the branch that the epic began from with the integration branch. It returns why if the merge cannot be taken.
func mergeBase(ctx context.Context, m *Merger, tip string, l integration.Behind) (to, why string, err error) {
	if why, err = KeepsApart(ctx, m.Branch, m.Options.Landing, tip, l); err != nil || why != "" {
		return "", why, err
	}
	additions := m.Branch.Additions
	m.Branch.Additions = len(m.Options.Epic.Checks) > 0 // no check of a task follows
	seen := &verdict.Evidence{Landing: &verdict.Landing{With: l.From, Since: l.Text()}}
	to, err = m.Branch.MergeCommit(ctx, tip, l.Head, fmt.Sprintf("Merge branch '%s' into relay/%s\n", l.From, m.Options.Epic.ID))
	m.Branch.Additions = additions
	if conflict, ok := errors.AsType[*integration.ConflictError](err); ok {
		seen.Landing.Conflict = conflict.Files
		return "", ": " + plaintext.FirstOf(verdict.DecideLanding(seen).Person, conflict.Text), nil
	}
	if err == nil {
		err = m.Branch.Pin(ctx, to)
	}
	whole := engine.Verified{Attempt: engine.Attempt{Run: m.Options.Run, Task: epic.Task{ID: engine.WholeEpic}}}
	for _, side := range []string{tip, l.Head} {
		if err != nil {
			return "", "", err
		}
		var proof Proof
		proof, err = m.Work.Check(ctx, whole, engine.Step{From: side, To: to}, true)
		seen.Checks = &proof.Seen
		if ruling := verdict.DecideLanding(seen); err == nil && !ruling.Lands() {
			return "", ": " + ruling.Person, nil
		}
	}
	return to, "", err
}
