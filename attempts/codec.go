package attempts

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

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
	if err == nil && len(text) > bigEvent && e.Accepted == nil {
		bound(&e)
		text, err = json.Marshal(e)
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
	e.Reviewed = e.Reviewed.bounded()
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

// bound cuts every text of an oversized event.
func bound(e *Event) {
	if e.Note != nil {
		e.Note = &Note{Kind: Clean(e.Note.Kind, 100), Text: Clean(e.Note.Text, bigText)}
	}
	if e.Gate != nil {
		gate := *e.Gate
		gate.Detail = Clean(gate.Detail, bigText)
		e.Gate = &gate
	}
	if e.RunStopped != nil {
		stopped := *e.RunStopped
		stopped.Why, stopped.Regressed = Clean(stopped.Why, bigText), boundedList(stopped.Regressed)
		e.RunStopped = &stopped
	}
	if e.Cooldown != nil {
		cooldown := *e.Cooldown
		cooldown.Why = Clean(cooldown.Why, bigText)
		e.Cooldown = &cooldown
	}
	if e.Waiting != nil {
		waiting := *e.Waiting
		waiting.Why = Clean(waiting.Why, bigText)
		e.Waiting = &waiting
	}
	if e.Undone != nil {
		undone := *e.Undone
		undone.Since, undone.Check = boundedList(undone.Since), undone.Check.bounded()
		e.Undone = &undone
	}
	if e.Request != nil {
		request := *e.Request
		request.Reason = Clean(request.Reason, bigText)
		e.Request = &request
	}
	e.Steps = boundedSteps(e.Steps)
	e.Landing, e.Ended, e.EpicReviewed, e.Briefed = e.Landing.bounded(), e.Ended.bounded(), e.EpicReviewed.bounded(), e.Briefed.bounded()
}

func (e *Ended) bounded() *Ended {
	if e == nil {
		return nil
	}
	ended := *e
	ended.Receipt = ended.Receipt.bounded()
	ended.boundedFacts()
	if ended.Cause = Clean(ended.Cause, 200); len(ended.Evidence) > bigText {
		ended.Evidence = nil
	}
	if ended.Gate != nil {
		gate := *ended.Gate
		gate.Detail = Clean(gate.Detail, bigText)
		ended.Gate = &gate
	}
	return &ended
}

func (c CheckRun) bounded() CheckRun {
	c.Name, c.Log, c.Tail, c.Phase = Clean(c.Name, 200), Clean(c.Log, 500), Clean(c.Tail, 4<<10), Clean(c.Phase, 100)
	c.Attribution = Attribution(Clean(string(c.Attribution), 100))
	return c
}

func (r Receipt) bounded() Receipt {
	for _, s := range []*string{&r.Summary, &r.ErrorSummary, &r.Findings, &r.Suggestion, &r.Learning, &r.Claimed, &r.DiffStat, &r.Salvage} {
		*s = Clean(*s, bigText)
	}
	r.FilesChanged, r.PatternTags, r.Contested = boundedList(r.FilesChanged), boundedList(r.PatternTags), boundedList(r.Contested)
	r.WeakerTests = boundedList(r.WeakerTests)
	r.Kept = boundedList(r.Kept)
	checks := make([]CheckRun, 0, min(len(r.Checks), bigList))
	for _, c := range r.Checks[:min(len(r.Checks), bigList)] {
		checks = append(checks, c.bounded())
	}
	r.Checks = checks
	r.Review, r.Statement = r.Review.bounded(), r.Statement.bounded()
	return r
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
