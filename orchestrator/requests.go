package orchestrator

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/orchestrator/verdict"
)

// Ask is something a person asks of the run that is on.
type Ask struct {
	attempts.Request

	Task    string // "": the whole run
	Insider string // names a process of the run itself that asks: it is refused
	Answer  func(message string, err error)
}

// ErrInsider refuses what a process asks that the run has started.
var ErrInsider = &attempts.RefusedError{
	Reason: "requests are for people, and this run started the process that asks",
	Hint:   "say in the result what should be decided, and why: the user reads that in the report",
}

// requests carries out what a person asks of the run.
type requests struct {
	state *state
	of    *decide.Requests
}

// heed carries out what a person asks, until over is called. It does so from when there is a schedule.
func (r *requests) heed(ctx context.Context) (over func()) {
	if r.state.o.Asks == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var heeding sync.WaitGroup
	heeding.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case ask := <-r.state.o.Asks:
				message, err := r.carryOut(ask)
				ask.Answer(message, err)
			}
		}
	})
	return func() { cancel(); heeding.Wait() }
}

// carryOut records what a person asks and does it, or refuses it. It returns what became of it.
func (r *requests) carryOut(ask Ask) (message string, err error) {
	s := r.state
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if ask.Insider != "" {
		return "", r.refuse(ask)
	}
	ask.By = attempts.Person
	said := plaintext.Capped(s.Redact.Text(ask.Reason), attempts.MaxAnswer)
	ask.Reason = plaintext.Capped(said, 500)
	now := s.Instant()
	events, message, err := r.of.Consider(now, ask.Task, ask.Request, said)
	if err != nil || len(events) == 0 {
		return message, err
	}
	s.Step(now, attempts.Step{Kind: attempts.StepRequested, Task: ask.Task, For: string(ask.What)})
	events[0].Steps = s.TakeSteps()
	if err := s.store.AppendLater(events...); err != nil {
		s.Broken = errors.Join(s.Broken, err)
		s.Announce()
		return "", err
	}
	r.of.Apply(now, ask.Task, ask.What)
	s.Notify(decide.Update{Kind: decide.Request, Task: ask.Task, Text: message})
	return message, nil
}

// refuse records that a process of the run has asked something of it.
func (r *requests) refuse(ask Ask) error {
	what := plaintext.Capped(strings.TrimSpace(string(ask.What)+" "+ask.Task), 100)
	r.state.noteLater("refused", ask.Insider+" asked the run for "+strconv.Quote(what)+": only people may, and nothing was changed")
	return ErrInsider
}

// stoppedByPerson makes of an attempt that was cancelled because a person wanted that one that ended so.
func stoppedByPerson(ctx context.Context, f *engine.Result, err error) error {
	if !errors.Is(context.Cause(ctx), decide.ErrStopped) {
		return err
	}
	switch {
	case err != nil && (errors.Is(err, context.Canceled) || errors.Is(err, decide.ErrStopped)):
		*f = engine.Result{}
	case err != nil || !verdict.ClassOf(f.Outcome).Stopped:
		return err
	}
	f.Overrule(verdict.StoppedByPerson(decide.ErrStopped.Error()))
	return nil
}
