package main

import (
	"fmt"
	"io"
	"strings"

	"relay/attempts"
	"relay/orchestrator/words"
)

// spend adds a task's attempts to what each agent has used.
func (s *standing) spend(rec *attempts.TaskRecord) {
	for i := range rec.Attempts {
		if u := rec.Attempts[i].Usage; u != nil {
			s.Usage.Add(*u)
			s.Spenders.Add(&rec.Attempts[i])
		}
	}
}

// cost tells what all attempts have used and, where there are several, each agent and model; unpriced is what nobody knows.
func (l listing) cost(w io.Writer, s *standing) {
	if s.Usage == (attempts.Usage{}) {
		return
	}
	fmt.Fprintf(w, "cost   %s\n", words.Usage(s.Usage))
	unpriced := 0
	for _, one := range s.Spenders {
		unpriced += one.Unpriced
		if len(s.Spenders) > 1 || l.verbose {
			who := strings.TrimSpace(line(one.Runner, 20) + " " + line(one.Model, 40))
			fmt.Fprintf(w, "       %s: %s, %s\n", who, words.Usage(one.Usage), count(one.Attempts, "attempt"))
		}
	}
	if unpriced > 0 && s.Usage.CostUSD > 0 {
		fmt.Fprintf(w, "       not in it: what %s cost, whose price nobody knew\n", count(unpriced, "attempt"))
	}
}
