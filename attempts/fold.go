package attempts

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"relay/epic"
)

// fold is a ledger into which events are folded, one after the other, with what follows from it.
type fold struct {
	ledger  *Ledger
	tasks   progress
	written snapshots
	extra   string
	base    int // parts of the base seen
	bases   int // parts there are
	jobs    int // of the newest run
}

// newFold begins with what is known before the first event; base may be nil. Without a graph no task waits for another.
func newFold(g *epic.Graph, base *Ledger) *fold {
	l := cmp.Or(base, &Ledger{})
	l.Version = LedgerVersion
	if l.Tasks == nil {
		l.Tasks = map[string]*TaskRecord{}
	}
	f := &fold{ledger: l, tasks: newProgress(g, l.Tasks)}
	if g != nil && !f.tasks.complete() {
		l.EndedAt = time.Time{} // the epic has grown since
	}
	return f
}

// apply folds one event in. Events must come in the order of their sequence numbers.
func (f *fold) apply(e *Event) {
	l := f.ledger
	if e.Written != nil { // it tells of a snapshot and is in none
		f.written = append(f.written[max(0, len(f.written)-lastSnapshots+1):], *e.Written)
		return
	}
	l.Folded = Folded{Run: e.Run, Seq: e.Seq}
	if e.Request != nil {
		l.request(e)
	}
	switch {
	case e.RunStarted != nil:
		l.forgetRequests()
		f.begin(e.At)
		l.EpicID, l.Settings = e.RunStarted.EpicID, l.Settings.overruled(e.RunStarted.Settings)
		l.Integration.take(e.RunStarted)
		f.jobs = e.RunStarted.Jobs
		l.Status = RelayStatus{State: "running", PID: e.RunStarted.PID, StartedAt: e.At}
		l.Waiting, l.Until, l.Chosen, l.Why = nil, e.RunStarted.Until, e.RunStarted.Tasks, ""
		l.Run, l.Sealed, l.Slots = e.Run, e.RunStarted.Sealed, 0
	case e.RunStopped != nil:
		l.Waiting, l.Why = nil, e.RunStopped.Why
		if e.RunStopped.Tip != "" {
			l.Regressed = e.RunStopped.Regressed
		}
		l.Status.State, l.Status.StoppedAt = "stopped", e.At
		l.Status.LastExitCode, l.Status.LastExitReason = e.RunStopped.ExitCode, e.RunStopped.Reason
		l.forgetRequests()
	case e.Finished != nil:
		l.Integration.Finished, l.Landed = e.Finished.Into, e.Finished.To
	case e.Accepted != nil:
		f.accept(e)
	case e.Cooldown != nil:
		l.cool(e.Cooldown, e.At)
	case e.Waiting != nil:
		l.Waiting = e.Waiting
	case e.EpicReviewed != nil:
		l.judged(e)
	case e.TasksAdded != nil:
		if last := l.LastEpicReview(); last != nil {
			last.Added = append(last.Added, e.TasksAdded.Tasks...)
		}
	case e.Task != "":
		f.task(e)
		if e.Briefed != nil {
			l.Slots = e.Briefed.Slots
		}
	}
}

// begin records when the epic began, if no earlier run and no ledger of somebody else has told.
func (f *fold) begin(at time.Time) {
	if l := f.ledger; f.base == 0 && l.Status.StartedAt.IsZero() || l.StartedAt.IsZero() {
		l.StartedAt = at
	}
}

// task folds an event of one task.
func (f *fold) task(e *Event) {
	rec := f.record(e.Task)
	rec.answer(e)
	switch e.Type {
	case TypeAttemptStarted:
		rec.start(e)
		f.ledger.Waiting = nil
	case TypeLanding:
		if e.Landing != nil {
			rec.startedBy(e).land(e.Landing)
		}
	case TypeReviewed, TypeBriefed:
		rec.heard(e)
	case TypeAttemptEnded:
		f.ended(rec, e)
	case TypeGated:
		if !rec.Completed { // what is done stays done
			rec.Gate = gateOf(e.Gate, e.At)
		}
	case TypeUngated, TypeApproved, TypeProved:
		rec.Completed = rec.Completed || e.Type == TypeApproved // what is not completed, a person has done
		rec.ungate()
	case TypeReopened:
		rec.Gate = nil
	case TypeUndone:
		rec.undo(e)
	case TypeReset:
		rec.Gate, rec.CountFrom, rec.Completed = nil, len(rec.Attempts), false
	default: // it changes no state, but for an answer
	}
	f.update(e.Task, e.At)
}

// ended folds the end of an attempt.
func (f *fold) ended(rec *TaskRecord, e *Event) {
	rec.end(e)
	if e.Ended == nil {
		return
	}
	if a := rec.attempt(e.Attempt); a != nil {
		f.ledger.refusal(a.Runner, e.Ended, e.At)
	}
	if e.Ended.Landed != "" {
		f.ledger.Integration.Finished = ""
	}
}

func (f *fold) record(id string) *TaskRecord {
	rec := f.ledger.Tasks[id]
	if rec == nil {
		rec = &TaskRecord{}
		f.ledger.Tasks[id] = rec
	}
	return rec
}

func (f *fold) accept(e *Event) {
	for id, rec := range e.Accepted.Tasks {
		if rec.Completed {
			rec.Gate = nil
		}
		rec.CountFrom = min(max(rec.CountFrom, 0), len(rec.Attempts))
		for i := range rec.Attempts {
			a := &rec.Attempts[i]
			a.land(a.Landing)
			if a.Result == ResultInProgress && a.Landing == nil && a.Base == "" { // no run of relay can have begun it
				a.setAside()
			}
		}
		*f.record(id) = rec
		f.update(id, e.At)
	}
	b := e.Accepted.Base
	if b == nil {
		return
	}
	f.ledger.EpicID, f.ledger.StartedAt, f.ledger.EndedAt = b.EpicID, b.StartedAt, b.EndedAt
	f.ledger.Settings, f.ledger.Integration = b.Settings, b.Integration.whole()
	if b.Status != (RelayStatus{}) {
		f.ledger.Status = b.Status
	}
	f.base, f.bases = f.base+1, b.Parts
	f.extra = cmp.Or(b.Extra, f.extra)
	if len(b.EpicReviews) > 0 {
		f.ledger.EpicReviews = b.EpicReviews
	}
}

// update brings the progress up to date with a task. The epic has ended when its last task is completed.
func (f *fold) update(id string, at time.Time) {
	if !f.tasks.update(id) {
		return
	}
	f.ledger.EndedAt = time.Time{}
	if f.tasks.complete() {
		f.ledger.EndedAt = at
	}
}

// request folds what was asked of the run.
func (l *Ledger) request(e *Event) {
	switch e.Request.What {
	case RequestPause:
		l.Paused = e.At
	case RequestContinue:
		l.Paused = time.Time{}
	case RequestStop:
		if e.Task != "" {
			if l.Held == nil {
				l.Held = map[string]time.Time{}
			}
			l.Held[e.Task] = e.At
		}
	case RequestRetry:
		delete(l.Held, e.Task)
	default: // the gate says the rest
	}
}

// forgetRequests drops what was asked of a run that is over. One that ends to begin again with another plan goes on with it.
func (l *Ledger) forgetRequests() {
	if !l.GoesOn() {
		l.Paused, l.Held = time.Time{}, nil
	}
}

// cool folds what is said of a runner. It forgets cooldowns that are over.
func (l *Ledger) cool(c *Cooldown, at time.Time) {
	for name, cooldown := range l.Cooldowns {
		if !cooldown.Until.After(at) {
			delete(l.Cooldowns, name)
		}
	}
	if c.Refused() {
		l.refuse(Refusal{Runner: c.Runner, Outcome: c.Outcome, Why: c.Why, Since: at})
	}
	switch {
	case c.Until.IsZero():
		delete(l.Cooldowns, c.Runner)
	case c.Until.After(l.Cooldowns[c.Runner].Until):
		if l.Cooldowns == nil {
			l.Cooldowns = make(map[string]Cooldown)
		}
		l.Cooldowns[c.Runner] = *c
	}
}

// refuses reports whether a runner that ended so would not work for a reason that a person can put right.
func refuses(o Outcome) bool { return o == Auth || o == Model || o == Start }

// refusal folds what the end of an attempt says of the runners that were asked.
func (l *Ledger) refusal(runner string, e *Ended, at time.Time) {
	if e.Receipt.Review != nil {
		for _, s := range e.Receipt.Review.Opinions {
			delete(l.Refused, s.Reviewer)
		}
	}
	switch {
	case e.Receipt.AwaitsReview(): // a cooldown event records what that says of a reviewer
	case refuses(e.Outcome):
		l.refuse(Refusal{Runner: runner, Outcome: e.Outcome, Why: e.Receipt.ErrorSummary, Since: at})
	case e.Outcome != Stopped && e.Outcome != Environment && e.Outcome != Provider:
		delete(l.Refused, runner)
	}
}

func (l *Ledger) refuse(r Refusal) {
	if before, again := l.Refused[r.Runner]; again {
		r.Since = before.Since
	}
	if l.Refused == nil {
		l.Refused = make(map[string]Refusal)
	}
	l.Refused[r.Runner] = r
}

// judged folds an epic review. One that came to nothing makes way for the next, but for what it has cost and,
// while nothing has changed, what was said.
func (l *Ledger) judged(e *Event) {
	r := *e.EpicReviewed
	r.At, r.Run = e.At, e.Run
	for _, s := range r.Opinions {
		delete(l.Refused, s.Reviewer)
	}
	if last := l.LastEpicReview(); last != nil && last.Decision == "" {
		if last.Usage != nil {
			sum := *last.Usage
			if r.Usage != nil {
				sum.Add(*r.Usage)
			}
			r.Usage = &sum
		}
		if r.Decision == "" && r.Head == last.Head {
			r.Opinions = slices.Clone(r.Opinions)
			for _, s := range last.Opinions {
				if !slices.ContainsFunc(r.Opinions, func(o Opinion) bool { return o.Reviewer == s.Reviewer && o.Question == s.Question }) {
					r.Opinions = append(r.Opinions, s)
				}
			}
		}
		*last = r
		return
	}
	l.EpicReviews = append(l.EpicReviews, r)
}

// asBase writes the whole state as the events a log can begin with, in parts that are not too large to read.
func (f *fold) asBase() []Event {
	l := f.ledger
	base := Base{
		EpicID: l.EpicID, StartedAt: l.StartedAt, EndedAt: l.EndedAt, Settings: l.Settings,
		Integration: l.Integration, Extra: f.extra, EpicReviews: l.EpicReviews, Status: l.Status,
	}
	var parts []*Accepted
	size := bigEvent
	for _, id := range slices.Sorted(maps.Keys(l.Tasks)) {
		rec := l.Tasks[id]
		text, err := json.Marshal(rec)
		if err != nil || rec.blank() {
			continue
		}
		if size += len(text); size > bigEvent {
			parts = append(parts, &Accepted{Tasks: map[string]TaskRecord{}})
			size = len(text)
		}
		parts[len(parts)-1].Tasks[id] = rec.clone()
	}
	if len(parts) == 0 {
		parts = []*Accepted{{}}
	}
	events := make([]Event, len(parts))
	for i, p := range parts {
		b := base
		b.Part, b.Parts = i+1, len(parts)
		if i > 0 {
			b.Extra, b.EpicReviews = "", nil
		}
		p.Base = &b
		events[i] = Event{Type: TypeAccepted, Accepted: p}
	}
	return events
}

// snapshots are the last ones written.
type snapshots []Written

const lastSnapshots = 16

func (s snapshots) find(sum string) (Written, bool) {
	for _, w := range s {
		if w.SHA256 == sum && sum != "" {
			return w, true
		}
	}
	return Written{}, false
}
