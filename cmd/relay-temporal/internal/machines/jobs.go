package machines

import (
	"context"
	"errors"

	"relay/cmd/relay-temporal/internal/order"
	"relay/orchestrator/engine"
)

// Jobs has hosts carry orders out.
type Jobs interface {
	// Do has a host carry out an order, whose message is given, and returns the message of its result. An order that was started under
	// this id before is not started again: Do attaches to it, and returns the result that it has or will have. With a message of nil it
	// starts nothing, and an order that was not started is ErrUnknown. tell is called with what the agent does meanwhile, from one
	// goroutine. When ctx ends, the host is asked to stop the attempt, and Do still returns its result unless the host says nothing for
	// a time.
	//
	// Errors: ErrUnknown, ErrRefused; others are failures of this machine.
	Do(ctx context.Context, host string, id order.ID, message []byte, tell func(engine.Event)) (result []byte, err error)
	// Ask asks a host something beside orders, also one whose jobs are all at work, and returns the message of its answer.
	Ask(ctx context.Context, host string, question []byte) (answer []byte, err error)
	// Drained reports whether the worker of a host drains or has drained, and none has begun since.
	Drained(ctx context.Context, host string) bool
}

var (
	// ErrUnknown means that nothing is known of what a host did with an order: it may still be at work.
	ErrUnknown = errors.New("nothing is heard of the host")
	// ErrRefused means that a host did not begin with an order, and will not.
	ErrRefused = errors.New("the host refuses the order")
)
