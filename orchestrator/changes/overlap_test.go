package changes

import (
	"slices"
	"testing"

	"relay/epic"
)

// A change of a file that another task declares is told, unless the tasks build on each other.
func TestOutOfScope(t *testing.T) {
	t.Parallel()
	e, err := epic.Read("epic.yml", []byte(`version: 2
id: 20260101-scope
title: Scope
tasks:
  T1: {title: t, files: ["api/**"]}
  T2: {title: t, files: [ui.go], depends_on: [T1]}
  T3: {title: t, files: [doc.md]}
  T4: {title: t}
`))
	if err != nil {
		t.Fatal(err)
	}
	g, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		task        string
		files       []string
		want, tasks []string
	}{
		{"T3", []string{"doc.md", "api/x.go", "ui.go", "new.go"}, []string{"api/x.go", "ui.go"}, []string{"T1", "T2"}},
		{"T2", []string{"ui.go", "api/x.go"}, nil, nil},
		{"T1", []string{"ui.go", "doc.md"}, []string{"doc.md"}, []string{"T3"}},
		{"T4", []string{"doc.md"}, nil, nil},
	} {
		task, _ := e.Task(c.task)
		got := OutOfScope(e, g, OfTask{task, c.files})
		if !slices.Equal(got.Files, c.want) || !slices.Equal(got.Tasks, c.tasks) {
			t.Errorf("%s: got %q of %q, want %q of %q", c.task, got.Files, got.Tasks, c.want, c.tasks)
		}
	}
	got := OutOfScope(e, g, OfTask{&e.Tasks[2], []string{"api/x.go", "ui.go"}}).Foreign()
	if want := " changed api/x.go, ui.go without declaring it, and it belongs to T1, T2: look whether the change does too"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
