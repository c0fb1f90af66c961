package ledgersync

import (
	"fmt"
	"io"
	"slices"

	"relay/attempts/internal/durable"
)

// Problem is what is wrong with one line of a ledger.
type Problem = durable.SchemaFault

// Validate reads a ledger and calls f with every problem, in the order of lines. It returns how many lines are entries.
func (v *Validator) Validate(r io.Reader, f func(Problem)) (entries int, err error) {
	var before *Entry
	err = eachLine(r, func(l line) error {
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
	likely, why := apparentType(e, before)
	if likely != "" {
		f(Problem{
			Line: line, Warning: true,
			Message: fmt.Sprintf("the entry has no entryType, and is a %s by the looks of it: %s", likely, why),
			Hint:    fmt.Sprintf("entryType: %q would let the next agent find it", likely),
		})
	}
}

// apparentType is the type that an entry has the payload of, or that one of its tags names, or that what it did, and its place, speak for.
func apparentType(e, before *Entry) (likely Type, why string) {
	tagged := func(tag string) bool { return slices.Contains(e.Tags, tag) }
	changed := slices.ContainsFunc(e.Artifacts, func(a Artifact) bool { return a.Action != Read })
	first := ""
	if e.Session.Index == 0 && before != nil && before.Agent.Name != e.Agent.Name {
		first = "it is the first of its session, after an entry of " + before.Agent.Name
	}
	for _, sign := range []struct {
		there bool
		of    Type
		why   string
	}{
		{e.SessionSummary != nil, Handoff, "it has a sessionSummary"},
		{e.Transition != nil, Transition, "it has a transition"},
		{e.Implementation != nil, Implementation, "it has an implementation"},
		{e.Bugfix != nil, Bugfix, "it has a bugfix"},
		{e.Review != nil, Review, "it has a review"},
		{tagged("handoff") || tagged("session-summary"), Handoff, "a tag says so"},
		{tagged("transition"), Transition, "a tag says so"},
		{tagged("review"), Review, "a tag says so"},
		{first != "", Transition, first},
		{e.Action.Type == "debug" && changed, Bugfix, "it debugged, and changed files"},
		{e.Action.Type == "analyze" && len(e.Artifacts) > 0 && !changed, Review, "it analyzed files, and changed none"},
	} {
		if sign.there {
			return sign.of, sign.why
		}
	}
	return "", ""
}
