package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/terminal"
)

// cooling is a runner that is not to be asked before a time.
type cooling struct {
	Runner string    `json:"runner"`
	Until  time.Time `json:"until"`
	Why    string    `json:"why,omitempty"`
}

// pause is what a run waits for that cannot start anything.
type pause struct {
	For   string    `json:"for"`
	Until time.Time `json:"until"`
	Why   string    `json:"why,omitempty"`
}

// held adds what keeps tasks from starting although they could.
func (s *standing) held(now time.Time) {
	l := s.outlook.Ledger
	if s.Counts.Completed == s.Counts.Total {
		return
	}
	if w := l.Waiting; w != nil && s.Run.State == runOn {
		s.Waiting = &pause{w.For, w.Until, w.Why}
	}
	for name, c := range l.Cooling {
		if c.Until.After(now) && (s.Run.State == runOn || !c.Refused()) { // the next run asks whoever has refused
			s.Cooling = append(s.Cooling, cooling{name, c.Until, c.Why})
		}
	}
	slices.SortFunc(s.Cooling, func(a, b cooling) int { return cmp.Or(a.Until.Compare(b.Until), cmp.Compare(a.Runner, b.Runner)) })
}

// held says what keeps tasks from starting.
func (l listing) held(w io.Writer, s *standing) {
	tell := func(word, text string) {
		fmt.Fprintf(w, "%-6s %s\n", word, strings.TrimLeft(terminal.Wrap(text, l.width, "       "), " "))
	}
	if wait := s.Waiting; wait != nil {
		tell("wait", line(l.waitText(wait), maxWhy))
	}
	for _, c := range s.Cooling {
		if s.Waiting == nil || s.Waiting.For != c.Runner {
			tell("limit", line(fmt.Sprintf("%s is not asked before %s%s", c.Runner, l.coming(c.Until), after(c.Why)), maxWhy))
		}
	}
	if len(s.Cooling) > 0 {
		tell("", "relay work --ask-now asks at once"+stopFirst(s))
	}
}

func (l listing) waitText(w *pause) string {
	return "waiting until " + l.coming(w.Until) + " for " + w.For + after(w.Why)
}

// stopFirst is what has to be done before another run can begin.
func stopFirst(s *standing) string {
	if s.Run.State == runOn {
		return "; stop this run first, with Ctrl-C"
	}
	return ""
}

// heldText is an event that keeps tasks from starting, in words.
func heldText(who string, e attempts.Event) string {
	at := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	c := e.Cooling
	switch {
	case c == nil:
		return fmt.Sprintf("%s until %s for %s%s", who, at(e.Waiting.Until), e.Waiting.For, after(e.Waiting.Why))
	case c.Until.IsZero():
		return fmt.Sprintf("%s: %s may be asked again%s", who, c.Runner, after(c.Why))
	}
	return fmt.Sprintf("%s: %s is not asked before %s%s", who, c.Runner, at(c.Until), after(c.Why))
}
