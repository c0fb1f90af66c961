package attempts

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"

	"relay/attempts/internal/durable"
)

// bigEvent is where an event's texts are cut, so that what an agent says cannot fill the disk or the memory.
const (
	bigEvent = 256 << 10
	bigText  = 16 << 10
	bigList  = durable.MostListed
)

// encode appends the line of an event to dst and gives back the event as a reader of that line will see it, so that
// the memory of a running relay and what a later one reads cannot differ.
func encode(dst []byte, e Event) ([]byte, Event, error) {
	canonical(&e, false)
	text, err := json.Marshal(e)
	if err == nil && (len(text) > bigEvent || e.Reviewed != nil) && e.Accepted == nil {
		e = Event{} // nothing of the copy is the caller's
		if err = json.Unmarshal(text, &e); err == nil {
			e.bound()
			text, err = json.Marshal(e)
		}
	}
	if err != nil {
		return dst, e, fmt.Errorf("event %s of task %q: %w", e.Type, e.Task, err)
	}
	from := len(dst)
	dst = durable.Frame(dst, text)
	var back Event
	if err := decode(dst[from:len(dst)-1], &back); err != nil {
		return dst[:from], e, fmt.Errorf("event %s of task %q: %w", e.Type, e.Task, err)
	}
	return dst, back, nil
}

// decode reads the text of one line, which anyone may have written. A run of 10,000 tasks leaves some 35,000 of them, which status has to
// read in a moment.
func decode(text []byte, e *Event) error {
	*e = Event{}
	if bytes.Contains(text, []byte(`"steps":`)) {
		e.Steps = make([]Step, 0, 1) // the decoder begins with room for ten
	}
	err := durable.Unmarshal(text, e)
	if len(e.Steps) == 0 {
		e.Steps = nil
	}
	canonical(e, true)
	for i := range e.Steps {
		if r := e.Steps[i].Rules; r != nil {
			r.Jobs = min(max(r.Jobs, 0), MaxJobs)
		}
	}
	return err
}

// UnmarshalJSON reads a list into memory for as many as it has: the decoder begins with room for ten.
func (c *CheckRuns) UnmarshalJSON(text []byte) error {
	*c = make(CheckRuns, 0, bytes.Count(text, []byte(`"exit_code"`)))
	return durable.Unmarshal(text, (*[]CheckRun)(c))
}

// canonical replaces what the ledger has no words for: categories of an agent's own, numbers that JSON does not know, which come
// from a division by zero somewhere else, and numbers that no run has. Parts of an event that is not its own it copies first.
func canonical(e *Event, own bool) {
	e.RunStarted = part(e.RunStarted, own, func(rs *RunStarted) {
		rs.Jobs, rs.Settings.TimeoutMinutes = min(max(rs.Jobs, 0), MaxJobs), finite(rs.Settings.TimeoutMinutes)
	})
	e.Undone = part(e.Undone, own, func(u *Undone) { u.Check.Seconds = finite(u.Check.Seconds) })
	ended := func(e *Ended) { e.canonical(own) }
	e.Landing, e.Ended = part(e.Landing, own, ended), part(e.Ended, own, ended)
	e.EpicReviewed = part(e.EpicReviewed, own, func(r *EpicReview) { r.Usage = part(r.Usage, own, (*Usage).canonical) })
}

// part changes a part of an event, or a copy of it, and returns that.
func part[T any](of *T, own bool, change func(*T)) *T {
	if of == nil {
		return nil
	}
	if !own {
		made := *of
		of = &made
	}
	change(of)
	return of
}

// copied returns a changed copy of a part of an event.
func copied[T any](of *T, change func(*T)) *T { return part(of, false, change) }

func (e *Ended) canonical(own bool) {
	e.Receipt.categorise()
	e.Outcome = cmp.Or(e.Outcome, outcomeOf(e.Result, &e.Receipt))
	e.Usage, e.Receipt.SessionUsage = part(e.Usage, own, (*Usage).canonical), part(e.Receipt.SessionUsage, own, (*Usage).canonical)
	if !own {
		e.Receipt.Checks = slices.Clone(e.Receipt.Checks)
	}
	for i := range e.Receipt.Checks {
		e.Receipt.Checks[i].Seconds = finite(e.Receipt.Checks[i].Seconds)
	}
}

// YAMLForm returns how an attempt that still runs is about to end.
func (e *Ended) YAMLForm() any {
	return &Attempt{
		Result: e.Result, Outcome: e.Outcome, Cause: e.Cause, Charged: e.Charged, Model: e.Model, Head: e.Head, Landed: e.Landed,
		Session: e.Session, Usage: e.Usage, Receipt: e.Receipt,
	}
}

// MaxJobs and the bounds beside it keep a forged log from using up memory, and its sums finite.
const (
	MaxJobs    = 1000
	mostNumber = 1e8 // dollars, seconds, minutes
	mostTokens = 1 << 50
)

func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return min(max(v, 0), mostNumber)
}

func (u *Usage) canonical() {
	for _, tokens := range []*int64{&u.InputTokens, &u.CachedTokens, &u.OutputTokens} {
		*tokens = min(max(*tokens, 0), mostTokens)
	}
	u.CostUSD = finite(u.CostUSD)
}

// bound cuts the texts and lists of an oversized event.
func (e *Event) bound() {
	for _, end := range []*Ended{e.Landing, e.Ended} {
		if end != nil {
			end.MoreChanges += max(0, len(end.Changes)-bigChanges)
		}
	}
	for i := range e.Steps {
		for k := range e.Steps[i].Unable {
			durable.Bound(reflect.ValueOf(&e.Steps[i].Unable[k].Why), bigText, 0)
		}
	}
	for _, part := range []any{
		e.Note, e.Gate, e.RunStopped, e.Cooldown, e.Waiting, e.Undone, e.Request, e.Reviewed, e.Landing, e.Ended, e.EpicReviewed, e.Briefed,
	} {
		durable.Bound(reflect.ValueOf(part), bigText, bigList)
	}
}

// bigChanges limits the files of an attempt that a large event lists one by one.
const bigChanges = 500
