package attempts

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestUsed(t *testing.T) {
	t.Parallel()
	rec := TaskRecord{CountFrom: 1, Attempts: []Attempt{
		{ID: 1, Usage: &Usage{InputTokens: 100, OutputTokens: 10, CostUSD: 1}},
		{ID: 2},
		{ID: 3, Usage: &Usage{InputTokens: 20, CachedTokens: 15, OutputTokens: 2, CostUSD: 0.5}},
	}}
	if got, want := rec.Used(), (Usage{InputTokens: 120, CachedTokens: 15, OutputTokens: 12, CostUSD: 1.5}); got != want {
		t.Errorf("in all %+v, want %+v", got, want)
	}
	if got, want := rec.UsedSince(), *rec.Attempts[2].Usage; got != want {
		t.Errorf("since the last ungate %+v, want %+v", got, want)
	}
}

// A cost of 0 is not written: free says that it is known. A 0 of an older relay is unknown.
func TestKnownCost(t *testing.T) {
	t.Parallel()
	unknown, free, paid := Usage{InputTokens: 1}, Usage{InputTokens: 1, Free: true}, Usage{InputTokens: 1, CostUSD: 0.5}
	for _, c := range []struct {
		add  []Usage
		json string
	}{
		{nil, `{"input_tokens":0,"output_tokens":0}`},
		{[]Usage{unknown, {}}, `{"input_tokens":1,"output_tokens":0}`},
		{[]Usage{free, {}, free}, `{"input_tokens":2,"output_tokens":0,"free":true}`},
		{[]Usage{free, unknown}, `{"input_tokens":2,"output_tokens":0}`},
		{[]Usage{unknown, paid, free}, `{"input_tokens":3,"output_tokens":0,"cost_usd":0.5}`},
	} {
		var sum, back, old Usage
		for _, u := range c.add {
			sum.Add(u)
		}
		text, err := json.Marshal(sum)
		if must(t, err); string(text) != c.json {
			t.Errorf("%+v: got %s, want %s", c.add, text, c.json)
		}
		must(t, json.Unmarshal(text, &back))
		must(t, json.Unmarshal([]byte(`{"input_tokens":1,"output_tokens":2,"cost_usd":0}`), &old))
		if back != sum || old.KnownCost() {
			t.Errorf("%+v: read as %+v; 0 of an older relay is known: %v", c.add, back, old.KnownCost())
		}
		one := newFold(nil, &Ledger{Tasks: map[string]*TaskRecord{"T1": {Attempts: []Attempt{{ID: 1, Result: ResultFailure, Usage: &sum}}}}})
		written, err := rendered(one)
		must(t, err)
		read, err := parseLedger([]byte(written))
		must(t, err)
		if got := *read.ledger.Tasks["T1"].Attempts[0].Usage; got != sum || strings.Contains(written, "cost_usd") != (sum.CostUSD > 0) {
			t.Errorf("%+v: the ledger has %+v:\n%s", c.add, got, written)
		}
	}
}
