package ledgersync

import (
	"fmt"
	"io"
	"slices"

	"relay/attempts/internal/schema"
)

// Problem is what is wrong with one line of a ledger.
type Problem = schema.Fault

// Validate reads a ledger and calls f with every problem, in the order of lines. It returns how many lines are entries.
func (v *Validator) Validate(r io.Reader, f func(Problem)) (entries int, err error) {
	var before *Entry
	_, _, err = eachLine(r, func(l line) error {
		number, text, whole := l.number, l.text, l.whole
		if text == nil {
			f(Problem{Line: number, Message: fmt.Sprintf("the line has more than %d bytes", MaxLine), Hint: "no program of LedgerSync writes such lines: move it into another file"})
			return nil
		}
		problems := v.Check(text)
		for _, p := range problems {
			f(Problem{Line: number, Message: p, Hint: hintOf(text, whole)})
		}
		if !whole && len(problems) == 0 {
			f(Problem{Line: number, Message: "the last line has no end", Hint: "relay ledgersync add ends it first; add of ledgersync itself would spoil it", Warning: true})
		}
		if e, _, err := Decode(text); err == nil {
			if len(problems) == 0 {
				warnUntyped(number, e, before, f)
			}
			before = e
			entries++
		}
		return nil
	})
	return entries, err
}

func hintOf(text []byte, whole bool) string {
	switch _, _, err := Decode(text); {
	case err != nil && !whole:
		return "its writer was cut short: remove the line"
	case err != nil:
		return "readers of LedgerSync stop at such a line: mend or remove it"
	}
	return "relay ledgersync validate --schema prints what an entry needs"
}

// warnUntyped tells of an entry without a type that meets what makes one. before is the entry before it, nil for the first.
func warnUntyped(line int, e, before *Entry, f func(Problem)) {
	if e.Type != "" {
		return
	}
	likely, why := payloadType(e)
	if likely == "" {
		likely, why = apparentType(e, before)
	}
	if likely != "" {
		f(Problem{
			Line: line, Warning: true,
			Message: fmt.Sprintf("the entry has no entryType, and is a %s by the looks of it: %s", likely, why),
			Hint:    fmt.Sprintf("entryType: %q would let the next agent find it", likely),
		})
	}
}

func payloadType(e *Entry) (likely Type, why string) {
	switch {
	case e.SessionSummary != nil:
		return Handoff, "it has a sessionSummary"
	case e.Transition != nil:
		return Transition, "it has a transition"
	case e.Implementation != nil:
		return Implementation, "it has an implementation"
	case e.Bugfix != nil:
		return Bugfix, "it has a bugfix"
	case e.Review != nil:
		return Review, "it has a review"
	}
	return "", ""
}

// apparentType is the type that one of an entry's tags names, or that what it did, and its place, speak for.
func apparentType(e, before *Entry) (likely Type, why string) {
	tagged := func(tag string) bool { return slices.Contains(e.Tags, tag) }
	changed := slices.ContainsFunc(e.Artifacts, func(a Artifact) bool { return a.Action != Read })
	switch {
	case tagged("handoff"), tagged("session-summary"):
		return Handoff, "a tag says so"
	case tagged("transition"):
		return Transition, "a tag says so"
	case tagged("review"):
		return Review, "a tag says so"
	case e.Session.Index == 0 && before != nil && before.Agent.Name != e.Agent.Name:
		return Transition, "it is the first of its session, after an entry of " + before.Agent.Name
	case e.Action.Type == "debug" && changed:
		return Bugfix, "it debugged, and changed files"
	case e.Action.Type == "analyze" && len(e.Artifacts) > 0 && !changed:
		return Review, "it analyzed files, and changed none"
	}
	return "", ""
}
