package blueprint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"relay/epic"
	"relay/epic/pattern"
)

var digits = pattern.New(`[0-9]+`)

// names finds tasks by what a plan calls them.
type names struct {
	ids    map[string]string
	sorted []string // the keys of ids
}

func newNames(drafts []*draft) *names {
	ids := map[string]string{}
	for _, d := range drafts {
		title := strings.ToLower(d.task.Title)
		short, _, _ := strings.Cut(title, ": ")
		for _, name := range []string{short, title} {
			if ids[name] == "" {
				ids[name] = d.task.ID
			}
		}
	}
	for _, d := range drafts { // an id comes before a title like it
		ids[strings.ToLower(d.task.ID)] = d.task.ID
	}
	return &names{ids, slices.Sorted(maps.Keys(ids))}
}

// find returns the tasks that a reference means: one by its id or heading, or all of a range such as T1–T4.
func (n *names) find(ref string) []string {
	ref, _, _ = strings.Cut(ref, " (")
	if id := n.ids[strings.ToLower(leadingID(ref))]; id != "" {
		return []string{id}
	}
	if id := n.begins(ref); id != "" {
		return []string{id}
	}
	for i, r := range ref {
		if r != '-' && r != '–' && r != '—' {
			continue
		}
		from, to := n.ids[strings.ToLower(leadingID(ref[:i]))], n.ids[strings.ToLower(leadingID(ref[i+len(string(r)):]))]
		if from != "" && to != "" {
			all := slices.Compact(slices.Sorted(maps.Values(n.ids)))
			return slices.DeleteFunc(all, func(id string) bool { return Padded(id) < Padded(from) || Padded(id) > Padded(to) })
		}
	}
	return nil
}

// begins returns the only task whose title begins with the words of a reference.
func (n *names) begins(ref string) (id string) {
	ref = strings.ToLower(ref)
	for i, _ := slices.BinarySearch(n.sorted, ref); len(ref) > 3 && i < len(n.sorted); i++ {
		rest, begins := strings.CutPrefix(n.sorted[i], ref)
		of := n.ids[n.sorted[i]]
		if !begins || strings.IndexFunc(rest, isWord) == 0 {
			break
		}
		if id != "" && id != of {
			return ""
		}
		id = of
	}
	return id
}

// Padded makes an id that comes behind another one where its number is greater.
func Padded(id string) string {
	return digits.ReplaceAllStringFunc(id, func(n string) string { return fmt.Sprintf("%9s", n) })
}

// settleReferences puts the ids of tasks in the place of what the plan calls them, and leaves out tasks that are done. It reports names
// that are not like those of tasks; validation reports the others.
func settleReferences(p *parser) {
	known := newNames(p.drafts)
	done, boxed, ids := map[string]bool{}, map[string]bool{}, slices.Sorted(maps.Values(known.ids))
	for _, d := range p.drafts {
		boxed[d.task.ID] = d.boxes > d.ticked // they say more than a mark, which may mean that the plan was checked
		if done[d.task.ID] = d.done() || IsDeferred(d.task.Title); done[d.task.ID] && !d.done() {
			p.skip(d.task.Line, "%s is left out, as its title says", d.task.ID)
		}
	}
	for _, row := range p.states { // cells behind the task's name others
		id := func(cell line) string { return known.ids[strings.ToLower(plain(cell.text))] }
		at := slices.IndexFunc(row.cells, func(cell line) bool { return id(cell) != "" })
		if at >= 0 && (row.words || !boxed[id(row.cells[at])]) {
			done[id(row.cells[at])] = true
		}
	}
	for _, d := range p.drafts {
		d.settle(p, known, ids, done)
	}
	p.drafts = slices.DeleteFunc(p.drafts, func(d *draft) bool {
		if done[d.task.ID] && (d.done() || !IsDeferred(d.task.Title)) {
			p.done = append(p.done, "- "+d.task.Title)
		}
		return done[d.task.ID]
	})
}

// settle settles what a task waits for.
func (d *draft) settle(p *parser, known *names, ids []string, done map[string]bool) {
	var list []string
	var at []epic.Place
	for k, ref := range d.task.DependsOn {
		found := known.find(ref)
		if len(found) == 0 && !isLike(ref, ids) {
			p.skip(d.at[epic.FieldDependsOn][k].Line, "%s waits for %s, which is not a task of this plan", d.task.ID, epic.Quoted(ref))
			continue
		}
		if len(found) == 0 {
			found = []string{ref}
		}
		for _, id := range found {
			if !done[id] && (id != d.task.ID || len(found) == 1) && !slices.Contains(list, id) {
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
