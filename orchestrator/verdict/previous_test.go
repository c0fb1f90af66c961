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

// A session that a person has answered is continued, also after attempts that were interrupted while they continued it, and not while a
// person holds the task, after a failure, or when another session began since.
func TestContinued(t *testing.T) {
	t.Parallel()
	asked := attempts.Attempt{ID: 1, Outcome: attempts.Asked, Session: "s1"}
	asked.Receipt.Questions = []string{"Which port?"}
	later := func(o attempts.Outcome, session string) []attempts.Attempt {
		return []attempts.Attempt{asked, {ID: 2, Outcome: o, Session: session}}
	}
	answers := []attempts.Answer{{Text: "8080", After: 1}}
	for name, c := range map[string]struct {
		rec  attempts.TaskRecord
		want bool
	}{
		"answered":         {attempts.TaskRecord{Attempts: []attempts.Attempt{asked}, Answers: answers}, true},
		"not answered":     {attempts.TaskRecord{Attempts: []attempts.Attempt{asked}}, false},
		"held":             {attempts.TaskRecord{Attempts: []attempts.Attempt{asked}, Answers: answers, Gate: &attempts.Gate{}}, false},
		"stopped":          {attempts.TaskRecord{Attempts: later(attempts.Stopped, "s1"), Answers: answers}, true},
		"stopped at once":  {attempts.TaskRecord{Attempts: later(attempts.Stopped, ""), Answers: answers}, true},
		"limited":          {attempts.TaskRecord{Attempts: later(attempts.Quota, "s1"), Answers: answers}, true},
		"another session":  {attempts.TaskRecord{Attempts: later(attempts.Stopped, "s2"), Answers: answers}, false},
		"failed":           {attempts.TaskRecord{Attempts: later(attempts.Check, "s1"), Answers: answers}, false},
		"reset by you    ": {attempts.TaskRecord{Attempts: []attempts.Attempt{asked}, Answers: answers, CountFrom: 1}, false},
	} {
		if got := Continued(c.rec); (got != nil) != c.want || got != nil && got.ID != 1 {
			t.Errorf("%s: it continues %v", name, got)
		}
	}
}
