// Command otherengine is relay with an engine of its own, which completes every attempt without doing anything.
package main

import (
	"context"
	"os"

	"relay/attempts"
	"relay/cmd/relay/command"
	"relay/orchestrator/engine"
)

func main() {
	os.Exit(command.Main(command.Options{Engine: "idle", Engines: map[string]engine.Factory{"idle": func(engine.Open) engine.Open { return open }}}))
}

func open(context.Context, *engine.Options, chan<- engine.Event) (engine.Abilities, error) {
	return engine.Abilities{Engine: idle{}}, nil
}

// idle completes every attempt.
type idle struct{}

func (idle) Prepare(context.Context, engine.Attempt) (string, error) { return "", nil }

func (idle) Run(context.Context, engine.Attempt) (engine.Result, error) {
	return engine.Result{Outcome: attempts.Success, Receipt: attempts.Receipt{Summary: "nothing was done"}}, nil
}
