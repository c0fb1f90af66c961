package importer

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"relay/epic/each"
	"relay/epic/importer/internal/markdown"
	"relay/epic/importer/internal/placed"
	"relay/epic/pattern"
)

var recordAdmin = pattern.New(`(?i)prompt|complexity|recommend|metadata|retr(?:y|ies)|assignee|branch|attempts|(?:At|_at|[dD]ate)$|^extra$`)

func claimsTaskmaster(s source) bool {
	return claimsRecords(s) && (s.root.Has("tasks") || slices.ContainsFunc(s.root.Values, func(n *placed.Node) bool { return n.Has("tasks") }))
}

func claimsRecords(s source) bool {
	return path.Ext(s.name) == ".json" && len(s.root.Lists()) > 0
}

// recordReader goes through the lists.
type recordReader struct {
	d *draft

	parts  map[string][]*item // of a whole, by its id
	ids    map[string]int     // how many objects have one, and whether parts of a whole do: whole/id
	ranked bool               // the priorities of some are places
	asked  bool               // some say what they wait for, or that they wait for nothing
	named  bool               // some say what they wait for
}

// readRecords reads prd.json of ralph, tasks.json of Task Master, and JSON like theirs: lists of objects with titles, under any names. The
// parts of an object take its place: each waits for what the object waits for, and others that wait for the object wait for all of them.
// Without dependencies each task waits for the one before it, by priority. Of the tags of Task Master one is read.
func readRecords(s source, d *draft) {
	lists := s.root.Lists()
	untagged := func(l placed.Records) bool { return l.Name != "tasks" || !slices.Contains(s.root.Values, l.Whole) }
	if tags := slices.DeleteFunc(slices.Clone(lists), untagged); len(tags) > 1 {
		lists = tagOf(d, s.root, tags)
	}
	idle := func(l placed.Records) bool { return !slices.ContainsFunc(l.List, (*placed.Node).IsWork) }
	if work := slices.DeleteFunc(slices.Clone(lists), idle); len(work) > 0 {
		lists = work
	}
	root := s.root
	description := root.Get("description").Prose()
	d.title = cmp.Or(root.Get("project", "name", "productName", "title").String(),
		root.Get("meta", "feature", "project").Get("projectName", "name", "title").String(),
		markdown.Clip(description, maxTitle), d.title, strings.TrimSuffix(path.Base(s.name), ".json"))
	d.description = slices.DeleteFunc([]string{description, root.Get("context").Prose()}, func(text string) bool { return text == "" })
	d.checks = each.Added(d.checks, root.Get("verificationCommands").Members()...)
	r := recordReader{d: d, parts: map[string][]*item{}, ids: map[string]int{}}
	r.count(lists, "")
	r.lists(lists, nil)
	for _, it := range d.items {
		d.wholes(it, r.parts)
	}
	d.unread(false, root)
	if r.serial() {
		d.chain(d.items)
	}
}

// tagOf returns the list of the tag that is read: master, or the first.
func tagOf(d *draft, root *placed.Node, tags []placed.Records) []placed.Records {
	name := func(l placed.Records) string { return markdown.Clip(root.Keys[slices.Index(root.Values, l.Whole)], 60) }
	chosen := max(0, slices.IndexFunc(tags, func(l placed.Records) bool { return name(l) == "master" }))
	d.title = "Task Master: " + name(tags[chosen])
	for i, l := range tags {
		if l.Whole.Used = true; i != chosen {
			d.tell(l.List[0].Line, "the tasks of the tag "+name(l)+" are left out: the tag "+name(tags[chosen])+" was read")
		}
	}
	return tags[chosen : chosen+1]
}

// serial reports whether tasks come one after the other.
func (r *recordReader) serial() bool { return !r.named && (r.ranked || !r.asked) }

// count goes through objects and their parts for what holds for all of them.
func (r *recordReader) count(lists []placed.Records, whole string) {
	for _, l := range lists {
		for _, n := range l.List {
			on, id := n.Get(placed.AfterKeys...), n.Get("id").String()
			r.ids[id]++
			r.ids[whole+"/"+id]++
			r.asked, r.named, r.ranked = r.asked || on != nil, r.named || on != nil && on.Says(), r.ranked || n.Place() < placed.Unranked
			r.count(n.Lists(), strings.TrimPrefix(whole+"."+id, "."))
		}
	}
}

// lists takes some lists, which are parts of an item unless it is nil. It returns the tasks.
func (r *recordReader) lists(lists []placed.Records, above *item) (tasks []*item) {
	for _, l := range lists {
		if l.Whole.Get(l.Name); r.serial() {
			slices.SortStableFunc(l.List, func(a, b *placed.Node) int { return cmp.Compare(a.Place(), b.Place()) })
		}
		again := func(n *placed.Node) bool { return r.ids[n.Get("id").String()] > 1 }
		local := above != nil && (l.Name == "subtasks" || slices.ContainsFunc(l.List, again))
		for _, n := range l.List {
			it := r.item(n, above, local)
			if it == nil {
				continue
			}
			own := r.lists(n.Lists(), it)
			if it.tellAll(); len(own) > 0 {
				r.whole(it, own)
			} else {
				own, r.d.items = []*item{it}, append(r.d.items, it)
			}
			tasks = append(tasks, own...)
		}
	}
	return tasks
}

// whole makes the group of an item that consists of tasks.
func (r *recordReader) whole(it *item, tasks []*item) {
	name := markdown.GroupName(strings.TrimSpace(strings.TrimSuffix(it.id+" "+it.title, it.id)))
	r.parts[it.id] = tasks
	r.d.group(name, group{})
	for _, task := range tasks {
		task.group = cmp.Or(task.group, name)
	}
	r.d.share(tasks, "Part of "+name, strings.Join(it.description, "\n\n"))
	last := tasks[len(tasks)-1]
	last.criteria = append(last.criteria, it.criteria...)
}

// item reads an object, and what it has of the one that it is a part of. Its title is the id of one without an id.
func (r *recordReader) item(n *placed.Node, above *item, local bool) *item {
	it := &item{id: n.Get("id").String(), node: n, line: n.Line, priority: normal}
	for _, key := range placed.TitleKeys {
		if it.title == "" {
			it.title = markdown.Clip(n.Get(key).String(), maxTitle)
		}
	}
	if it.title == "" && it.id == "" {
		r.d.tell(n.Line, "an object without a title is left out")
		return nil
	}
	if it.id == "" {
		it.id, it.as = markdown.Clip(it.title, 60), fmt.Sprintf("T%d", len(r.d.items)+1)
	}
	r.d.after(it, n.Get(placed.AfterKeys...))
	it.ordered = slices.ContainsFunc(it.after, func(ref reference) bool { return strings.Contains(ref.id, " ") }) // prose, and no ids
	if priority := n.Get("priority"); priority == nil && above != nil {
		it.priority = above.priority
	} else if n.Place() == placed.Unranked {
		it.priority = markdown.Urgency(priority.String())
	}
	if above != nil {
		it.done, it.left = above.done, above.left
		if local {
			it.id = above.id + "." + strings.TrimPrefix(it.id, above.id+".")
			for i, on := range it.after {
				if r.ids[above.id+"/"+on.id] > 0 { // else it is that of a whole
					it.after[i].id = above.id + "." + strings.TrimPrefix(on.id, above.id+".")
				}
			}
		}
		r.d.waits(it, above.after)
	}
	r.state(it, n.Get(placed.StateKeys...), n.Get(placed.DoneKeys...))
	it.criteria = markdown.Points(n.Get(placed.ProofKeys...).Strings())
	return it
}

// state takes how far an item is: whether it passes says more than its status.
func (r *recordReader) state(it *item, status, passes *placed.Node) {
	it.state = status.Becomes(`"done"`)
	r.d.state(it, status.String())
	if passes != nil && (passes.Kind == placed.True || passes.Kind == placed.False) {
		it.done, it.state = it.done && status == nil || passes.Kind == placed.True, passes.Becomes("true")
	}
}

// tellAll takes all that an object says, and no reader has used, into the description.
func (it *item) tellAll() {
	for _, key := range []string{"description", "details", "notes"} {
		if text := it.node.Get(key).Prose(); text != it.title {
			it.say(text)
		}
	}
	for i, v := range it.node.Values {
		if key := it.node.Keys[i]; !v.Used && v.Says() && v.Kind != placed.True && !recordAdmin.MatchString(key) {
			v.Used = true
			if v.Kind < placed.Array {
				it.say(key + ": " + v.Prose())
			} else {
				it.say(markdown.Titled(key, v.Prose()))
			}
		}
	}
}
