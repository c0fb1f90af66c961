package epic

import (
	"errors"
	"strings"
	"testing"
	"time"
)

var added = []Task{{ID: "R1", Title: "Empty the cache", Description: "It is: never emptied # really\n\nSee a.go", Kind: KindBugfix, Priority: 1, Files: []string{"a.go"}, Criteria: []Criterion{{Text: "- no"}}}, {ID: "R2", Title: "A", Kind: KindBugfix, Priority: 0}}

const addedText = `  R1:
    title: Empty the cache
    description: |-
      It is: never emptied # really

      See a.go
    kind: bugfix
    priority: p1
    files:
      - a.go
    acceptance_criteria:
      - '- no'
  R2:
    title: A
    kind: bugfix
    priority: p0
`

func TestAppend(t *testing.T) {
	t.Parallel()
	const head = "# mine\nversion: 2\nid: 20260101-x\ntitle: X   # so\n"
	indented := "    " + strings.ReplaceAll(strings.TrimSuffix(addedText, "\n"), "\n", "\n  ") + "\n"
	indented = strings.ReplaceAll(indented[2:], "\n  \n", "\n\n")
	for name, test := range map[string]struct{ src, want string }{
		"the end":                    {head + "tasks:\n  T1: {title: A}\n", head + "tasks:\n  T1: {title: A}\n" + addedText},
		"without a newline":          {head + "tasks:\n  T1: {title: A}", head + "tasks:\n  T1: {title: A}\n" + addedText},
		"comments behind":            {head + "tasks:\n  T1:\n    title: A\n    # of T1\n\n# the end\n", head + "tasks:\n  T1:\n    title: A\n    # of T1\n" + addedText + "\n# the end\n"},
		"a key behind":               {"tasks:\n  T1: {title: A}\n\n# what it is\n" + head, "tasks:\n  T1: {title: A}\n" + addedText + "\n# what it is\n" + head},
		"deeper":                     {head + "tasks:\n    T1: {title: A}\n", head + "tasks:\n    T1: {title: A}\n" + indented},
		"lines as Windows ends them": {strings.ReplaceAll(head+"tasks:\n  T1: {title: A}\n# end\n", "\n", "\r\n"), strings.ReplaceAll(head+"tasks:\n  T1: {title: A}\n"+addedText+"# end\n", "\n", "\r\n")},
		"a document's end":           {head + "tasks:\n  T1: {title: A}\n...\n", head + "tasks:\n  T1: {title: A}\n" + addedText + "...\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Append("epic.yml", []byte(test.src), added)
			if err != nil || string(got) != test.want {
				t.Errorf("got %v and\n%s\nwant\n%s", err, got, test.want)
			}
		})
	}
}

func TestAppendFindsNoPlace(t *testing.T) {
	t.Parallel()
	const head = "version: 2\nid: 20260101-x\ntitle: X\n"
	for _, src := range []string{head + "tasks: {T1: {title: A}}\n", head + "tasks:\n  T1:\n    title: A\n    description: |+\n      a\n\n\n"} {
		if _, err := Append("epic.yml", []byte(src), added); !errors.Is(err, errPlace) {
			t.Errorf("got %v, want %v", err, errPlace)
		}
	}
}

func TestAppendRefuses(t *testing.T) {
	t.Parallel()
	const src = "version: 2\nid: 20260101-x\ntitle: X\ntasks:\n  T1: {title: A}\n"
	for name, test := range map[string]struct {
		src  string
		more []Task
		want string
	}{
		"an invalid epic":    {"version: 2\n", added, "id is missing"},
		"a task that is bad": {src, []Task{{ID: "R1", Title: "x", Kind: KindBugfix, Files: []string{"../x"}}}, "leaves the repository"},
		"a name twice":       {src, []Task{{ID: "T1", Title: "x", Kind: KindBugfix}}, "T1"},
		"an alias":           {"version: 2\nid: 20260101-x\ntitle: X\ntasks: {}\n", nil, "no tasks"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Append("epic.yml", []byte(test.src), test.more)
			var problems Problems
			if !errors.As(err, &problems) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %q and %v, want problems with %q", got, err, test.want)
			}
		})
	}
}

// Whatever a valid epic looks like, it has all its tasks afterwards, and the new ones.
func FuzzAppend(f *testing.F) {
	f.Add("version: 2\nid: 20260101-x\ntitle: X\ntasks:\n  T1: {title: A}\n# end", "Do it", "why: # not\n\n- so\t")
	f.Add("tasks:\n T1:\n  title: |+\n   A\n\n\nid: x\ntitle: X\nversion: 2\n", "a", "")
	f.Add("{id: x, title: X, tasks: {T1: {title: A}}}", "\"", "---")
	f.Fuzz(func(t *testing.T, src, title, description string) {
		old, err := Read("", []byte(src))
		if err != nil {
			return
		}
		more := []Task{{ID: "Fresh-1", Title: title, Description: description, Kind: KindBugfix, Priority: 1, Timeout: time.Minute}}
		out, err := Append("", []byte(src), more)
		if err != nil {
			return
		}
		now, err := Read("", out)
		if err != nil || !grown(old, now, 1) {
			t.Fatalf("%v\n%q\n%q", err, src, out)
		}
	})
}
