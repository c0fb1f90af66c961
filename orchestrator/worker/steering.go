package worker

import (
	"context"
	"slices"

	"relay/orchestrator/worker/steering"
	"relay/reanchor"
)

// recordSteering takes note of a landing that changes the configuration of agent CLIs: later slots have it.
func (g *workspace) recordSteering(files []string) {
	if slices.ContainsFunc(files, steering.Configures) {
		g.landedSteering.Store(true)
	}
}

// compareSteering looks whether earlier runs have landed such a change that the user's branch lacks.
func (s *slotEngine) compareSteering(ctx context.Context) error {
	tip := s.headGuard.Tip()
	if tip == "" || tip == s.trusted {
		return nil
	}
	return s.home.EachName(ctx, s.trusted, tip, func(n reanchor.Change) error {
		s.recordSteering([]string{n.Path, n.From})
		return nil
	})
}

// useTrusted gives a reviewer's checkout the steering files that the user had when the run began: see [steering.UseTrusted].
func (g *workspace) useTrusted(ctx context.Context, repo *reanchor.Git, head string) (back func() error, err error) {
	return steering.UseTrusted(ctx, repo, g.trusted, head)
}
