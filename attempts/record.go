package attempts

import "time"

func (rec *TaskRecord) start(e *Event) {
	a := Attempt{ID: e.Attempt, StartedAt: e.At, Result: ResultInProgress, Run: e.Run}
	if s := e.Started; s != nil {
		a.Runner, a.Model, a.Base, a.Sealed = s.Runner, s.Model, s.Base, s.Sealed
	}
	rec.Attempts = append(rec.Attempts, a)
}

func (rec *TaskRecord) end(e *Event) {
	if e.Ended == nil {
		return
	}
	a, in := rec.startedBy(e), e.Ended
	a.Landing, a.ReviewProgress, a.Landed = nil, nil, in.Landed
	a.EndedAt, a.Result, a.Outcome, a.Charged = e.At, in.Result, in.Outcome, in.Charged
	a.Cause, a.Head, a.Session, a.Usage, a.Receipt = in.Cause, in.Head, in.Session, in.Usage, in.Receipt
	if in.Model != "" {
		a.Model = in.Model
	}
	if in.Gate != nil && !rec.Completed { // what is done stays done
		rec.Gate = gateOf(in.Gate, e.At)
	}
	if in.Result == ResultSuccess {
		rec.Completed, rec.Gate = true, nil
	}
}

// land remembers how an attempt is about to end. Only an attempt that is still on lands, and only a success.
func (a *Attempt) land(e *Ended) {
	a.Landing = nil
	if e == nil || a.Result != ResultInProgress || e.Result != ResultSuccess {
		return
	}
	landing := *e
	landing.Gate = nil // what is done is not gated
	if landing.Outcome == "" {
		landing.Outcome = Success
	}
	a.Landing = &landing
}

// startedBy finds the attempt of an event; if its start was lost with an older log, it starts here.
func (rec *TaskRecord) startedBy(e *Event) *Attempt {
	if a := rec.attempt(e.Attempt); a != nil {
		return a
	}
	rec.start(e)
	return &rec.Attempts[len(rec.Attempts)-1]
}

// attempt finds the last attempt of that number.
func (rec *TaskRecord) attempt(id int) *Attempt {
	for i := len(rec.Attempts) - 1; i >= 0; i-- {
		if rec.Attempts[i].ID == id {
			return &rec.Attempts[i]
		}
	}
	return nil
}

// ungate resets what counts towards a gate. Work that waits for its review is kept, to be reviewed.
func (rec *TaskRecord) ungate() {
	last := len(rec.Attempts) - 1
	waits := rec.Gate != nil && rec.Gate.Reason == Infrastructure && last >= 0 && rec.Attempts[last].AwaitsReview()
	rec.Gate, rec.CountFrom = nil, len(rec.Attempts)
	if waits {
		rec.CountFrom = last
	}
}

// undo makes a completed task pending again. The attempt that completed it keeps what has become of its work.
func (rec *TaskRecord) undo(e *Event) {
	a := rec.attempt(e.Attempt)
	if a == nil || e.Undone == nil || !rec.Completed {
		return
	}
	undone := *e.Undone
	a.Undone, rec.Completed, rec.CountFrom = &undone, false, len(rec.Attempts)
}

// TimesUndone returns how often work that landed later has broken the task after it was completed.
func (rec TaskRecord) TimesUndone() int {
	n := 0
	for i := range rec.Attempts {
		if rec.Attempts[i].Undone != nil {
			n++
		}
	}
	return n
}

func gateOf(g *Gate, at time.Time) *Gate {
	if g == nil {
		return &Gate{Reason: UserBlocked, At: at}
	}
	out := *g
	out.At = out.At.Truncate(time.Millisecond) // as every time of an event
	if out.At.IsZero() {
		out.At = at
	}
	return &out
}
