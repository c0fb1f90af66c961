package orchestrator

import (
	"context"
	"sync"
	"time"

	"relay/attempts"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/orchestrator/limits"
	"relay/orchestrator/secrets"
	"relay/runners"
)

// listener takes what the engine tells of its attempts.
type listener struct {
	state  *state
	limits *decide.Limits
	phases map[string]*phase // by task
}

// phase is the part of an attempt that is under way.
type phase struct {
	began time.Duration // its agent was briefed, by the run's clock
	kind  engine.EventKind
}

// listen takes the engine's events until the channel is closed: usage to the limits, the rest to the
// watcher.
func (l *listener) listen(events <-chan engine.Event) {
	for e := range events {
		if l.state.o.Wire != nil {
			e = l.state.o.Wire.Event(e)
		}
		if e.Kind == engine.KindBriefed {
			l.recordBriefed(e)
			continue
		}
		l.recordPhase(e)
		l.state.WithLock(func() {
			if e.Kind == engine.KindUsage {
				l.limits.RecordUsage(e)
			}
			if e.Kind == engine.KindNote {
				l.state.noteLater("sandbox", e.Detail.Text)
				return
			}
			l.recordProgress(e)
			if e.Task == engine.WholeEpic {
				e.Task = "the epic"
			}
			l.state.Notify(decide.Update{Kind: decide.UpdateKind(e.Kind), Task: e.Task, Text: e.Detail.Text, Usage: e.Usage})
		})
	}
}

// recordBriefed writes what an attempt's brief holds.
func (l *listener) recordBriefed(e engine.Event) {
	if e.Briefed == nil {
		return
	}
	l.phases[e.Task] = &phase{l.state.Ran(), engine.KindActivity}
	briefed := secrets.Clean(l.state.Redact, e.Briefed)
	// No decision depends on this event; a ledger that failed returns its error elsewhere.
	_ = l.state.store.AppendLater(attempts.Event{Type: attempts.TypeBriefed, Task: e.Task, Attempt: e.Attempt, Briefed: briefed})
}

// phasesFrom is how long an attempt takes at least of which the log has the phases: of shorter ones they would only make it longer.
const phasesFrom = 10 * time.Second

// recordPhase writes that the work of an attempt is checked or reviewed now, or that its agent is at work again. No decision depends on it.
func (l *listener) recordPhase(e engine.Event) {
	p, kind := l.phases[e.Task], e.Kind
	switch kind {
	case engine.KindMending:
		kind = engine.KindActivity
	case engine.KindActivity, engine.KindChecking, engine.KindReviewing:
	default: // it begins no phase
		return
	}
	if p == nil || p.kind == kind || l.state.Ran()-p.began < phasesFrom {
		return
	}
	p.kind = kind
	_ = l.state.store.AppendLater(attempts.Event{Type: attempts.TypePhase, Task: e.Task, Phase: string(kind)})
}

// recordProgress tells the pool that an agent has answered: its runner serves. The caller holds Mu.
func (l *listener) recordProgress(e engine.Event) {
	answered := e.Kind == engine.KindActivity && (e.Detail.Kind == runners.EventText || e.Detail.Kind == runners.EventTool)
	now := l.state.Instant()
	if answered && l.state.Pool.NoteActivity(e.Runner, e.Task, now) {
		l.state.Step(now, attempts.Step{Kind: attempts.StepAnswered, Task: e.Task, Runner: e.Runner})
		l.state.Announce()
	}
}

// watchSleep records the times in which the machine sleeps during the run, until over is called.
func watchSleep(ctx context.Context, s *state, up func() time.Duration) (over func()) {
	ctx, cancel := context.WithCancel(ctx)
	d := limits.NewSleepDetector(up, s.Instant())
	var watch sync.WaitGroup
	watch.Go(func() {
		tick := time.NewTicker(limits.SleepInterval)
		defer tick.Stop()
		for over := false; !over; {
			select {
			case <-ctx.Done():
				over = true
			case <-tick.C:
			}
			slept(s, d)
		}
	})
	return func() { cancel(); watch.Wait() }
}

// slept records and tells a suspend, if there was one.
func slept(s *state, d *limits.SleepDetector) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	suspended, yes := d.Detect(s.Instant())
	if !yes {
		return
	}
	s.Summary.Suspends = append(s.Summary.Suspends, suspended)
	s.noteLater("sleep", suspended.String())
}
