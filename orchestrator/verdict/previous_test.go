package verdict

import (
	"testing"

	"relay/attempts"
)

func TestPrevious(t *testing.T) {
	t.Parallel()
	end := func(id int, o attempts.Outcome, head string) attempts.Attempt {
		a := attempts.Attempt{ID: id, Outcome: o, Charged: o.Charged(), Head: head}
		if head != "" {
			a.Receipt.Salvage = "refs/relay/x"
		}
		return a
	}
	for name, c := range map[string]struct {
		past []attempts.Attempt
		from int
		want int
	}{
		"none":                  {},
		"a limit":               {past: []attempts.Attempt{end(1, attempts.Quota, "a")}, want: 1},
		"stopped":               {past: []attempts.Attempt{end(1, attempts.Stopped, "a")}, want: 1},
		"no work":               {past: []attempts.Attempt{end(1, attempts.Quota, "")}},
		"a limit, then a fault": {past: []attempts.Attempt{end(1, attempts.Quota, "a"), end(2, attempts.Provider, "")}, want: 1},
		"the last of two":       {past: []attempts.Attempt{end(1, attempts.Quota, "a"), end(2, attempts.Provider, "b")}, want: 2},
		"a failure":             {past: []attempts.Attempt{end(1, attempts.Agent, "a")}},
		"a failure in between":  {past: []attempts.Attempt{end(1, attempts.Quota, "a"), end(2, attempts.Check, "b"), end(3, attempts.Provider, "")}},
		"a conflict":            {past: []attempts.Attempt{end(1, attempts.Conflict, "a")}},
		"set back since":        {past: []attempts.Attempt{end(1, attempts.Quota, "a")}, from: 1},
	} {
		got, ok := Previous(attempts.TaskRecord{Attempts: c.past, CountFrom: c.from})
		if ok != (c.want > 0) || ok && got.ID != c.want {
			t.Errorf("%s: got attempt %d, %v; want %d", name, got.ID, ok, c.want)
		}
	}
}
