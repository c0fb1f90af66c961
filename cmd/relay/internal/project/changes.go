package project

import (
	"reflect"
	"strings"

	"relay/cmd/relay/internal/terminal"
	"relay/epic"
	"relay/orchestrator/text"
)

// PlanChanges are the tasks in which two plans differ.
type PlanChanges struct {
	Added   []string `json:"added"`
	Changed []string `json:"changed"`
	Removed []string `json:"removed"`
}

// String names the tasks in words; "" when there are none.
func (c PlanChanges) String() string {
	var parts []string
	for _, part := range []struct {
		ids       []string
		one, many string
	}{{c.Added, "is new", "are new"}, {c.Changed, "has changed", "have changed"}, {c.Removed, "is gone", "are gone"}} {
		if len(part.ids) > 0 {
			parts = append(parts, text.Some(part.ids, 5)+" "+terminal.Verb(len(part.ids), part.one, part.many))
		}
	}
	return strings.Join(parts, "; ")
}

// ComparePlans returns the tasks in which after differs from before; none when before is nil, for a plan that could not be read.
func ComparePlans(before, after *Plan) PlanChanges {
	c := PlanChanges{Added: []string{}, Changed: []string{}, Removed: []string{}}
	if before == nil {
		return c
	}
	for i := range after.Epic.Tasks {
		now := after.Epic.Tasks[i]
		was, ok := before.Epic.Task(now.ID)
		switch {
		case !ok:
			c.Added = append(c.Added, now.ID)
		case !sameTask(*was, now):
			c.Changed = append(c.Changed, now.ID)
		}
	}
	for i := range before.Epic.Tasks {
		if id := before.Epic.Tasks[i].ID; !after.Has(id) {
			c.Removed = append(c.Removed, id)
		}
	}
	return c
}

func sameTask(a, b epic.Task) bool {
	a.Line, b.Line = 0, 0
	return reflect.DeepEqual(a, b)
}
