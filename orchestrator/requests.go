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

// heed carries out what a person asks, until over is called. It does so from when there is a schedule.
func (r *run) heed(ctx context.Context) (over func()) {
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
				message, err := r.carryOutRequest(ask)
				ask.Answer(message, err)
			}
		}
	})
	return func() { cancel(); heeding.Wait() }
}

// carryOutRequest records what a person asks and does it, or refuses it. It returns what became of it.
func (r *run) carryOutRequest(ask Ask) (message string, err error) {
	s := r.state
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if ask.Insider != "" {
		return "", r.refuse(ask)
	}
	ask.By, ask.Reason = attempts.Person, plaintext.Capped(s.Redact.Text(ask.Reason), 500)
	now := s.Instant()
	events, message, err := r.dispatcher.Consider(now, ask.Task, ask.Request)
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
	r.dispatcher.Apply(now, ask.Task, ask.What)
	s.Notify(decide.Update{Kind: decide.Request, Task: ask.Task, Text: message, Asked: ask.What})
	return message, nil
}

// refuse records that a process of the run has asked something of it.
func (r *run) refuse(ask Ask) error {
	what := plaintext.Capped(strings.TrimSpace(string(ask.What)+" "+ask.Task), 100)
	note := &attempts.Note{Kind: "refused", Text: ask.Insider + " asked the run for " + strconv.Quote(what) + ": only people may, and nothing was changed"}
	r.state.Notify(decide.Update{Kind: decide.Note, Text: note.Text})
	_ = r.state.store.AppendLater(attempts.Event{Type: attempts.TypeNote, Note: note}) // as in slept
	return ErrInsider
}

// goesOn reports whether the workers begin again: because completed tasks are to be done again, or as a person has had a task tried
// again that no worker has taken. Otherwise the run comes to its end, and nothing more is asked of it.
func (r *run) goesOn(again bool) bool {
	s := r.state
	s.Mu.Lock()
	defer s.Mu.Unlock()
	over := s.Drained() || s.Broken != nil || r.limits.Stopped.Reason != "" || r.limits.ExhaustedBy != nil
	left := s.Restored && s.Plan.Ready.Len() > 0 && !over
	s.Restored = false
	s.Closing = !again && !left
	return !s.Closing
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
