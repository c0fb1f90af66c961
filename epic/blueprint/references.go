package blueprint

import (
	"maps"
	"slices"
	"strings"

	"relay/epic"
	"relay/epic/blueprint/names"
	"relay/epic/each"
)

// settleReferences puts the ids of tasks in the place of what the plan calls them, and leaves out tasks that are done. It reports names
// that are not like those of tasks; validation reports the others.
func settleReferences(p *parser) {
	ids := each.Of(p.drafts, func(d *draft) string { return d.task.ID })
	p.known, p.gone = names.Of(ids, each.Of(p.drafts, func(d *draft) string { return d.task.Title })), map[string]bool{}
	known, done := p.known, p.gone
	ids = slices.Sorted(maps.Values(known.IDs))
	for _, d := range p.drafts {
		if done[d.task.ID] = d.done() || IsDeferred(d.task.Title); done[d.task.ID] && !d.done() {
			p.skip(d.task.Line, "%s is left out, as its title says", d.task.ID)
		}
	}
	tasks := map[string]*draft{}
	for _, d := range p.drafts {
		d.settle(p, known, ids)
		tasks[d.task.ID] = d
	}
	for _, pair := range known.Drawn(p.lines) {
		b, d := tasks[pair[0]], tasks[pair[1]]
		if d != nil && b != nil && b.whole.Line < d.whole.Line && !d.given["depends on"] && !slices.Contains(d.task.DependsOn, pair[0]) {
			d.task.DependsOn = append(d.task.DependsOn, pair[0])
		}
	}
	p.drafts = slices.DeleteFunc(p.drafts, func(d *draft) bool {
		if done[d.task.ID] && (d.done() || !IsDeferred(d.task.Title)) {
			p.done = append(p.done, "- "+d.task.Title)
		}
		return done[d.task.ID]
	})
	p.drafts = each.Of(p.drafts, func(d *draft) *draft { return d.passOver(done, tasks) })
}

// passOver has a task wait for what tasks that are left out wait for, in their place.
func (d *draft) passOver(gone map[string]bool, tasks map[string]*draft) *draft {
	var list []string
	var at []epic.Place
	reached := slices.Clone(d.task.DependsOn) // it grows
	for k, n := 0, len(reached); k < len(reached); k++ {
		id := reached[k]
		if gone[id] && tasks[id] != nil && !slices.Contains(reached[:k], id) {
			reached = append(reached, tasks[id].task.DependsOn...)
		} else if !gone[id] && !slices.Contains(list, id) && (k < n || id != d.task.ID && tasks[id] != nil) {
			list, at = append(list, id), append(at, d.place(epic.Ref{Field: epic.FieldDependsOn, Item: k}))
		}
	}
	d.task.DependsOn, d.at[epic.FieldDependsOn] = list, at
	return d
}

// settle settles what a task waits for, also of tasks that are left out.
func (d *draft) settle(p *parser, known *names.Names, ids []string) {
	var list []string
	var at []epic.Place
	d.given["depends on"] = d.given["depends on"] && len(d.task.DependsOn) == 0
	for k, ref := range d.task.DependsOn {
		found := known.Find(ref)
		if len(found) == 0 && !isLike(ref, ids) && !(names.Only(ref) && isLike(names.First(ref), ids)) {
			p.skip(d.at[epic.FieldDependsOn][k].Line, "%s waits for %s, which is not a task of this plan", d.task.ID, epic.Quoted(ref))
			continue
		}
		d.given["depends on"] = true
		if len(found) == 0 {
			found = []string{names.First(ref)}
		}
		for _, id := range found {
			if (id != d.task.ID || len(found) == 1) && !slices.Contains(list, id) {
				list, at = append(list, id), append(at, d.at[epic.FieldDependsOn][k])
			}
		}
	}
	d.task.DependsOn, d.at[epic.FieldDependsOn] = list, at
}

// isLike reports whether a reference is most likely meant for one of some ids.
func isLike(ref string, ids []string) bool {
	stem := func(id string) string { return strings.ToLower(strings.TrimRight(id, "0123456789.-")) }
	_, near := epic.Nearest(ref, ids)
	return near || stem(ref) != strings.ToLower(ref) && slices.ContainsFunc(ids, func(id string) bool { return stem(id) == stem(ref) })
}
