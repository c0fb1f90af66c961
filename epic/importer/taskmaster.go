package importer

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"relay/epic/importer/internal/markdown"
	"relay/epic/importer/internal/placed"
)

func claimsTaskmaster(s source) bool { return path.Ext(s.name) == ".json" && len(tagsOf(s.root)) > 0 }

// tag is a list of tasks.
type tag struct {
	name  string
	whole *placed.Node
	tasks []*placed.Node
}

// tagsOf returns the lists of tasks in a file.
func tagsOf(root *placed.Node) (tags []tag) {
	if tasks := root.Get("tasks"); tasks != nil && tasks.Kind == placed.Array {
		return []tag{{whole: root, tasks: tasks.List()}}
	}
	if root == nil || root.Kind != placed.Object {
		return nil
	}
	for i, name := range root.Keys {
		if tasks := root.Values[i].Get("tasks"); tasks != nil && tasks.Kind == placed.Array {
			tags = append(tags, tag{name, root.Values[i], tasks.List()})
		}
	}
	return tags
}

// readTaskmaster reads tasks.json of Task Master, with tags or, in its old form, without. A task with subtasks is done in these: each waits
// for what the task waits for, and who waits for the task waits for all of them.
func readTaskmaster(s source, d *draft) {
	tags := tagsOf(s.root)
	if len(tags) == 0 {
		d.fail(1, "it has no list of tasks")
		return
	}
	chosen := tags[max(0, slices.IndexFunc(tags, func(t tag) bool { return t.name == "master" }))]
	for _, t := range tags {
		if t.name != chosen.name && len(t.tasks) > 0 {
			d.tell(t.tasks[0].Line, "the tasks of the tag "+markdown.Clip(t.name, 60)+" are left out: the tag "+chosen.name+" was read")
		}
	}
	d.title = cmp.Or(strings.TrimSpace(s.root.Get("meta").Get("projectName").String()), "Task Master: "+cmp.Or(chosen.name, "tasks"))
	parts := map[string][]*item{} // the subtasks of a task
	for _, n := range chosen.tasks {
		taskmasterTask(d, n, parts)
	}
	for _, it := range d.items {
		d.wholes(it, parts)
	}
	d.unread(false, chosen.whole)
}

// taskmasterTask takes a task, or its subtasks.
func taskmasterTask(d *draft, n *placed.Node, parts map[string][]*item) {
	whole := taskmasterItem(d, n, "a task", "")
	if whole == nil {
		return
	}
	id := whole.id
	for _, sub := range n.Get("subtasks").List() {
		it := taskmasterItem(d, sub, "a subtask", id+".")
		if it == nil {
			continue
		}
		if sub.Get("priority") == nil {
			it.priority = whole.priority
		}
		for i, ref := range it.after {
			if !strings.Contains(ref.id, ".") {
				it.after[i].id = id + "." + ref.id // local to the task
			}
		}
		d.waits(it, whole.after)
		it.done, it.left = it.done || whole.done, it.left || whole.left
		it.group = groupName(id + " " + whole.title)
		parts[id] = append(parts[id], it)
		d.items = append(d.items, it)
	}
	if len(parts[id]) == 0 {
		d.items = append(d.items, whole)
		return
	}
	d.group(groupName(id+" "+whole.title), group{})
	d.share(parts[id], "Part of "+groupName(id+" "+whole.title), strings.Join(whole.description, "\n\n"))
	last := d.items[len(d.items)-1]
	last.criteria = append(last.criteria, whole.criteria...)
}

// taskmasterItem reads what a task and a subtask have alike. The number of a subtask may leave out that of its task.
func taskmasterItem(d *draft, n *placed.Node, what, above string) *item {
	it := d.object(n, what)
	if it == nil {
		return nil
	}
	it.id = above + strings.TrimPrefix(it.id, above)
	it.criteria, it.state = n.Get("testStrategy").Strings(), becomes(n.Get("status"), `"done"`)
	it.priority = markdown.Urgency(n.Get("priority").String())
	it.criteria = append(it.criteria, markdown.Points(n.Get("acceptanceCriteria").Strings())...)
	it.describe("description", "details")
	d.after(it, n.Get("dependencies"))
	d.state(it, n.Get("status").String())
	return it
}

// wholes has an item wait for the subtasks of a task in the place of the task itself.
func (d *draft) wholes(it *item, parts map[string][]*item) {
	after := it.after
	it.after = nil
	for _, ref := range after {
		subtasks := parts[ref.id]
		if len(subtasks) == 0 || d.edges > maxEdges {
			d.waits(it, []reference{ref})
			continue
		}
		list := make([]reference, 0, len(subtasks))
		for _, sub := range subtasks {
			list = append(list, reference{sub.id, ref.line, sub})
		}
		d.waits(it, list)
	}
}
