package importer

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"relay/epic"
	"relay/epic/blueprint"
)

// meaning is what the author of a plan meant, as its key.yml says.
type meaning struct {
	Form    string
	Plan    string // file or folder
	Done    int
	Tasks   []meantTask
	Offered []string // commands that may be checks
	Told    []int    // lines of the plan that have to be named
}

type meantTask struct {
	ID, Title string
	After     string // ids, or numbers of tasks from 1 where they have none
	Files     []string
	Checks    []string
	Criteria  int // 0: any number
	Priority  int // 0: any
	Kind      string
	Person    bool
	Brief     string // a part of its description
}

// score counts what is right of what was meant.
type score struct {
	Tasks, Order, Files, Other, Lines part
	False                             int // tasks that no author meant
}

type part struct{ right, of int }

func (p *part) add(right bool) {
	p.of++
	if right {
		p.right++
	}
}

func (p part) String() string {
	if p.of == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d", p.right, p.of)
}

func (s score) String() string {
	return fmt.Sprintf("tasks %v, order %v, files %v, other %v, lines %v, false %d", s.Tasks, s.Order, s.Files, s.Other, s.Lines, s.False)
}

func (s *score) join(o score) {
	for to, from := range map[*part]part{&s.Tasks: o.Tasks, &s.Order: o.Order, &s.Files: o.Files, &s.Other: o.Other, &s.Lines: o.Lines} {
		to.right, to.of = to.right+from.right, to.of+from.of
	}
	s.False += o.False
}

// TestMeaning compares what is made of plans with what their authors meant, and prints a row for each form. Order counts pairs of tasks of
// which one waits for the other, in the plan or in the epic; other counts kinds, priorities, criteria, checks and what is done.
func TestMeaning(t *testing.T) {
	t.Parallel()
	keys, _ := filepath.Glob("testdata/meant/*/key.yml")
	if *further != "" {
		keys, _ = filepath.Glob(filepath.Join(*further, "*", "key.yml"))
	}
	rows := map[string]score{}
	for _, name := range keys {
		data, err := os.ReadFile(filepath.Clean(name))
		if err != nil {
			t.Fatal(err)
		}
		var want meaning
		if err := yaml.Unmarshal(data, &want); err != nil {
			t.Fatal(name, err)
		}
		row := rows[want.Form]
		row.join(want.compare(t, os.DirFS(filepath.Dir(name))))
		rows[want.Form] = row
	}
	var table strings.Builder
	for _, form := range []string{"speckit", "openspec", "bmad", "gsd", "planmode", "checklist", "blueprint", "kiro", "ralph", "beads"} {
		fmt.Fprintf(&table, "%s: %v\n", form, rows[form])
	}
	const results = "testdata/meant/results"
	if *further != "" {
		t.Log("\n" + table.String())
		return
	}
	if *update {
		if err := os.WriteFile(results, []byte(table.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wanted, err := os.ReadFile(results)
	if err != nil || string(wanted) != table.String() {
		t.Errorf("got\n%s\nwant\n%s", table.String(), wanted)
	}
}

// planAt reads a plan as relay init does.
func planAt(files fs.FS, name string) (*Plan, error) {
	if found := Find(files, name); len(found) > 0 {
		return found[0].Read("", now())
	}
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}
	return blueprint.Parse(name, data, now())
}

func (m *meaning) compare(t *testing.T, files fs.FS) (s score) {
	t.Helper()
	plan, err := planAt(files, m.Plan)
	if err != nil {
		t.Logf("%s: %v", m.Plan, err)
		plan = &Plan{Epic: &epic.Epic{}}
	}
	miss := func(ok bool, format string, args ...any) bool {
		if !ok {
			t.Logf("%s: "+format, append([]any{m.Plan}, args...)...)
		}
		return ok
	}
	found := map[string]int{} // a task of the epic by its title
	for i := range plan.Epic.Tasks {
		found[plan.Epic.Tasks[i].Title] = i
	}
	waits := closure(plan.Epic)
	meant := m.order()
	for i := range m.Tasks {
		want := &m.Tasks[i]
		at, ok := found[want.Title]
		s.Tasks.add(miss(ok, "there is no %q", want.Title))
		if !ok {
			s.Order.of += len(meant[i])
			s.Files.of += len(want.Files)
			continue
		}
		for k := range m.Tasks {
			on, known := found[m.Tasks[k].Title]
			if got := known && waits[at][on]; got || meant[i][k] {
				s.Order.add(miss(got == meant[i][k], "that %q waits for %q is %v", want.Title, m.Tasks[k].Title, got))
			}
		}
		m.fields(&s, miss, want, &plan.Epic.Tasks[at])
	}
	for title := range found {
		if !slices.ContainsFunc(m.Tasks, func(want meantTask) bool { return want.Title == title }) {
			s.False++
			miss(false, "nobody meant %q", title)
		}
	}
	s.Other.add(miss(plan.Done == m.Done, "%d are done, want %d", plan.Done, m.Done))
	for _, run := range m.Offered {
		s.Other.add(miss(slices.ContainsFunc(plan.Offered, func(o Offered) bool { return o.Run == run }), "%s is not offered", run))
	}
	for _, line := range m.Told {
		s.Lines.add(miss(slices.ContainsFunc(plan.Told, func(l Told) bool { return l.Line == line }), "line %d is not named", line))
	}
	return s
}

// fields compares what a task has.
func (m *meaning) fields(s *score, miss func(bool, string, ...any) bool, want *meantTask, got *epic.Task) {
	for _, file := range want.Files {
		s.Files.add(miss(slices.Contains(got.Files, file), "%q lacks the file %s: %q", want.Title, file, got.Files))
	}
	for _, file := range got.Files {
		if !slices.Contains(want.Files, file) {
			s.Files.add(miss(false, "%q has the file %s", want.Title, file))
		}
	}
	kind := want.Kind
	if want.Person {
		kind = "person"
	}
	if kind != "" || got.Kind == "person" {
		s.Other.add(miss(string(got.Kind) == kind, "%q is of the kind %s, not %s", want.Title, got.Kind, kind))
	}
	if want.Criteria > 0 {
		s.Other.add(miss(len(got.Criteria) == want.Criteria, "%q has %d criteria, not %d", want.Title, len(got.Criteria), want.Criteria))
	}
	if want.Priority > 0 {
		s.Other.add(miss(got.Priority == want.Priority, "%q has the priority %d, not %d", want.Title, got.Priority, want.Priority))
	}
	if want.Brief != "" {
		s.Other.add(miss(strings.Contains(got.Description, want.Brief), "%q lacks %q in its description", want.Title, want.Brief))
	}
	for _, run := range want.Checks {
		s.Other.add(miss(slices.ContainsFunc(got.Checks, func(c epic.Check) bool { return c.Run == run }), "%q lacks the check %s", want.Title, run))
	}
}

// order returns for each task all that it waits for.
func (m *meaning) order() []map[int]bool {
	at := map[string]int{}
	list := make([]map[int]bool, len(m.Tasks))
	for i := range m.Tasks {
		at[m.Tasks[i].ID], at[fmt.Sprint(i+1)] = i, i
		list[i] = map[int]bool{}
	}
	for i := range m.Tasks {
		if id := m.Tasks[i].ID; id != "" {
			at[id] = i
		}
	}
	for i := range m.Tasks {
		on := []string{}
		if after := strings.TrimSpace(m.Tasks[i].After); after != "" {
			on = strings.Fields(strings.ReplaceAll(after, "Phase ", "Phase_"))
		}
		for _, id := range on {
			k := at[strings.ReplaceAll(id, "_", " ")]
			list[i][k] = true
			for further := range list[k] {
				list[i][further] = true
			}
		}
	}
	return list
}

// closure returns for each task of an epic all that it waits for.
func closure(e *epic.Epic) []map[int]bool {
	list := make([]map[int]bool, len(e.Tasks))
	g, err := epic.NewGraph(e)
	if err != nil {
		return list
	}
	for _, i := range g.Order() {
		list[i] = map[int]bool{}
		for _, d := range g.Deps(i) {
			list[i][d] = true
			for further := range list[d] {
				list[i][further] = true
			}
		}
	}
	return list
}
