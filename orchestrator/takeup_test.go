package orchestrator

import (
	"testing"

	"relay/attempts"
)

func TestUnfinished(t *testing.T) {
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
		got, ok := unfinished(attempts.TaskRecord{Attempts: c.past, CountFrom: c.from})
		if ok != (c.want > 0) || ok && got.ID != c.want {
			t.Errorf("%s: got attempt %d, %v; want %d", name, got.ID, ok, c.want)
		}
	}
}

// Work is put back only onto the commit it was made on, and over nothing that anybody else has there.
func TestWorkIsTakenUpWhereNothingIsInItsWay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(*lab)
		want   bool
	}{
		"as it was":              {before: func(*lab) {}, want: true},
		"the branch moved":       {before: func(l *lab) { l.Write("other.txt", "x\n"); l.Git("add", "-A"); l.Git("commit", "-q", "-m", "Other") }},
		"a file of a person's":   {before: func(l *lab) { l.Write("made.txt", "mine\n") }},
		"a change of a person's": {before: func(l *lab) { l.Write("seed.txt", "mine\n") }},
	} {
		l := newLab(t, "true").begin()
		base := l.Git("rev-parse", "HEAD")
		l.Write("made.txt", "made\n")
		l.Write("seed.txt", "grown\n")
		l.Git("add", "-A")
		l.Git("commit", "-q", "-m", "Work")
		work := l.Git("rev-parse", "HEAD")
		l.Git("reset", "-q", "--hard", base)
		c.before(l)
		head, before := l.Git("rev-parse", "HEAD"), l.Git("status", "--porcelain")
		done, err := l.c.tree.TakeUp(t.Context(), head, work)
		if err != nil || done != c.want {
			t.Errorf("%s: got %v (%v), want %v", name, done, err, c.want)
		}
		if now := l.Git("rev-parse", "HEAD"); now != head {
			t.Errorf("%s: the branch is at %s, not at %s", name, now, head)
		}
		if status := l.Git("status", "--porcelain"); done != (status != before) || done && status != "A  made.txt\nM  seed.txt" {
			t.Errorf("%s: git status says\n%s\nand before\n%s", name, status, before)
		}
		if done, err := l.c.tree.TakeUp(t.Context(), head, "0123456789012345678901234567890123456789"); err != nil || done {
			t.Errorf("%s: a commit that is gone was taken up: %v", name, err)
		}
	}
}
