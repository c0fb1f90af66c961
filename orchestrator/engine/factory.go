package engine

import (
	"cmp"
	"context"
	"fmt"

	"relay/attempts"
)

// Local is the name of the engine that works on this machine.
const Local = "local"

// Open makes an engine for a run. The engine sends on events what agents do. Open returns a *attempts.RefusedError if no attempt
// could work in the place that the options name.
type Open func(ctx context.Context, o *Options, events chan<- Event) (Abilities, error)

// Factory makes an engine, which may have the one of this machine do a part: what lands is merged and checked where the run is.
type Factory func(local Open) Open

// Cannot returns the error for an engine that lacks an ability; name "" is the local engine.
func Cannot(name, what string) error {
	return fmt.Errorf("engine %s cannot %s", cmp.Or(name, Local), what)
}

// Ledger keeps what must outlive relay, and puts its own files back when an agent has changed them, and says which.
type Ledger interface {
	Append(events ...attempts.Event) error
	Restore() ([]string, error)
}

// Lock is the run's hold on its epic and on the checkout. Keep takes it again when an agent has removed it.
type Lock interface {
	Keep(ctx context.Context) error
}
