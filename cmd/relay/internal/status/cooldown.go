package status

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/text"
)

// Cooldown is a runner that is not to be asked before a time.
type Cooldown struct {
	Runner string    `json:"runner"`
	Until  time.Time `json:"until"`
	Why    string    `json:"why,omitempty"`
}

// Wait records what a run that cannot start anything waits for.
type Wait struct {
	For   string    `json:"for"`
	Until time.Time `json:"until"`
	Why   string    `json:"why,omitempty"`
}

// AddCooldowns adds what keeps tasks from starting although they could.
func (s *Report) AddCooldowns(now time.Time) {
	l := s.outlook.Ledger
	if s.Counts.Completed == s.Counts.Total {
		return
	}
	if w := l.Waiting; w != nil && s.Run.State == Running {
		s.Waiting = &Wait{w.For, w.Until, w.Why}
	}
	s.addRequests(l)
	for name, c := range l.Cooldowns {
		if c.Until.After(now) && (s.Run.State == Running || !c.Refused()) { // the next run asks whoever has refused
			s.Cooldowns = append(s.Cooldowns, Cooldown{name, c.Until, c.Why})
		}
	}
	slices.SortFunc(s.Cooldowns, func(a, b Cooldown) int { return cmp.Or(a.Until.Compare(b.Until), cmp.Compare(a.Runner, b.Runner)) })
}

// addRequests adds what a person has asked of the run that is on.
func (s *Report) addRequests(l *attempts.Ledger) {
	if s.Run.State != Running {
		return
	}
	if paused := l.Paused; !paused.IsZero() {
		s.Paused = &paused
	}
	for i := range s.Tasks {
		if at, yes := l.Held[s.Tasks[i].ID]; yes && s.Tasks[i].Status != attempts.Completed {
			s.Tasks[i].Stopped = &at
		}
	}
}

// cooldowns prints what keeps tasks from starting.
func (l Printer) cooldowns(w io.Writer, s *Report) {
	printLine := func(word, text string) {
		head := l.Paint.Wait(word) + strings.Repeat(" ", max(6-len(word), 0))
		fmt.Fprintf(w, "%s %s\n", head, strings.TrimLeft(terminal.Wrap(text, l.Width, "       "), " "))
	}
	if s.Paused != nil {
		printLine("wait", "paused by you since "+FormatTime(*s.Paused, l.Now)+": relay pause --off"+l.Flag)
	}
	if wait := s.Waiting; wait != nil {
		printLine("wait", text.Line("waiting until "+l.nearTime(wait.Until)+" for "+wait.For+text.After(wait.Why), maxWhy))
	}
	for _, c := range s.Cooldowns {
		if s.Waiting == nil || s.Waiting.For != c.Runner {
			printLine("limit", text.Line(fmt.Sprintf("%s is not asked before %s%s", c.Runner, l.nearTime(c.Until), text.After(c.Why)), maxWhy))
		}
	}
	if len(s.Cooldowns) > 0 {
		hint := "relay work --ask-now asks at once"
		if s.Run.State == Running {
			hint += "; stop this run first, with Ctrl-C"
		}
		printLine("", hint)
	}
}
