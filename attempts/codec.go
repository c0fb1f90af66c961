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

	"relay/attempts/internal/eventlog"
)

// bigEvent is where an event's texts are cut, so that what an agent says cannot fill the disk or the memory.
const (
	bigEvent = 256 << 10
	bigText  = 16 << 10
	bigList  = 200
)

// encode appends the line of an event to dst and gives back the event as a reader of that line will see it, so that
// the memory of a running relay and what a later one reads cannot differ.
func encode(dst []byte, e Event, d *decoder) ([]byte, Event, error) {
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
	dst = eventlog.Frame(dst, text)
	var back Event
	if err := d.decode(dst[from:len(dst)-1], &back); err != nil {
		return dst[:from], e, fmt.Errorf("event %s of task %q: %w", e.Type, e.Task, err)
	}
	return dst, back, nil
}

// canonical replaces what the ledger has no words for: categories of an agent's own, and numbers that JSON does not
// know, which come from a division by zero somewhere else.
func canonical(e *Event) {
	if e.RunStarted != nil {
		rs := *e.RunStarted
		rs.Settings.TimeoutMinutes = finite(rs.Settings.TimeoutMinutes)
		e.RunStarted = &rs
	}
	if e.Undone != nil {
		undone := *e.Undone
		undone.Check.Seconds = finite(undone.Check.Seconds)
		e.Undone = &undone
	}
	e.Landing, e.Ended = e.Landing.canonical(), e.Ended.canonical()
	if r := e.EpicReviewed; r != nil && r.Usage != nil {
		judged, usage := *r, *r.Usage
		usage.CostUSD = finite(usage.CostUSD)
		judged.Usage = &usage
		e.EpicReviewed = &judged
	}
}

func (e *Ended) canonical() *Ended {
	if e == nil {
		return nil
	}
	ended := *e
	ended.Receipt.categorise()
	if ended.Outcome == "" {
		ended.Outcome = outcomeOf(ended.Result, &ended.Receipt)
	}
	if u := ended.Usage; u != nil {
		usage := *u
		usage.CostUSD = finite(usage.CostUSD)
		ended.Usage = &usage
	}
	ended.Receipt.Checks = slices.Clone(ended.Receipt.Checks)
	for i := range ended.Receipt.Checks {
		ended.Receipt.Checks[i].Seconds = finite(ended.Receipt.Checks[i].Seconds)
	}
	return &ended
}

func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
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

// bound cuts each text in a value to so many bytes and each list to so many entries, or to what the tags max (of texts) and most (of
// lists) of a field say of it and of all that is in it.
func bound(v reflect.Value, text, list int) {
	switch v.Kind() { //nolint:exhaustive // values of other kinds are small
	case reflect.String:
		v.SetString(Clean(v.String(), text))
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
		case *Statement:
			*s = s.bounded()
		default:
			for i := range v.NumField() {
				tag := v.Type().Field(i).Tag
				bound(v.Field(i), limit(tag.Get("max"), text), limit(tag.Get("most"), list))
			}
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
		out[i] = strings.ToValidUTF8(Clean(s, 500), "\ufffd")
	}
	return out
}
