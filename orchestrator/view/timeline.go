package view

import (
	"slices"
	"time"

	"relay/attempts"
	"relay/orchestrator/engine"
)

// line is what went on when in one night, kept up to date event by event.
type line struct {
	spans []interface{ span() Span }
	open  map[string]*work // attempts under way, by task
	jobs  []bool           // by row of the timeline: it is taken
	wait  *Span            // of the run; nil: none goes on
	pause *Span
	cools map[string]*Span // by agent
	rules *attempts.Rules  // of the newest run
	began attempts.Step    // its first step
}

// work is an attempt under way.
type work struct {
	whole *Span
	part  *part // nil: the agent is at work
	phase Phase
	since time.Time
}

// part is the span of a phase of an attempt. A long night has many, so that it is small.
type part struct {
	of       *Span // the attempt
	kind     SpanKind
	from, to int64 // nanoseconds since 1970; to is 0 while it goes on
	last     bool  // the attempt ended in it
}

func (s *Span) span() Span { return *s }

func (p *part) span() Span {
	s := Span{Kind: p.kind, Job: p.of.Job, Task: p.of.Task, Attempt: p.of.Attempt, Agent: p.of.Agent, From: time.Unix(0, p.from).UTC()}
	if p.to != 0 {
		s.To = time.Unix(0, p.to).UTC()
	}
	if p.last {
		s.Result, s.Outcome, s.Why = p.of.Result, p.of.Outcome, p.of.Why
	}
	if p.kind == SpanLanding {
		s.Job = 0
	}
	return s
}

// end ends a part at a time; nil: there is none.
func (p *part) end(at time.Time) {
	if p != nil {
		p.to = at.UnixNano()
	}
}

// add takes in an event of the night.
func (l *line) add(e *attempts.Event) {
	for k := range e.Steps {
		l.step(&e.Steps[k])
	}
	switch {
	case e.Type == attempts.TypeAttemptStarted:
		l.close(&l.wait, e.At)
		l.start(e)
	case e.Type == attempts.TypePhase:
		if to, known := phases[engine.EventKind(e.Phase)]; known {
			l.phase(e.Task, to, e.At)
		}
	case e.Type == attempts.TypeLanding:
		l.phase(e.Task, PhaseLanding, e.At)
	case e.Ended != nil:
		l.ended(e)
	case e.Waiting != nil:
		l.close(&l.wait, e.At)
		l.wait = l.put(Span{Kind: SpanWait, Agent: e.Waiting.For, From: e.At, To: e.Waiting.Until, Why: fit(e.Waiting.Why)})
	case e.Cooldown != nil:
		l.cool(e)
	case e.RunStopped != nil:
		l.close(&l.wait, e.At)
		l.close(&l.pause, e.At)
	case e.Request != nil && e.Request.What == attempts.RequestPause:
		l.pause = l.put(Span{Kind: SpanPause, From: e.At})
	case e.Request != nil && e.Request.What == attempts.RequestContinue:
		l.close(&l.pause, e.At)
	}
}

// phases are the parts of an attempt, as the log has them.
var phases = map[engine.EventKind]Phase{
	engine.KindActivity: PhaseAgent, engine.KindChecking: PhaseChecks, engine.KindReviewing: PhaseReview,
}

// step takes in a step of the run: its rules, and when work was proved.
func (l *line) step(s *attempts.Step) {
	switch s.Kind {
	case attempts.StepBegun:
		l.rules, l.began = s.Rules, *s
	case attempts.StepProved:
		l.phase(s.Task, PhaseLanding, l.began.Day.Add(time.Duration(s.Ran-l.began.Ran+s.Drift)))
	default: // events say the others
	}
}

func (l *line) put(s Span) *Span {
	l.spans = append(l.spans, &s)
	return &s
}

// close ends a span that goes on, if there is one.
func (l *line) close(span **Span, at time.Time) {
	if s := *span; s != nil && (s.To.IsZero() || s.To.After(at)) {
		s.To = at
	}
	*span = nil
}

// start begins an attempt in the first row of the timeline that is free.
func (l *line) start(e *attempts.Event) {
	job := slices.Index(l.jobs, false)
	if job < 0 {
		job = len(l.jobs)
		l.jobs = append(l.jobs, false)
	}
	l.jobs[job] = true
	if l.open == nil {
		l.open = map[string]*work{}
	}
	s := Span{Kind: SpanAttempt, Job: job + 1, Task: e.Task, Attempt: e.Attempt, From: e.At}
	if e.Started != nil {
		s.Agent = e.Started.Runner
	}
	l.leave(e.Task, e.At)
	l.open[e.Task] = &work{whole: l.put(s), phase: PhaseAgent, since: e.At}
}

// phase begins another part of an attempt. Work that waits for its landing has no job any more.
func (l *line) phase(task string, to Phase, at time.Time) {
	w := l.open[task]
	if w == nil || w.phase == to || w.phase == PhaseLanding {
		return
	}
	w.part.end(at)
	if w.part, w.phase, w.since = nil, to, at; to == PhaseAgent {
		return
	}
	if to == PhaseLanding {
		l.leave(task, at)
	}
	w.part = &part{of: w.whole, kind: SpanKind(to), from: at.UnixNano()}
	l.spans = append(l.spans, w.part)
}

// leave ends the span of an attempt, and frees its job.
func (l *line) leave(task string, at time.Time) {
	w := l.open[task]
	if w != nil && w.whole.To.IsZero() {
		w.whole.To, l.jobs[w.whole.Job-1] = at, false
	}
}

// ended ends an attempt.
func (l *line) ended(e *attempts.Event) {
	w := l.open[e.Task]
	if w == nil {
		return
	}
	l.leave(e.Task, e.At)
	w.whole.Result, w.whole.Outcome = e.Ended.Result, e.Ended.Outcome
	if e.Ended.Result != attempts.ResultSuccess {
		w.whole.Why = fit(e.Ended.Receipt.ErrorSummary)
	}
	if w.part != nil {
		w.part.last = true
		w.part.end(e.At)
	}
	delete(l.open, e.Task)
}

// cool begins the time in which an agent is not asked, or ends it.
func (l *line) cool(e *attempts.Event) {
	if l.cools == nil {
		l.cools = map[string]*Span{}
	}
	c := e.Cooldown
	before := l.cools[c.Runner]
	if before != nil && c.Until.After(before.To) && !before.To.Before(e.At) {
		before.To = c.Until
		return
	}
	l.close(&before, e.At)
	if delete(l.cools, c.Runner); !c.Until.IsZero() {
		l.cools[c.Runner] = l.put(Span{Kind: SpanCool, Agent: c.Runner, From: e.At, To: c.Until, Why: fit(c.Why)})
	}
}

// phaseOf returns the part of an attempt under way that began at a time, and since when.
func (l *line) phaseOf(task string, began time.Time) (Phase, time.Time) {
	if w := l.open[task]; w != nil {
		return w.phase, w.since
	}
	return PhaseAgent, began
}
