package blueprint

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"relay/epic"
)

// What a person may have meant by a line of which nothing is made is said with its line; what can only mean one thing is read.
func TestUnread(t *testing.T) {
	t.Parallel()
	plan, err := Parse("plan.md", []byte(strings.ReplaceAll(`---
title: From above
status: draft
---
# Search

## Notes

## Tasks

### Task 1

Build the index. It is kept in memory.

### Task 2

Serve it.
Depends on: Task 1

### 3. Document it (depends on T1 and T2)

Checks: 'make docs'
- Priority: p1
- Description: as it is

### Phase 2: later

### T4: Measure

This depends on T3, and on nothing else; T2 is blocked by T1.

~~~
Files: depends on T1
~~~

- depends on task 2.
- blocked by: none

## Validation Commands

~~~sh
# all of it
go build ./... && \
  go vet ./...
$ go test ./...
~~~

- 'make lint' passes
- [ ] 'make e2e'
- 'make lint' again
- look at 'main.go'

~~~go
func main() {}
~~~

~~~sh
for f in *; do
  echo $f
done
~~~

## Quality

**Checks:** 'make all'
and more
`, "'", "`")), day())
	if err != nil {
		t.Fatal(err)
	}
	var tasks, unused []string
	for _, task := range plan.Epic.Tasks {
		tasks = append(tasks, fmt.Sprintf("%s %s %v %s", task.ID, task.Title, task.DependsOn, strings.ReplaceAll(task.Description, "\n", "|")))
	}
	for _, u := range plan.Told {
		unused = append(unused, fmt.Sprintf("%d: %s", u.Line, u.Why))
	}
	if want := []string{
		"T1 Build the index [] Build the index. It is kept in memory.",
		"T2 Serve it [T1] Serve it.",
		"T3 Document it [T1 T2] Checks: `make docs`||- Priority: p1|- Description: as it is",
		"T4 Measure [T2] This depends on T3, and on nothing else; T2 is blocked by T1.||~~~|Files: depends on T1|~~~",
	}; !slices.Equal(tasks, want) {
		t.Errorf("tasks are\n%s\nwant\n%s", strings.Join(tasks, "\n"), strings.Join(want, "\n"))
	}
	if want := []string{
		`3: "status" of the front matter is not read`,
		`7: the section is empty`,
		"22: \"Checks:\" is part of the description of T3; with **Checks:** it is a field",
		"23: \"Priority:\" is part of the description of T3; with **Priority:** it is a field",
		`26: the heading "Phase 2: later" is not a task, and briefs leave it out`,
		"30: that T4 depends on T3 is said in a text, and not read; write **Depends on:** T3",
		"65: this is part of the epic's description; with nothing else in the paragraph, and the value in backticks, it is a field of the epic",
	}; !slices.Equal(unused, want) {
		t.Errorf("unused lines are\n%s\nwant\n%s", strings.Join(unused, "\n"), strings.Join(want, "\n"))
	}
	want := []Offered{{"plan.md", 43, "go build ./... && go vet ./..."}, {"plan.md", 45, "go test ./..."}, {"plan.md", 48, "make lint"}, {"plan.md", 49, "make e2e"}}
	if !slices.Equal(plan.Offered, want) {
		t.Errorf("offered are %+v, want %+v", plan.Offered, want)
	}
	if plan.Epic.Title != "Search" || len(plan.Epic.Checks) > 0 {
		t.Errorf("title %q, checks %+v", plan.Epic.Title, plan.Epic.Checks)
	}
}

// A title without words is still refused, and so is a reference to a task that is not there.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"## Tasks\n\n### Task 1\n\n### Task 2\n\nDo it.\n":    "task T1 has no title",
		"## Tasks\n\n### T1: a\n\nDepends on: T7\n":           "task T1 depends on T7, which does not exist",
		"## Tasks\n\n### T1: a (after T9)\n":                  "task T1 depends on T9, which does not exist",
		"## Tasks\n\n### T1: a\n\n- **Blocked by:** task 2\n": "task T1 depends on T2, which does not exist",
	} {
		_, err := Parse("plan.md", []byte(top+src), day())
		var problems epic.Problems
		if !errors.As(err, &problems) || len(problems) != 1 || problems[0].Message != want {
			t.Errorf("%q: %v, want %q", src, err, want)
		}
	}
}
