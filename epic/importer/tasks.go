package importer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"relay/epic"
	"relay/epic/blueprint"
	"relay/epic/blueprint/inline"
	"relay/epic/importer/internal/markdown"
	"relay/epic/pattern"
	"relay/epic/plaintext"
)

// Sizes, in bytes, of what a task may hold.
const (
	maxTitle  = 300
	maxTaskID = 32
)

// taskOf makes one task.
func taskOf(d *draft, it *item, ids map[string]*item) epic.Task {
	it.title = strings.TrimSpace(plaintext.Clean(it.title))
	t := epic.Task{
		ID: it.as, Title: markdown.Clip(it.title, maxTitle), Kind: cmp.Or(it.kind, blueprint.KindOf(it.title)),
		Priority: it.priority, Points: it.points,
		Source: fmt.Sprintf("%s:%d (%s)", d.at(cmp.Or(it.file, d.file)), it.line, it.id),
	}
	if it.line == 0 {
		t.Source = fmt.Sprintf("%s (%s)", it.file, it.id)
	}
	if t.Title != it.title {
		it.description = slices.Insert(it.description, 0, it.title)
	}
	own, written := strings.Join(it.description, "\n\n"), it.title
	if len(it.description) > 0 && markdown.Unformatted(it.description[0]) == it.title {
		written = it.description[0]
	}
	if t.Files = it.files; len(t.Files) == 0 && t.Kind != epic.KindVerify {
		t.Files = inline.FilesIn(inline.FilesIn(nil, written, true), it.written+"\n"+own+"\n"+strings.Join(it.criteria, "\n"), false)
	}
	t.Description = strings.Join(append(it.description, it.shared...), "\n\n")
	for _, text := range it.criteria {
		t.Criteria = append(t.Criteria, epic.Criterion{Text: text})
	}
	t.DependsOn = dependencies(d, it, ids)
	return t
}

// dependencies returns the tasks that an item waits for.
func dependencies(d *draft, it *item, ids map[string]*item) (list []string) {
	seen := map[*item]bool{}
	for _, ref := range it.after {
		on := cmp.Or(ref.item, ids[ref.id])
		switch {
		case it.ordered && (on == nil || on.twice > 0 && ref.item == nil):
			d.tell(ref.line, fmt.Sprintf("%s waits for %s, which is not in the plan, or twice", it.id, markdown.Clip(ref.id, 60)))
		case on == nil:
			d.fail(ref.line, "%s waits for %s, which is not in the plan", it.id, ref.id)
		case on.twice > 0 && ref.item == nil:
			d.fail(ref.line, "%s waits for %s, which is the id of lines %d and %d (give one of them another id)", it.id, markdown.Clip(on.id, 60), on.line, on.twice)
		case on.left && !on.done:
			d.tell(ref.line, fmt.Sprintf("%s waits for %s, which is left out", it.id, on.id))
		case on.open() && !seen[on]:
			list = append(list, on.as)
		}
		seen[on] = true
	}
	return list
}

// grouped returns the groups that have open tasks, as their tasks stand. A group whose tasks are all done hands on the groups that it
// waits for.
func grouped(d *draft) (list []epic.Group) {
	has, after := map[string][]string{"": nil}, map[string][]string{}
	var names []string
	for _, it := range d.items {
		if _, known := has[it.group]; !known {
			names, has[it.group] = append(names, it.group), nil
		}
		if it.open() {
			has[it.group] = append(has[it.group], it.as)
		}
	}
	for _, group := range names {
		var on []string
		for _, name := range d.groups[group].after {
			if len(has[name]) > 0 {
				on = append(on, name)
			} else {
				on = append(on, after[name]...)
			}
		}
		slices.Sort(on)
		after[group] = slices.Compact(on)
		if g := d.groups[group]; g.twice && len(has[group]) > 0 {
			d.fail(max(1, g.line), "group %s is defined twice (give each group a name of its own)", epic.Quoted(group))
		}
		if len(has[group]) > 0 {
			list = append(list, epic.Group{Name: group, Tasks: has[group], BlockedBy: after[group]})
		}
	}
	return list
}

// settleIDs gives every item an id that a task may have, and returns the items by the ids of the plan.
func settleIDs(d *draft) map[string]*item {
	byID, taken, next := map[string]*item{}, map[string]bool{}, map[string]int{}
	for _, it := range d.items {
		if first := byID[it.id]; first == nil {
			byID[it.id] = it
		} else if first.twice == 0 && (first.open() || it.open()) {
			first.twice = it.line
		}
		base := taskID(cmp.Or(it.as, it.id))
		it.as = base
		for taken[strings.ToLower(it.as)] {
			next[base]++ // where the last one ended: a plan may have one id many times
			suffix := "-" + strconv.Itoa(next[base]+1)
			it.as = base[:min(len(base), maxTaskID-len(suffix))] + suffix
		}
		taken[strings.ToLower(it.as)] = true
	}
	return byID
}

var notInID = pattern.New(`[^A-Za-z0-9_]+`)

// taskID makes of an id of a plan one that a task may have: 1.2 becomes T1-2.
func taskID(id string) string {
	made := strings.Trim(notInID.ReplaceAllString(id, "-"), "-_")
	if made == "" || made[0] >= '0' && made[0] <= '9' {
		made = "T" + made
	}
	return strings.TrimRight(made[:min(len(made), maxTaskID)], "-_")
}

// chain makes items wait for all before them, as they stand, but for those of which the plan says what they wait for. One that may be done
// beside others of its part waits for the last that may not, and for those of other parts.
func (d *draft) chain(items []*item) {
	var last, side []*item // what one beside others waits for, and those since
	for _, it := range items {
		ends := slices.Concat(last, side)
		if slices.ContainsFunc(side, func(it *item) bool { return it.beside != "" }) { // which waits for the last
			ends = side
		}
		if it.beside != "" && slices.ContainsFunc(side, func(other *item) bool { return other.beside != it.beside }) {
			last, side = ends, nil
		}
		if it.beside != "" {
			ends = last
		}
		for _, before := range ends {
			if !it.ordered {
				it.follow(before)
			}
		}
		switch {
		case !it.open():
		case it.ordered || it.beside != "":
			side = append(side, it)
		default:
			last, side = []*item{it}, nil
		}
	}
}
