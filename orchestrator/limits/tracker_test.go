package limits

import (
	"math"
	"testing"

	"relay/attempts"
	"relay/epic"
)

func usd(v float64) attempts.Usage { return attempts.Usage{CostUSD: v} }

// Each cap holds by itself, and of several the narrowest is reported.
func TestCaps(t *testing.T) {
	t.Parallel()
	const none = "none"
	own := &epic.Task{ID: "T1", BudgetUSD: 2}
	plain := &epic.Task{ID: "T1"}
	earlier := &attempts.Ledger{Tasks: map[string]*attempts.TaskRecord{
		"T0": {Attempts: []attempts.Attempt{{Usage: &attempts.Usage{CostUSD: 5, InputTokens: 900, OutputTokens: 100}}, {}}},
	}}
	for _, c := range []struct {
		name   string
		budget Caps
		task   *epic.Task
		used   attempts.Usage // by the task before
		ran    attempts.Usage // by this run before
		heard  attempts.Usage
		want   string
	}{
		{name: "no caps", task: plain, heard: attempts.Usage{CostUSD: 1e9, InputTokens: 1e15}, want: none},
		{name: "an attempt", budget: Caps{Attempt: Cap{USD: 1}}, task: plain, heard: usd(1.01), want: "the attempt's budget is spent: 1.01 of 1.00 USD"},
		{name: "an attempt to the cent", budget: Caps{Attempt: Cap{USD: 1}}, task: plain, heard: usd(1), want: none},
		{name: "an attempt's tokens", budget: Caps{Attempt: Cap{Tokens: 100}}, task: plain, heard: attempts.Usage{InputTokens: 60, OutputTokens: 41}, want: "the attempt's budget is spent: 101 of 100 tokens"},
		{name: "what the provider's cache had does not count", budget: Caps{Attempt: Cap{Tokens: 100}}, task: plain, heard: attempts.Usage{InputTokens: 5060, CachedTokens: 5000, OutputTokens: 40}, want: none},
		{name: "a task by default", budget: Caps{Task: Cap{USD: 3}}, task: plain, used: usd(2), heard: usd(1.5), want: "the task's budget is spent: 3.50 of 3.00 USD"},
		{name: "a task's own", budget: Caps{Task: Cap{USD: 30}}, task: own, used: usd(1.5), heard: usd(1), want: "the task's budget is spent: 2.50 of 2.00 USD"},
		{name: "a task's own, and tokens by default", budget: Caps{Task: Cap{USD: 30, Tokens: 10}}, task: own, heard: attempts.Usage{InputTokens: 11}, want: "the task's budget is spent: 11 of 10 tokens"},
		{name: "a run", budget: Caps{Run: Cap{USD: 4}}, task: plain, ran: usd(3), heard: usd(1.25), want: "the run's budget is spent: 4.25 of 4.00 USD"},
		{name: "a run does not pay for others", budget: Caps{Run: Cap{USD: 4}}, task: plain, heard: usd(3.5), want: none},
		{name: "a run's tokens", budget: Caps{Run: Cap{Tokens: 4}}, task: plain, heard: attempts.Usage{OutputTokens: 5}, want: "the run's budget is spent: 5 of 4 tokens"},
		{name: "an epic", budget: Caps{Epic: Cap{USD: 6}}, task: plain, heard: usd(1.5), want: "the epic's budget is spent: 6.50 of 6.00 USD"},
		{name: "an epic's tokens", budget: Caps{Epic: Cap{Tokens: 1000}}, task: plain, heard: attempts.Usage{OutputTokens: 1}, want: "the epic's budget is spent: 1001 of 1000 tokens"},
		{name: "the narrowest is told", budget: Caps{Run: Cap{USD: 1}, Epic: Cap{USD: 1}, Task: Cap{USD: 1}, Attempt: Cap{USD: 1}}, task: plain, heard: usd(2), want: "the attempt's budget is spent: 2.00 of 1.00 USD"},
		{name: "nonsense", budget: Caps{Attempt: Cap{USD: 1, Tokens: 1}}, task: plain, heard: attempts.Usage{CostUSD: math.NaN(), InputTokens: -5}, want: none},
		{name: "more than there is", budget: Caps{Epic: Cap{USD: 1}}, task: plain, heard: usd(math.Inf(1)), want: "the epic's budget is spent: 1000000000.00 of 1.00 USD"},
	} {
		p := NewTracker(c.budget, c.ran, earlier)
		p.Begin(c.task, c.used)
		got := none
		if over := p.Record("T1", c.heard); over != nil {
			got = over.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// Attempts that run side by side add up, and nothing is counted twice.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	p := NewTracker(Caps{Run: Cap{USD: 10}}, attempts.Usage{}, &attempts.Ledger{})
	one, two := &epic.Task{ID: "T1"}, &epic.Task{ID: "T2"}
	p.Begin(one, attempts.Usage{})
	p.Begin(two, attempts.Usage{})
	hears := func(task string, v float64, stops bool) {
		t.Helper()
		if over := p.Record(task, usd(v)); (over != nil) != stops {
			t.Errorf("%s at %.2f: %v", task, v, over)
		}
	}
	hears("T1", 4, false)
	hears("T2", 4, false)
	hears("T1", 5, false)
	if p.Exhausted() != nil {
		t.Error("9 of 10 is all")
	}
	hears("T2", 5, false)
	if p.Exhausted() == nil {
		t.Error("10 of 10 is not all")
	}
	hears("T1", 5.5, true)
	hears("T1", 2, true) // what was told once is spent
	p.End("T1", usd(5.5), true)
	hears("T2", 5, true)
	p.End("T2", usd(3), true)
	if got := p.run.asCap().USD; got != 10.5 {
		t.Errorf("the run has cost %v, want 10.5", got)
	}
	p.End("T3", usd(7), false) // of a killed run
	if run, epic := p.run.asCap().USD, p.epic.asCap().USD; run != 10.5 || epic != 17.5 {
		t.Errorf("the run has cost %v, the epic %v", run, epic)
	}
	if p.Record("T9", usd(100)) != nil {
		t.Error("what nobody has begun is stopped")
	}
}

// The rest of a cap is held against what the running attempts and one more cost by the median of those that have ended.
func TestShort(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		caps    Caps
		before  []float64 // costs of attempts of earlier runs
		ended   []float64
		running int
		want    bool
	}{
		{name: "nothing is known", caps: Caps{Run: Cap{USD: 1}}, running: 3},
		{name: "one may always start", caps: Caps{Run: Cap{USD: 1}}, ended: []float64{9}},
		{name: "enough for both", caps: Caps{Run: Cap{USD: 6}}, ended: []float64{2}, running: 1},
		{name: "not enough for three", caps: Caps{Run: Cap{USD: 6}}, ended: []float64{2}, running: 2, want: true},
		{name: "the median, not the mean", caps: Caps{Run: Cap{USD: 28}}, ended: []float64{1, 20, 1}, running: 4},
		{name: "attempts that cost nothing say nothing", caps: Caps{Run: Cap{USD: 6}}, ended: []float64{0, 0, 2}, running: 2, want: true},
		{name: "by an earlier run", caps: Caps{Run: Cap{USD: 3}}, before: []float64{2}, running: 1, want: true},
		{name: "the epic's cap", caps: Caps{Epic: Cap{USD: 5}}, before: []float64{2}, running: 1, want: true},
		{name: "no cap", ended: []float64{2}, running: 9},
		{name: "tokens", caps: Caps{Run: Cap{Tokens: 500}}, ended: []float64{2}, running: 2, want: true},
	} {
		l := &attempts.Ledger{Tasks: map[string]*attempts.TaskRecord{"T0": {}}}
		for _, v := range c.before {
			l.Tasks["T0"].Attempts = append(l.Tasks["T0"].Attempts, attempts.Attempt{Usage: &attempts.Usage{CostUSD: v}})
		}
		p := NewTracker(c.caps, attempts.Usage{}, l)
		for _, v := range c.ended {
			p.End("T1", attempts.Usage{CostUSD: v, InputTokens: int64(100 * v)}, true)
		}
		if got := p.Short(c.running); got != c.want {
			t.Errorf("%s: got %t, want %t", c.name, got, c.want)
		}
	}
}

// A cap in dollars holds to the cent, however many cents it is made of.
func TestCents(t *testing.T) {
	t.Parallel()
	p := NewTracker(Caps{Run: Cap{USD: 1000}}, attempts.Usage{}, &attempts.Ledger{})
	for range 9_999 {
		p.End("T", usd(0.1), true)
	}
	if over := p.Exhausted(); over != nil {
		t.Error(over)
	}
	p.End("T", usd(0.1), true)
	if p.Exhausted() == nil {
		t.Error("1000.00 of 1000.00 USD are not all")
	}
}

func TestRemaining(t *testing.T) {
	t.Parallel()
	task := &epic.Task{ID: "T1", BudgetUSD: 3}
	for name, c := range map[string]struct {
		budget Caps
		want   Cap
	}{
		"the task's":                   {Caps{}, Cap{USD: 2}},
		"the attempt's":                {Caps{Attempt: Cap{USD: 0.5, Tokens: 100}}, Cap{USD: 0.5, Tokens: 100}},
		"the run's":                    {Caps{Run: Cap{USD: 2}, Attempt: Cap{Tokens: 7}}, Cap{USD: 1.5, Tokens: 7}},
		"the run's, that nobody chose": {Caps{Run: Cap{USD: 1}, Default: true}, Cap{USD: 2}},
		"the epic's":                   {Caps{Epic: Cap{USD: 1.75, Tokens: 50}}, Cap{USD: 1.25, Tokens: 50}},
		"nothing":                      {Caps{Run: Cap{USD: 0.25}}, Cap{USD: 1e-6}},
	} {
		p := NewTracker(c.budget, attempts.Usage{}, &attempts.Ledger{})
		p.Begin(&epic.Task{ID: "T2"}, attempts.Usage{})
		if over := p.Record("T2", usd(0.5)); over != nil && name != "nothing" {
			t.Errorf("%s: %v", name, over)
		}
		if got := p.Remaining(task, usd(1)); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	earlier := &attempts.Ledger{Tasks: map[string]*attempts.TaskRecord{"T0": {Attempts: []attempts.Attempt{{Usage: &attempts.Usage{CostUSD: 5, InputTokens: 70}}}}}}
	for want, b := range map[string]Caps{
		"":                 {Task: Cap{USD: 5}},
		"budget 50.00 USD": {Run: Cap{USD: 50}},
		"budget 9 tokens; budget of the epic 20.00 USD, 5.00 spent":                       {Run: Cap{Tokens: 9}, Epic: Cap{USD: 20}},
		"budget of the epic 20.00 USD, 5.00 spent; budget of the epic 90 tokens, 70 used": {Epic: Cap{USD: 20, Tokens: 90}},
	} {
		if got := NewTracker(b, attempts.Usage{}, earlier).Summary(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
