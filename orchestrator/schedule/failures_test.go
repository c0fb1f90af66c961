package schedule

import (
	"fmt"
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic"
)

// plan returns the schedule of tasks T1 to Tn, of which the last depends on another if edges says so.
func plan(t *testing.T, n int, edges bool) *Schedule {
	t.Helper()
	var b strings.Builder
	b.WriteString("version: 2\nid: 20260101-rounds\ntitle: rounds\ntasks:\n")
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "  T%d: {title: t}\n", i)
	}
	if edges {
		b.WriteString("  Tz: {title: t, depends_on: [T1]}\n")
	}
	e, err := epic.Read("epic.yml", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	g, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	return New(e, g, &attempts.Ledger{}, nil)
}

// acted carries out steps, and returns the numbers of the tasks that started: "s" starts the next task, "c1" completes T1, "f1" fails it,
// "l1" fails it for want of something, and "r" has all that was set back ready again.
func acted(s *Schedule, steps string) (started string) {
	for step := range strings.FieldsSeq(steps) {
		i := 0
		if len(step) > 1 {
			i = int(step[1] - '1')
		}
		switch step[0] {
		case 's':
			next := -1
			if !s.Failures.IsFull(s.CountRunning()) {
				next = s.Next(func(int) bool { return true })
			}
			if next >= 0 {
				s.Start(next)
			}
			started += fmt.Sprint(next + 1)
		case 'c':
			s.Complete(i)
		case 'f', 'l':
			s.SetBack(i, step[0] == 'l')
		case 'r':
			s.RetryPostponed(false)
		}
	}
	return started
}

// A task that failed is tried again when something has landed, and after those that have failed less often.
func TestFailedTasksWait(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edges       bool
		steps, want string
	}{
		"alone, it waits for the others":               {false, "s f1 s c2 r s s s", "12341"},
		"nothing has landed":                           {true, "s f1 s f2 s f3 s s", "1234-"},
		"beside others, it goes on when one landed":    {false, "s s f2 c1 r s s", "1223"},
		"beside others, and the plan has dependencies": {true, "s s s f2 c1 r s s s", "123452"},
		"others depend on it":                          {true, "s f1 s c2 r s", "121"},
		"it lacks something: one at a time":            {false, "s s l2 s c1 r s s", "12020"},
		"it lacks something twice beside others":       {false, "s s l2 c1 r s c2 s", "1223"},
	} {
		s := plan(t, 4, c.edges)
		if got := strings.ReplaceAll(acted(s, c.steps), "0", "-"); got != strings.ReplaceAll(c.want, "0", "-") {
			t.Errorf("%s: started %s, want %s", name, got, c.want)
		}
	}
}

// After a failure for want of something one task runs at a time, until so many in a row were completed; each such failure doubles them.
func TestWidth(t *testing.T) {
	t.Parallel()
	var w width
	if w.completed(); w.most != 0 {
		t.Errorf("%d at once without a failure, want no limit", w.most)
	}
	for _, patience := range []int{8, 16, 32} {
		w.narrow()
		for range patience - 1 {
			w.completed()
		}
		if w.most != 1 {
			t.Errorf("%d at once before %d were completed, want one", w.most, patience)
		}
		if w.completed(); w.most != 2 {
			t.Errorf("%d at once after %d were completed, want two", w.most, patience)
		}
	}
}

// A failure is early where the plan has no dependencies and something else was at work, twice a task at most.
func TestEarly(t *testing.T) {
	t.Parallel()
	f := &plan(t, 4, false).Failures
	for n := range mostEarly {
		if !f.IsEarly(1, true) {
			t.Errorf("failure %d beside another is not early", n+1)
		}
		f.fail(1, true, true)
	}
	if f.IsEarly(1, true) || plan(t, 4, true).Failures.IsEarly(1, true) {
		t.Error("a third failure, or one in a plan with dependencies, is early")
	}
}

// Two tasks whose work conflicts in one file have the others run one at a time; conflicts in two files do not.
func TestConflictsNarrow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, second string
		edges, want   bool
	}{
		"the same file":                {"a.go", "a.go", false, true},
		"different files":              {"a.go", "b.go", false, false},
		"the plan's dependencies hold": {"a.go", "a.go", true, false},
	} {
		s := plan(t, 4, c.edges)
		s.AddContested(0, []string{c.first})
		s.AddContested(0, []string{c.first})
		if s.Failures.IsFull(1) {
			t.Errorf("%s: one task's conflicts have the others wait", name)
		}
		if s.AddContested(1, []string{c.second}); s.Failures.IsFull(1) != c.want {
			t.Errorf("%s: others wait: %t, want %t", name, !c.want, c.want)
		}
	}
}
