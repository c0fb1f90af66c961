package worker

import (
	"context"
	"slices"

	"relay/orchestrator/changes"
	"relay/orchestrator/text"
	"relay/reanchor"
)

// notableChanges says of commits that nobody's checks have seen what a user will want to look at, in words to go on with.
func (g *workspace) notableChanges(ctx context.Context, from, to string) string {
	names, err := g.home.Names(ctx, from, to)
	if err != nil {
		return "; what they change git does not say"
	}
	globs := slices.Clone(g.o.Epic.Protected)
	for i := range g.o.Epic.Tasks {
		globs = append(globs, g.o.Epic.Tasks[i].Protected...)
	}
	var protected, tests []string
	for _, n := range names {
		switch was := text.FirstOf(n.From, n.Path); {
		case len(changes.ProtectedHits(globs, []reanchor.Change{n})) > 0:
			protected = append(protected, was)
		case changes.IsTest(was) && n.Code != "A":
			tests = append(tests, was)
		}
	}
	message := ""
	if len(protected) > 0 {
		message += "; that changes " + text.Listed(protected) + ", which is protected"
	}
	if len(tests) > 0 {
		message += "; that changes the tests in " + text.Listed(tests)
	}
	return message
}
