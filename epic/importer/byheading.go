package importer

import (
	"fmt"
	"slices"
	"strings"

	"relay/epic"
)

// ManyTasks is how many tasks a plan may have before one for each of its headings is better.
const ManyTasks = 40

// ByHeading makes one task of those below each heading of a plan; their titles are its criteria. It leaves headings alone below which a
// person has something to do. It reports false, and changes nothing, if no heading is left or tasks would wait for each other.
func ByHeading(p *Plan) bool {
	graph, err := epic.NewGraph(p.Epic)
	if err != nil {
		return false
	}
	e := *p.Epic
	e.Groups, e.Tasks = nil, nil
	into := map[string]string{} // the first task of the group of a task
	heading := map[string]string{}
	for _, g := range p.Epic.Groups {
		if slices.ContainsFunc(g.Tasks, func(id string) bool { t, ok := p.Epic.Task(id); return ok && t.Kind == epic.KindPerson }) {
			continue
		}
		for _, id := range g.Tasks {
			into[id], heading[g.Tasks[0]] = g.Tasks[0], g.Name
		}
	}
	for i, t := range p.Epic.Tasks {
		var after []string
		for _, d := range graph.Deps(i) {
			on := graph.ID(d)
			if first := into[on]; first != "" {
				on = first
			}
			if on != t.ID && on != into[t.ID] && !slices.Contains(after, on) {
				after = append(after, on)
			}
		}
		first, grouped := into[t.ID]
		t.DependsOn = after
		switch title := t.Title; {
		case grouped && first == t.ID:
			place, _, _ := strings.Cut(t.Source, " (")
			t.Title, t.Source, t.Kind = heading[t.ID], fmt.Sprintf("%s (%s)", place, heading[t.ID]), epic.KindFeature
			t.Criteria = append([]epic.Criterion{{Text: title}}, t.Criteria...)
			e.Tasks = append(e.Tasks, t)
		case grouped:
			whole, _ := e.Task(first)
			whole.Description += "\n\n" + title + ":\n\n" + t.Description
			whole.Criteria = append(append(whole.Criteria, epic.Criterion{Text: title}), t.Criteria...)
			for _, name := range t.Files {
				if !slices.Contains(whole.Files, name) {
					whole.Files = append(whole.Files, name)
				}
			}
			for _, on := range after {
				if !slices.Contains(whole.DependsOn, on) {
					whole.DependsOn = append(whole.DependsOn, on)
				}
			}
		default:
			e.Tasks = append(e.Tasks, t)
		}
	}
	if _, err := epic.NewGraph(&e); err != nil || len(heading) == 0 {
		return false
	}
	p.Epic = &e
	return true
}
