package attempts

import "testing"

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
	for u, want := range map[Usage]bool{{}: false, {InputTokens: 1}: true, {OutputTokens: 1}: true, {InputTokens: 1, CostUSD: 0.1}: false} {
		if u.Unpriced() != want {
			t.Errorf("%+v: unpriced is %v", u, !want)
		}
	}
}
