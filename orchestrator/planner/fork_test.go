package planner

import (
	"context"
	"testing"

	"relay/orchestrator"
	"relay/orchestrator/engine"
)

// An engine that only carries out attempts says that it cannot fork sessions.
func TestEngineThatCannotFork(t *testing.T) {
	t.Parallel()
	o := orchestrator.Options{
		LocalOptions: engine.LocalOptions{
			Options: engine.Options{
				Engine: "other",
			},
		},
		Engines: map[string]engine.Factory{
			"other": func(engine.Open) engine.Open {
				return func(context.Context, *engine.Options, chan<- engine.Event) (engine.Abilities, error) {
					return engine.Abilities{}, nil
				}
			},
		},
	}
	if _, err := orchestrator.OpenApart[forking](t.Context(), &o, nil, "fork sessions"); err == nil || err.Error() != "engine other cannot fork sessions" {
		t.Errorf("got %v", err)
	}
}
