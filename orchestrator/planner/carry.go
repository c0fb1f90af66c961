package planner

import (
	"context"

	"relay/orchestrator"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/finish"
)

// Carry has the engine of this machine carry out an attempt that another relay has decided. It records nothing in a ledger, lands nothing,
// and keeps what the attempt makes below refs/relay. observe is called with the events, from one goroutine. stay says in words what could
// not be removed afterwards.
func Carry(
	ctx context.Context, o orchestrator.Options, a engine.Attempt, observe func(engine.Event),
) (r engine.Result, stay []string, err error) {
	o.Plan = nil // the files of a run are not this one's to put back
	w := work{finish.Forks, a.Run + "-" + a.Task.ID, "carry out attempts"}
	err = apart(ctx, &o, w, observe, func(with forking, _ chan<- engine.Event) (err error) {
		r, stay, err = with.Fork(ctx, a)
		return err
	})
	return r, stay, err
}
