package worker

import (
	"context"

	"relay/epic"
	"relay/orchestrator/engine"
)

// Factory returns the factory of the engine that works on this machine. From machine it takes what is not data: the options are those
// that the factory is called with.
func Factory(machine *engine.LocalOptions) engine.Factory {
	return func(ctx context.Context, o *engine.Options, events chan<- engine.Event) (engine.Abilities, error) {
		graph, err := epic.NewGraph(o.Epic)
		if err != nil {
			return engine.Abilities{}, err
		}
		local := *machine
		local.Options, local.Graph = *o, graph
		l, err := Open(ctx, &local, events)
		if err != nil {
			return engine.Abilities{}, err
		}
		abilities := l.Abilities
		abilities.Engine = l // which can do more than an engine must
		return abilities, nil
	}
}
