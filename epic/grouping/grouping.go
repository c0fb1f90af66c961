// Package grouping makes few tasks of a plan with many small ones.
package grouping

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"relay/epic"
	"relay/epic/blueprint"
	"relay/epic/each"
)

// ManyTasks is how many tasks a plan may have before one for each of its headings is better.
const ManyTasks = 40

// ByHeading makes one task of those below each heading of a plan; their titles are its criteria. It leaves headings alone below which a
// person has something to do. It reports false, and changes nothing, if no heading is left or tasks would wait for each other.
func ByHeading(p *blueprint.Plan) bool {
	graph, err := epic.NewGraph(p.Epic)
	if err != nil {
		return false
	}
	e := *p.Epic
	e.Groups, e.Tasks = nil, nil
	person := func(id string) bool {
		i, _ := graph.Index(id)
		return p.Epic.Tasks[i].Kind == epic.KindPerson
	}
	at, into := map[string]int{}, map[string]string{} // the first task of the group of a task, and where it is
	heading := map[string]string{}
	for _, g := range p.Epic.Groups {
		if slices.ContainsFunc(g.Tasks, person) {
			continue
		}
		for _, id := range g.Tasks {
			into[id], heading[g.Tasks[0]] = g.Tasks[0], g.Name
		}
	}
	texts := map[string][]string{} // of the tasks of a group but the first
	for i, t := range p.Epic.Tasks {
		first, grouped := into[t.ID]
		t.DependsOn = nil
		for _, d := range graph.Deps(i) {
			if on := cmp.Or(into[graph.ID(d)], graph.ID(d)); on != t.ID && on != first {
				t.DependsOn = each.Added(t.DependsOn, on)
			}
		}
		title := epic.Criterion{Text: t.Title}
		switch {
		case !grouped:
			e.Tasks = append(e.Tasks, t)
		case first == t.ID:
			place, _, _ := strings.Cut(t.Source, " (")
			t.Title, t.Source, t.Kind = heading[t.ID], fmt.Sprintf("%s (%s)", place, heading[t.ID]), epic.KindFeature
			t.Criteria = append([]epic.Criterion{title}, t.Criteria...)
			at[first], e.Tasks = len(e.Tasks), append(e.Tasks, t)
		default:
			whole := &e.Tasks[at[first]]
			texts[first] = append(texts[first], strings.TrimSpace(t.Title+":\n\n"+t.Description))
			whole.Criteria = append(append(whole.Criteria, title), t.Criteria...)
			whole.Files, whole.DependsOn = each.Added(whole.Files, t.Files...), each.Added(whole.DependsOn, t.DependsOn...)
		}
	}
	for first, list := range texts {
		e.Tasks[at[first]].Description += "\n\n" + strings.Join(list, "\n\n")
	}
	if _, err := epic.NewGraph(&e); err != nil || len(heading) == 0 {
		return false
	}
	p.Epic = &e
	return true
}
