package status

import (
	"fmt"
	"io"
	"strings"

	"relay/attempts"
	"relay/orchestrator/text"
)

// addUsage adds a task's attempts to what each agent has used.
func (s *Report) addUsage(rec *attempts.TaskRecord) {
	for i := range rec.Attempts {
		if u := rec.Attempts[i].Usage; u != nil {
			s.Usage.Add(*u)
			s.Spenders.Add(&rec.Attempts[i])
		}
	}
}

// usage prints what all attempts have used and, where there are several, each agent and model; unpriced is what nobody
// knows.
func (l Printer) usage(w io.Writer, s *Report) {
	if s.Usage == (attempts.Usage{}) {
		return
	}
	fmt.Fprintf(w, "cost   %s\n", text.Usage(s.Usage))
	unpriced := 0
	for _, one := range s.Spenders {
		unpriced += one.Unpriced
		if len(s.Spenders) > 1 || l.Verbose {
			who := strings.TrimSpace(text.Line(one.Runner, 20) + " " + text.Line(one.Model, 40))
			fmt.Fprintf(w, "       %s: %s, %s\n", who, text.Usage(one.Usage), text.Count(one.Attempts, "attempt"))
		}
	}
	if unpriced > 0 && s.Usage.CostUSD > 0 {
		fmt.Fprintf(w, "       not included: what %s cost, whose price nobody knew\n", text.Count(unpriced, "attempt"))
	}
}
