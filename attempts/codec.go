package attempts

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"relay/attempts/internal/durable"
	"relay/epic/plaintext"
)

// bigEvent is where an event's texts are cut, so that what an agent says cannot fill the disk or the memory.
const (
	bigEvent = 256 << 10
	bigText  = 16 << 10
	bigList  = 200
)

// encode appends the line of an event to dst and gives back the event as a reader of that line will see it, so that
// the memory of a running relay and what a later one reads cannot differ.
func encode(dst []byte, e Event) ([]byte, Event, error) {
	canonical(&e)
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
	err := durable.Unmarshal(text, e)
	canonical(e)
	if e.RunStopped != nil && e.RunStopped.Reason == "epic_doubtful" { // of an older relay
		e.RunStopped.Reason = "needs_a_look"
	}
	for i := range e.Steps {
		e.Steps[i].Rules = copied(e.Steps[i].Rules, func(r *Rules) { r.Jobs = min(max(r.Jobs, 0), MaxJobs) })
	}
	return err
}

// canonical replaces what the ledger has no words for: categories of an agent's own, numbers that JSON does not know, which come
// from a division by zero somewhere else, and numbers that no run has.
func canonical(e *Event) {
	e.RunStarted = copied(e.RunStarted, func(rs *RunStarted) {
		rs.Jobs, rs.Settings.TimeoutMinutes = min(max(rs.Jobs, 0), MaxJobs), finite(rs.Settings.TimeoutMinutes)
	})
	e.Undone = copied(e.Undone, func(u *Undone) { u.Check.Seconds = finite(u.Check.Seconds) })
	e.Landing, e.Ended = copied(e.Landing, (*Ended).canonical), copied(e.Ended, (*Ended).canonical)
	e.EpicReviewed = copied(e.EpicReviewed, func(r *EpicReview) { r.Usage = copied(r.Usage, (*Usage).canonical) })
}

// copied returns a changed copy of a part of an event.
func copied[T any](part *T, change func(*T)) *T {
	if part == nil {
		return nil
	}
	made := *part
	change(&made)
	return &made
}

func (e *Ended) canonical() {
	e.Receipt.categorise()
	if e.Outcome == "" {
		e.Outcome = outcomeOf(e.Result, &e.Receipt)
	}
	e.Usage, e.Receipt.SessionUsage = copied(e.Usage, (*Usage).canonical), copied(e.Receipt.SessionUsage, (*Usage).canonical)
	e.Receipt.Checks = slices.Clone(e.Receipt.Checks)
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
			bound(reflect.ValueOf(&e.Steps[i].Unable[k].Why), bigText, 0)
		}
	}
	for _, part := range []any{
		e.Note, e.Gate, e.RunStopped, e.Cooldown, e.Waiting, e.Undone, e.Request, e.Reviewed, e.Landing, e.Ended, e.EpicReviewed, e.Briefed,
	} {
		bound(reflect.ValueOf(part), bigText, bigList)
	}
}

// short returns a function that cuts a text to so many bytes.
func short(most int) func(string) string {
	return func(s string) string { return plaintext.Capped(s, most) }
}

// bound cuts each text in a value to so many bytes and each list to so many entries, or to what the tags max (of texts) and most (of
// lists) of a field say of it and of all that is in it.
func bound(v reflect.Value, text, list int) {
	switch v.Kind() { //nolint:exhaustive // values of other kinds are small
	case reflect.String:
		v.SetString(plaintext.Capped(v.String(), text))
	case reflect.Pointer:
		if !v.IsNil() {
			bound(v.Elem(), text, list)
		}
	case reflect.Slice:
		switch l := v.Addr().Interface().(type) {
		case *[]string:
			*l = boundedList(*l)
		case *json.RawMessage:
			if len(*l) > text {
				*l = nil
			}
		default:
			v.SetLen(min(v.Len(), list))
			for i := range v.Len() {
				bound(v.Index(i), text, list)
			}
		}
	case reflect.Struct:
		switch s := v.Addr().Interface().(type) {
		case *time.Time:
			return
		case *Statement:
			*s = plaintext.CleanAll(plaintext.Cleaner{Line: short(500), Block: short(4 << 10), Most: bigList}, *s)
		}
		for kind, field := range v.Fields() {
			bound(field, limit(kind.Tag.Get("max"), text), limit(kind.Tag.Get("most"), list))
		}
	}
}

func limit(tag string, otherwise int) int {
	if n, err := strconv.Atoi(tag); err == nil {
		return n
	}
	return otherwise
}

func boundedList(list []string) []string {
	if len(list) > bigList {
		cut := append([]string(nil), list[:bigList]...)
		list = append(cut, fmt.Sprintf("… and %d more", len(list)-bigList))
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strings.ToValidUTF8(plaintext.Capped(s, 500), "\ufffd")
	}
	return out
}

// bigChanges limits the files of an attempt that a large event lists one by one.
const bigChanges = 500
