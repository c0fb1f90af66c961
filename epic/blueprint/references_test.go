package blueprint

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// Tasks wait for what their plan calls other tasks, and tasks that the plan says are done are left out.
func TestReferences(t *testing.T) {
	t.Parallel()
	const text = `# Plan

## Tasks

### T1: Index ✅ DONE

### T2: Store (depends on T1)
**Depends on:** T1.

### feature/auth: Log in
**Depends on:** nothing (beside T2).

### T4: Serve
**Depends on:** T1–T2, feature/auth, RFC-0071 (accepted), Task 5

### T5: Measure ✅

### T6: Show
**Status:** Completed
- [ ] it shows

### T7: Ship
**Depends on:** Tasks 2-6 (all of them)
- [ ] shipped

### T8: Old
- [x] one
- [x] two

### Add status CANCELLED
- [ ] promoted

### Add more — SKIPPED
- [ ] more
`
	plan, err := Parse("plan.md", []byte(text), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, task := range plan.Epic.Tasks {
		got = append(got, task.ID+" "+task.Title+" < "+strings.Join(task.DependsOn, " "))
	}
	want := []string{"T2 Store < ", "T3 feature/auth: Log in < ", "T4 Serve < T2 T3", "T7 Ship < T2 T3 T4", "T9 Add status CANCELLED < "}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	told := func(line int, text string) bool {
		return slices.ContainsFunc(plan.Told, func(l Told) bool { return l.Line == line && strings.Contains(l.Why, text) })
	}
	if !told(14, "RFC-0071") || !told(33, "T10 is left out") || strings.Contains(plan.Epic.Description, "SKIPPED") || plan.Done != 4 {
		t.Errorf("%d are done, and %v is named", plan.Done, plan.Told)
	}
	for text, why := range map[string]string{
		"# Plan\n## Tasks\n### T1: A\n**Depends on:** T9\n":       "T1 depends on T9, which does not exist",
		"# Plan\n## Tasks\n### T1: A ✅\n### T2: B\n- [x] is it\n": "nothing is left to do in it: 2 items done",
	} {
		if _, err := Parse("plan.md", []byte(text), time.Time{}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%v, want %s", err, why)
		}
	}
}

// What waits for a task that is left out waits for what that one waits for.
func TestPassOver(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"### T0: A\n### T1: B ✅\nDepends on: T0\n### T2: C\n**Depends on:** T1\n":                                                  "T0< T2<T0",
		"### T0: A\n### T1: B ✅\n**Depends on:** T0, T9\n### T2: C ✅\n**Depends on:** T1, T3\n### T3: D\n**Depends on:** T2, T0\n": "T0< T3<T0",
		"### T1: B ✅\n**Depends on:** T2\n### T2: C ✅\n**Depends on:** T1\n### T3: D\n**Depends on:** T2\n":                        "T3<",
		"T4 -> T5 -> T6\n\nT4 -> T7\n\n### T4: A\n### T5: B ✅\n### T6: C\n### T7: D\n":                                             "T4< T6<T4 T7<T4",
	} {
		plan, err := Parse("plan.md", []byte("# Plan\n\n"+text), time.Time{})
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		got := ""
		for _, task := range plan.Epic.Tasks {
			got += " " + task.ID + "<" + strings.Join(task.DependsOn, ",")
		}
		if got != " "+want {
			t.Errorf("%q: got%s, want %s", text, got, want)
		}
	}
}
