package orchestrator

import (
	"context"

	"relay/attempts"
	"relay/orchestrator/engine"
)

// noLifecycle is the lifecycle of an engine that does nothing before the first attempt of a run and after the last.
type noLifecycle struct{}

func (noLifecycle) Origin() attempts.Integration { return attempts.Integration{} }

func (noLifecycle) Tip(context.Context) (string, error)                             { return "", nil }
func (noLifecycle) Admit(context.Context, *attempts.Ledger, []engine.Attempt) error { return nil }
func (noLifecycle) CheckReady(context.Context) error                                { return nil }
func (noLifecycle) Awake(context.Context) error                                     { return nil }
func (noLifecycle) Begin(context.Context) error                                     { return nil }
func (noLifecycle) Reserve(engine.Attempt)                                          {}
func (noLifecycle) Asked(engine.Attempt) bool                                       { return false }

func (noLifecycle) Close(context.Context) ([]string, error) { return nil, nil }

func (noLifecycle) Resume(context.Context, engine.Attempt, attempts.Attempt) (*attempts.Ended, error) {
	return nil, nil
}
