package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
	"relay/orchestrator/worker"
)

// EngineFactory returns what makes the engine that the options name. It returns a *attempts.RefusedError if there is none.
func (o *Options) EngineFactory() (engine.Open, error) {
	name := cmp.Or(o.Engine, engine.Local)
	switch made := o.Engines[name]; {
	case made != nil:
		return made(localFactory(&o.LocalOptions)), nil
	case name == engine.Local:
		return localFactory(&o.LocalOptions), nil
	}
	names := append(slices.Collect(maps.Keys(o.Engines)), engine.Local)
	slices.Sort(names)
	return nil, &attempts.RefusedError{Reason: fmt.Sprintf("unknown engine %q", name), Hint: "use one of: " + strings.Join(names, ", ")}
}

// localFactory returns what makes the engine of this machine. From machine it takes what is not data: the options are those
// that the factory is called with.
func localFactory(machine *engine.LocalOptions) engine.Open {
	return func(ctx context.Context, o *engine.Options, events chan<- engine.Event) (engine.Abilities, error) {
		graph, err := epic.NewGraph(o.Epic)
		if err != nil {
			return engine.Abilities{}, err
		}
		local := *machine
		local.Options, local.Graph = *o, graph
		l, err := worker.Open(ctx, &local, events)
		if err != nil {
			return engine.Abilities{}, err
		}
		abilities := l.Abilities
		abilities.Engine = l // which can do more than an engine must
		return abilities, nil
	}
}

// OpenEngine makes the engine that the options name.
func (o *Options) OpenEngine(ctx context.Context, events chan<- engine.Event) (engine.Abilities, error) {
	open, err := o.EngineFactory()
	if err != nil {
		return engine.Abilities{}, err
	}
	named := o.LocalOptions.Options
	named.Engine = cmp.Or(o.Engine, engine.Local)
	options := &named
	if o.Wire != nil {
		options = o.Wire.Options(options)
	}
	return open(ctx, options, events)
}

// OpenApart makes the engine that the options name, for work that no ledger records. The error says that the engine cannot do what is
// wanted if it is not an E.
func OpenApart[E keepsLedger](ctx context.Context, o *Options, events chan<- engine.Event, wanted string) (with E, err error) {
	abilities, err := o.OpenEngine(ctx, events)
	if err != nil {
		return with, err
	}
	with, ok := abilities.Engine.(E)
	if !ok {
		return with, engine.Cannot(o.Engine, wanted)
	}
	with.SetLedger(noLedger{}, nil)
	return with, nil
}

// noLedger is the ledger of work that is outside of the plan.
type noLedger struct{}

func (noLedger) Append(...attempts.Event) error { return nil }
func (noLedger) Restore() ([]string, error)     { return nil, nil }

// keepsLedger is an engine that writes to the ledger of its run, and keeps the run's lock from agents.
type keepsLedger interface {
	SetLedger(ledger engine.Ledger, lock engine.Lock)
}
