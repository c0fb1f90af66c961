package orchestrator

import (
	"context"
	"errors"
	"testing"

	"relay/attempts"
	"relay/orchestrator/engine"
)

// A run opens the engine that its options name, and gives it the options of the run.
func TestEngineByName(t *testing.T) {
	t.Parallel()
	var asked *engine.Options
	o := Options{
		LocalOptions: engine.LocalOptions{
			Options: engine.Options{
				Run: "20260101T220000Z-0000",
			},
		},
		Engines: map[string]engine.Factory{
			"other": func(engine.Open) engine.Open {
				return func(_ context.Context, o *engine.Options, _ chan<- engine.Event) (engine.Abilities, error) {
					asked = o
					return engine.Abilities{Engine: &simulated{}}, nil
				}
			},
		},
	}
	for name, want := range map[string]*attempts.RefusedError{
		"other": nil,
		"othre": {Reason: `unknown engine "othre"`, Hint: "use one of: local, other"},
	} {
		o.Engine = name
		_, err := o.OpenEngine(t.Context(), nil)
		got, _ := errors.AsType[*attempts.RefusedError](err)
		if (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s: got %v, want %v", name, err, want)
		}
	}
	if asked == nil || asked.Engine != "other" || asked.Run != o.Run {
		t.Errorf("the engine got %+v", asked)
	}
}
