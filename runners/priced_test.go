package runners_test

import (
	"cmp"
	"context"
	"math"
	"testing"

	"relay/runners"
)

func TestPrices(t *testing.T) {
	t.Parallel()
	p := runners.Prices{
		"gpt-5*": {Input: 1}, "gpt-5-mini": {Input: 2}, "gpt-5*-mini*": {Input: 3}, "*/claude-*": {Input: 4}, "*sonnet*[1m]": {Input: 5},
		"b*c": {Input: 6}, "*bc": {Input: 7},
	}
	for model, want := range map[string]float64{
		"gpt-5": 1, "gpt-5-mini": 2, "gpt-5.1-mini": 3, "openai/us/claude-x": 4, "claude-x": 0, "GPT-5": 0, "a-sonnet-4[1m]": 5, "a-sonnet-4": 0,
		"": 0, "gpt-": 0, "bc": 7, "bxc": 6, "b": 0,
	} {
		price, ok := p.Of(model)
		if price.Input != want || ok != (want > 0) {
			t.Errorf("%q: got %v, %v, want %v", model, price.Input, ok, want)
		}
	}
	if price, ok := (runners.Prices{"*": {Output: 1}}).Of(""); !ok || price.Output != 1 {
		t.Errorf("a price for all is none for the model nobody names: %v, %v", price, ok)
	}
}

// bill is a runner that tells what it uses, and then reports the last of it.
type bill struct {
	used  []runners.Usage
	model string
}

func (b bill) Name() string { return "bill" }

func (b bill) Run(_ context.Context, req runners.Request) (runners.Report, error) {
	for _, u := range b.used {
		req.Observe(runners.Event{Kind: runners.EventUsage, Usage: u, Model: b.model})
		req.Observe(runners.Event{Kind: runners.EventText, Usage: u})
	}
	return runners.Report{Usage: b.used[len(b.used)-1], Model: b.model, Session: req.Session}, nil
}

// TestPricedByKept: what the CLI has kept names the model, and so its price, only where nothing else names one.
func TestPricedByKept(t *testing.T) {
	t.Parallel()
	used := bill{used: []runners.Usage{{InputTokens: 1_000_000}}}
	kept := func(_ context.Context, env []string, session string) string { return env[0] + "/" + session }
	for asked, want := range map[string]string{"": "x/s", "m": "m"} {
		r := runners.WithPrices(used, runners.Pricing{Prices: runners.Prices{"x/s": {Input: 2}, "m": {Input: 1}}, Kept: kept})
		report, err := r.Run(t.Context(), runners.Request{Model: asked, Session: "s", Env: []string{"x"}, Observe: func(runners.Event) {}})
		if err != nil || report.Model != want || !report.Usage.Priced || report.Usage.CostUSD != map[string]float64{"x/s": 2, "m": 1}[want] {
			t.Errorf("%q: got %s, %+v, %v", asked, report.Model, report.Usage, err)
		}
	}
}

func TestPricedRunner(t *testing.T) {
	t.Parallel()
	const million = 1_000_000
	table := runners.Prices{"m": {Input: 3, CachedInput: 0.3, Output: 15}, "default": {Input: 1}}
	used := []runners.Usage{{InputTokens: million}, {InputTokens: 2 * million, CachedTokens: million, OutputTokens: million}}
	for _, c := range []struct {
		name      string
		prices    runners.Prices
		model     string // that answers
		asked     string
		own       string // of the agent's configuration
		taken     string // for a model that has no price
		used      []runners.Usage
		costs     []float64
		unknown   bool
		estimated bool
	}{
		{name: "the model that answers", prices: table, model: "m", asked: "default", used: used, costs: []float64{3, 18.3}},
		{name: "the model asked for", prices: table, asked: "m", own: "default", used: used, costs: []float64{3, 18.3}},
		{name: "the agent's model", prices: table, own: "m", used: used, costs: []float64{3, 18.3}},
		{name: "what answers has no price, what was asked for has", prices: table, model: "x", asked: "m", used: used, costs: []float64{3, 18.3}},
		{name: "nobody knows the model", prices: table, used: used, costs: []float64{0, 0}, unknown: true},
		{name: "no prices", model: "m", used: used, costs: []float64{0, 0}, unknown: true},
		{name: "one price for all", prices: runners.Prices{"*": {Output: 2}}, used: used, costs: []float64{0, 2}},
		{name: "the CLI knows better", prices: table, model: "m", used: []runners.Usage{{InputTokens: million, CostUSD: 0.5, Priced: true}}, costs: []float64{0.5}},
		{name: "the CLI has no prices", prices: table, model: "m", used: []runners.Usage{{InputTokens: million, Priced: true}}, costs: []float64{3}},
		{name: "a public price", prices: table, model: "us.anthropic.claude-sonnet-4-5-v1:0", used: used, costs: []float64{3, 18.3}, estimated: true},
		{name: "a public price, by its vendor's name", model: "openai/gpt-5", used: used, costs: []float64{1.25, 11.375}, estimated: true},
		{name: "the user's price is stronger", prices: runners.Prices{"claude*": {Input: 7}}, model: "claude-sonnet-4-5", used: used, costs: []float64{7, 7}},
		{name: "a model nobody names", taken: "claude", used: used, costs: []float64{4, 24.2}, estimated: true},
		{name: "what is written to a cache", model: "claude-sonnet-4-5", used: []runners.Usage{{InputTokens: 3 * million, CachedTokens: million, CacheWrites: million}}, costs: []float64{7.05}, estimated: true},
		{name: "the CLI knows a part", model: "claude-sonnet-4-5", used: []runners.Usage{{InputTokens: million, CostUSD: 3.5}}, costs: []float64{3.5}, estimated: true},
		{name: "nothing was used", model: "claude-sonnet-4-5", used: []runners.Usage{{}}, costs: []float64{0}, unknown: true},
		{name: "nonsense", prices: table, model: "m", used: []runners.Usage{{InputTokens: -1, CachedTokens: million, OutputTokens: -5}}, costs: []float64{0}, unknown: true},
		{name: "a free model", prices: runners.Prices{"m": {}}, model: "m", used: used, costs: []float64{0, 0}},
		{name: "the CLI has no price", model: "m", used: []runners.Usage{{InputTokens: million, Priced: true}}, costs: []float64{0}, unknown: true},
	} {
		var told []float64
		r := runners.WithPrices(bill{c.used, c.model}, runners.Pricing{Prices: c.prices, Model: c.own, Unknown: c.taken})
		report, err := r.Run(t.Context(), runners.Request{Model: c.asked, Observe: func(e runners.Event) {
			if e.Kind == runners.EventUsage {
				told = append(told, e.Usage.CostUSD)
			} else if e.Usage != c.used[len(told)-1] {
				t.Errorf("%s: another event was changed: %+v", c.name, e)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.costs {
			if math.Abs(told[i]-want) > 1e-9 {
				t.Errorf("%s: told %v, want %v", c.name, told[i], want)
			}
		}
		if want := cmp.Or(c.model, c.asked, c.own); report.Model != want {
			t.Errorf("%s: the model is %q, want %q", c.name, report.Model, want)
		}
		if last := c.costs[len(c.costs)-1]; math.Abs(report.Usage.CostUSD-last) > 1e-9 ||
			report.Usage.Priced == c.unknown || report.Usage.ListPriced != c.estimated {
			t.Errorf("%s: reported %+v, want %v", c.name, report.Usage, last)
		}
	}
}
