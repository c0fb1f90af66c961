package orchestrator

import (
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/orchestrator/decide"
	"relay/orchestrator/limits"
)

// costing is an attempt that tells every minute that it has cost a dollar more.
func costing(minutes int, o attempts.Outcome) step {
	s := step{outcome: o, takes: time.Second, why: "no"}
	for i := range minutes {
		s.usd = append(s.usd, float64(i+1))
	}
	return s
}

// What a night comes to whose money is gone: what is stopped, what is gated, what is left for another run.
func TestBudget(t *testing.T) {
	t.Parallel()
	const three = "version: 2\nid: e\ntitle: e\ntasks:\n  A: {title: a}\n  B: {title: b}\n  C: {title: c}\n"
	const dear = "version: 2\nid: e\ntitle: e\ntasks:\n  A: {title: a, budget_usd: 2}\n  B: {title: b, depends_on: [A]}\n  C: {title: c}\n"
	ok := attempts.Success
	for name, c := range map[string]struct {
		epic   string
		jobs   int
		budget limits.Caps
		spent  float64
		script map[string][]step
		log    string
		ends   string // how each attempt ended, and whether it was charged
		over   string
	}{
		"no caps": {
			script: map[string][]step{"A": {costing(3, ok)}}, log: "A, B, C", ends: "A success, B success, C success",
		},
		"the run's cap is reached: what runs is done, nothing more is begun": {
			budget: limits.Caps{Run: limits.Cap{USD: 3}}, script: map[string][]step{"A": {costing(3, ok)}}, log: "A", ends: "A success",
			over: "the run's budget is spent: 3.00 of 3.00 USD",
		},
		"the run's cap is passed: what passes it is stopped, uncharged": {
			budget: limits.Caps{Run: limits.Cap{USD: 3}}, script: map[string][]step{"A": {costing(9, ok)}}, log: "A", ends: "A budget",
			over: "the run's budget is spent: 4.00 of 3.00 USD",
		},
		"earlier runs of the same command count": {
			budget: limits.Caps{Run: limits.Cap{USD: 3}}, spent: 1.5, script: map[string][]step{"A": {costing(9, ok)}}, log: "A", ends: "A budget",
			over: "the run's budget is spent: 3.50 of 3.00 USD",
		},
		"two side by side share what is left: what goes on spending is stopped, the other one is done": {
			jobs: 2, budget: limits.Caps{Run: limits.Cap{USD: 4}}, script: map[string][]step{"A": {costing(9, ok)}, "B": {costing(2, ok)}},
			log: "A, B", ends: "A budget, B success", over: "the run's budget is spent: 5.00 of 4.00 USD",
		},
		"the epic's cap": {
			budget: limits.Caps{Epic: limits.Cap{USD: 2}}, script: map[string][]step{"A": {costing(2, attempts.Agent)}}, log: "A", ends: "A agent charged",
			over: "the epic's budget is spent: 2.00 of 2.00 USD",
		},
		"the task's cap gates it, and the others go on": {
			epic: dear, script: map[string][]step{"A": {costing(9, ok)}}, log: "A, C", ends: "A budget gated budget_exhausted, C success",
		},
		"the task's cap counts all its attempts": {
			epic: dear, script: map[string][]step{"A": {costing(1, attempts.Provider), costing(2, ok)}}, log: "A, C, A", ends: "A provider, A budget gated budget_exhausted, C success",
		},
		"the task's cap is reached by an attempt that fails": {
			epic: dear, script: map[string][]step{"A": {costing(2, attempts.Agent)}}, log: "A, C", ends: "A agent charged gated budget_exhausted, C success",
		},
		"a success may cost what it has cost": {
			epic: dear, script: map[string][]step{"A": {{outcome: ok, tokens: 5, usd: []float64{2}}}}, log: "A, B, C", ends: "A success, B success, C success",
		},
		"a cap for all tasks": {
			budget: limits.Caps{Task: limits.Cap{USD: 1}}, script: map[string][]step{"B": {costing(9, ok)}}, log: "A, B, C", ends: "A success, B budget gated budget_exhausted, C success",
		},
		"the attempt's cap is a failure of the agent's": {
			budget: limits.Caps{Attempt: limits.Cap{USD: 1}}, script: map[string][]step{"A": {costing(9, ok), costing(1, ok)}}, log: "A, B, C, A",
			ends: "A budget charged, A success, B success, C success",
		},
		"tokens": {
			budget: limits.Caps{Run: limits.Cap{Tokens: 100}}, script: map[string][]step{"A": {{outcome: ok, takes: time.Minute, tokens: 99}}, "B": {{outcome: ok, takes: time.Minute, tokens: 1}}},
			log: "A, B", ends: "A success, B success", over: "the run's budget is spent: 100 of 100 tokens",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := c.epic
			if text == "" {
				text = three
			}
			var last *limits.ExhaustedError
			o := Options{Policy: decide.Policy{Budget: c.budget, Spent: attempts.Usage{CostUSD: c.spent}}}
			o.Jobs = c.jobs
			o.Notify = func(u decide.Update) {
				if u.Kind == decide.Stopping && last == nil {
					last = &limits.ExhaustedError{}
				}
			}
			simulate(t, text, o, c.script, func(s *simulated, store *attempts.Store, err error) {
				if err != nil {
					t.Error(err)
				}
				var log []string
				for _, line := range s.log {
					log = append(log, strings.Fields(line)[0])
				}
				if got := strings.Join(log, ", "); got != c.log {
					t.Errorf("begun were %s, want %s", got, c.log)
				}
				if got := endings(store); got != c.ends {
					t.Errorf("got %s, want %s", got, c.ends)
				}
				if (last != nil) != (c.over != "") {
					t.Errorf("that the money is gone was told: %v", last != nil)
				}
				if over := s.over(); over != c.over {
					t.Errorf("got %q, want %q", over, c.over)
				}
			})
		})
	}
}

// endings tells how the attempts of all tasks ended.
func endings(store *attempts.Store) string {
	var all []string
	for _, id := range []string{"A", "B", "C"} {
		rec := store.Task(id)
		for i, a := range rec.Attempts {
			text := id + " " + string(a.Outcome)
			if a.Charged {
				text += " charged"
			}
			if rec.Gate != nil && i == len(rec.Attempts)-1 {
				text += " gated " + string(rec.Gate.Reason)
			}
			all = append(all, text)
		}
	}
	return strings.Join(all, ", ")
}
