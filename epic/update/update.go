// Package update brings an epic up to date with the plan that it was made of, after that was edited.
//
// Three epics come in: the one that was made of the plan before, the one that there is now, which people may have edited, and the one
// that the plan makes today. Tasks keep the ids that they have, so that what is known of them stays theirs.
package update

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"relay/epic"
	"relay/epic/each"
)

// Input is what an update is made of.
type Input struct {
	Made  *epic.Epic             // of the plan before; Keep has made it
	Have  *epic.Epic             // epic.yml
	Plan  *epic.Epic             // the plan as it is
	Taken func(task string) bool // whether a task has or had an id, besides those of the epics
	Tried func(task string) bool // whether something is known of what was done for a task
	Gated func(task string) bool // whether a task waits for a person
}

// Result is an epic that is up to date. It has not been validated.
type Result struct {
	Epic    *epic.Epic
	Made    *epic.Epic // that the next update is made of
	Added   []Task
	Changed []Task
	Removed []Task // nothing was done for them, or they are gated
	Kept    []Task // that the plan has no more, and that stay
	Whole   []string

	// Fields of tasks and of the epic that stay although the plan no longer gives them.
	Left      []Task
	LeftWhole []string
}

// Task is a task in which an epic and its plan differ.
type Task struct {
	ID     string   `json:"id"`
	Title  string   `json:"title"` // of a changed task, before
	Now    string   `json:"new_title,omitempty"`
	InPlan string   `json:"in_plan,omitempty"` // its id there, where that is another
	Fields []string `json:"fields,omitempty"`  // that were changed
	Over   []string `json:"over,omitempty"`    // of these, the ones that had been edited in epic.yml too
}

// merge is an update in the making.
type merge struct {
	in    Input
	given *epic.Epic // what the plan made before, without what came from elsewhere
	out   Result

	ids  map[string]string // of the plan's tasks, by the ids that they have there
	made map[string]*epic.Task
}

// Merge makes the update.
func Merge(in Input) *Result {
	given := in.Made
	in.Made = adopted(in)
	m := &merge{in: in, given: given, ids: match(in.Made, in.Plan), made: map[string]*epic.Task{}}
	for i := range in.Made.Tasks {
		m.made[in.Made.Tasks[i].ID] = &in.Made.Tasks[i]
	}
	m.name()
	now := m.mapped()
	e := *in.Have
	e.Tasks = m.there(now)
	m.out.Whole, m.out.LeftWhole = mergeWhole(in.Made, &e, now)
	m.add(&e, now)
	m.out.Epic = &e
	m.out.Made = now
	for i := range now.Tasks {
		now.Tasks[i].Source = "(" + origin(&in.Plan.Tasks[i]) + ")"
	}
	return &m.out
}

// adopted returns what was made of the plan, with the tasks of epic.yml that came from elsewhere and are in the plan by now. Of an update
// that was killed this is what it had added.
func adopted(in Input) *epic.Epic {
	made := *in.Made
	made.Tasks = slices.Clone(made.Tasks)
	titled := func(e *epic.Epic, title string) bool {
		return slices.ContainsFunc(e.Tasks, func(t epic.Task) bool { return t.Title == title })
	}
	for i := range in.Have.Tasks {
		t := in.Have.Tasks[i]
		if _, known := in.Made.Task(t.ID); !known && titled(in.Plan, t.Title) && !titled(in.Made, t.Title) {
			made.Tasks = append(made.Tasks, t)
		}
	}
	return &made
}

// name gives ids to the tasks that are new: their own, or others that are free.
func (m *merge) name() {
	taken := map[string]bool{}
	for _, e := range []*epic.Epic{m.in.Made, m.in.Have} {
		for i := range e.Tasks {
			taken[strings.ToLower(e.Tasks[i].ID)] = true
		}
	}
	has := func(id string) bool { return taken[strings.ToLower(id)] || m.in.Taken(id) }
	give := func(there, here string) { m.ids[there], taken[strings.ToLower(here)] = here, true }
	for _, own := range []bool{true, false} { // the ids that can stay first
		for i := range m.in.Plan.Tasks {
			id := m.in.Plan.Tasks[i].ID
			switch {
			case m.ids[id] != "":
			case !own:
				give(id, freeID(id, has))
			case !has(id):
				give(id, id)
			}
		}
	}
}

// freeID returns an id in the manner of another, with a number that is greater and as many digits: T5 after T2, T006 after T003.
func freeID(id string, has func(string) bool) string {
	stem := strings.TrimRight(id, "0123456789")
	digits := len(id) - len(stem)
	n, _ := strconv.Atoi(id[len(stem):]) // none: 0
	if digits == 0 {
		stem += "-"
	}
	for n = max(n, 1) + 1; ; n++ {
		end := fmt.Sprintf("%0*d", digits, n)
		free := stem[:min(len(stem), 32-len(end))] + end
		if !has(free) {
			return free
		}
	}
}

// mapped returns the epic of the plan with the ids that its tasks have here.
func (m *merge) mapped() *epic.Epic {
	now := *m.in.Plan
	now.Tasks = slices.Clone(now.Tasks)
	for i := range now.Tasks {
		t := &now.Tasks[i]
		t.ID, t.DependsOn = m.ids[t.ID], m.all(t.DependsOn)
	}
	now.Groups = slices.Clone(now.Groups)
	for i := range now.Groups {
		now.Groups[i].Tasks = m.all(now.Groups[i].Tasks)
	}
	return &now
}

func (m *merge) all(ids []string) []string {
	return each.Of(ids, func(id string) string { return cmp.Or(m.ids[id], id) })
}

// there returns the tasks of epic.yml that stay, as the plan wants them.
func (m *merge) there(now *epic.Epic) (stay []epic.Task) {
	for i := range m.in.Have.Tasks {
		t := m.in.Have.Tasks[i]
		was := m.made[t.ID]
		if was == nil { // a person, or an agent, has added it
			stay = append(stay, t)
			continue
		}
		want, ok := now.Task(t.ID)
		if !ok {
			told := Task{ID: t.ID, Title: t.Title}
			if m.in.Tried(t.ID) && !m.in.Gated(t.ID) || edited(was, &t) {
				t.Source = "" // another task may stand there
				m.out.Kept, stay = append(m.out.Kept, told), append(stay, t)
			} else {
				m.out.Removed = append(m.out.Removed, told)
			}
			continue
		}
		before := t.Title
		fields, over, left := mergeTask(was, &t, want)
		if _, given := m.given.Task(t.ID); given && len(left) > 0 {
			m.out.Left = append(m.out.Left, Task{ID: t.ID, Title: t.Title, InPlan: m.inPlan(t.ID), Fields: left})
		}
		if len(fields) > 0 {
			told := Task{ID: t.ID, Title: before, InPlan: m.inPlan(t.ID), Fields: fields, Over: over}
			if t.Title != before {
				told.Now = t.Title
			}
			m.out.Changed = append(m.out.Changed, told)
		}
		stay = append(stay, t)
	}
	return stay
}

// inPlan returns the id of a task in the plan, where that is another.
func (m *merge) inPlan(id string) string {
	for there, here := range m.ids {
		if here == id && there != id {
			return there
		}
	}
	return ""
}

// add puts the tasks that are new behind those that the plan has them behind, and drops dependencies on what is not there: of the plan's
// tasks a person may have taken some out of epic.yml.
func (m *merge) add(e *epic.Epic, now *epic.Epic) {
	last := ""
	for i := range now.Tasks {
		t := now.Tasks[i]
		if m.made[t.ID] == nil {
			at := slices.IndexFunc(e.Tasks, func(o epic.Task) bool { return o.ID == last }) + 1
			e.Tasks = slices.Insert(e.Tasks, at, t)
			m.out.Added = append(m.out.Added, Task{ID: t.ID, Title: t.Title, InPlan: m.inPlan(t.ID)})
		}
		if _, ok := e.Task(t.ID); ok {
			last = t.ID
		}
	}
	gone := func(id string) bool {
		_, here := e.Task(id)
		_, planned := now.Task(id)
		_, made := m.made[id]
		return !here && (planned || made)
	}
	for i := range e.Tasks {
		e.Tasks[i].DependsOn = slices.DeleteFunc(slices.Clone(e.Tasks[i].DependsOn), gone)
	}
	e.Groups = slices.Clone(e.Groups)
	for i := range e.Groups {
		e.Groups[i].Tasks = slices.DeleteFunc(slices.Clone(e.Groups[i].Tasks), gone)
	}
}
