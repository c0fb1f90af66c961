package importer

import (
	"path"
	"slices"
	"strings"

	"relay/internal/plaintext"
)

// taskmaster reads tasks.json of Task Master, with tags or, in its old form, without. A task with subtasks is done in these: each waits for
// what the task waits for, and who waits for the task waits for all of them.
func taskmaster() Format {
	return Format{
		Name: "taskmaster", Tool: "Task Master",
		Files:  []string{".taskmaster/tasks/tasks.json", "tasks/tasks.json", "tasks.json"},
		claims: claimsTaskmaster, read: readTaskmaster,
	}
}

func claimsTaskmaster(s source) bool {
	if path.Ext(s.name) != ".json" {
		return false
	}
	data, err := s.text(s.name)
	if err != nil {
		return false
	}
	root, err := parseJSON(data)
	return err == nil && len(tagsOf(root)) > 0
}

// tag is a list of tasks.
type tag struct {
	name  string
	tasks []*node
}

// tagsOf returns the lists of tasks in a file.
func tagsOf(root *node) (tags []tag) {
	if tasks := root.get("tasks"); tasks != nil && tasks.kind == jsonArray {
		return []tag{{tasks: tasks.list()}}
	}
	if root == nil || root.kind != jsonObject {
		return nil
	}
	for i, name := range root.keys {
		if tasks := root.values[i].get("tasks"); tasks != nil && tasks.kind == jsonArray {
			tags = append(tags, tag{name, tasks.list()})
		}
	}
	return tags
}

func readTaskmaster(s source, d *draft) error {
	root, err := s.json(d)
	if err != nil {
		return err
	}
	tags := tagsOf(root)
	if len(tags) == 0 {
		d.fail(1, "it has no list of tasks")
		return nil
	}
	chosen := tags[0]
	for _, t := range tags {
		if t.name == "master" {
			chosen = t
		}
	}
	for _, t := range tags {
		if t.name == chosen.name || len(t.tasks) == 0 {
			continue
		}
		d.tell(t.tasks[0].line, "the tasks of the tag "+clip(t.name, 60)+" are left out: the tag "+chosen.name+" was read")
	}
	d.title = firstText(strings.TrimSpace(root.get("meta").get("projectName").string()), "Task Master: "+firstText(chosen.name, "tasks"))
	parts := map[string][]string{} // ids of the subtasks of a task
	for _, n := range chosen.tasks {
		d.taskmasterTask(n, parts)
	}
	for _, it := range d.items {
		it.after = wholes(it.after, parts)
	}
	return nil
}

// taskmasterTask takes a task, or its subtasks.
func (d *draft) taskmasterTask(n *node, parts map[string][]string) {
	id := n.get("id").string()
	if id == "" {
		d.tell(n.line, "a task without an id is left out")
		return
	}
	whole := d.taskmasterItem(n, id)
	subtasks := n.get("subtasks").list()
	for _, sub := range subtasks {
		number := sub.get("id").string()
		if number == "" {
			d.tell(sub.line, "a subtask without an id is left out")
			continue
		}
		if !strings.HasPrefix(number, id+".") {
			number = id + "." + number
		}
		it := d.taskmasterItem(sub, number)
		if sub.get("priority") == nil {
			it.priority = whole.priority
		}
		for i, ref := range it.after {
			if !strings.Contains(ref.id, ".") {
				it.after[i].id = id + "." + ref.id // local to the task
			}
		}
		it.after = append(it.after, whole.after...)
		it.done, it.left = it.done || whole.done, it.left || whole.left
		it.group = groupName(id + " " + whole.title)
		it.description = append(it.description, strings.TrimSpace("Part of "+id+", "+whole.title+".\n\n"+strings.Join(whole.description, "\n\n")))
		parts[id] = append(parts[id], number)
		d.items = append(d.items, it)
	}
	if len(parts[id]) == 0 {
		d.items = append(d.items, whole)
		return
	}
	d.groups = append(d.groups, group{name: groupName(id + " " + whole.title)})
	if len(whole.criteria) > 0 {
		last := d.items[len(d.items)-1]
		last.criteria = append(last.criteria, whole.criteria...)
	}
}

// taskmasterItem reads what a task and a subtask have alike.
func (d *draft) taskmasterItem(n *node, id string) *item {
	it := &item{
		id: id, line: n.line, title: n.get("title").string(), criteria: n.get("testStrategy").strings(),
		priority: urgencyOf(n.get("priority").string()), state: n.get("status").becomes(`"done"`),
	}
	it.title = firstText(it.title, clip(n.get("description").string(), maxTitle))
	if more := n.get("acceptanceCriteria").strings(); len(more) > 0 {
		it.criteria = append(it.criteria, points(more)...)
	}
	for _, key := range []string{"description", "details"} {
		if text := plaintext.Clean(n.get(key).string()); text != "" {
			it.description = append(it.description, text)
		}
	}
	for _, dep := range n.get("dependencies").list() {
		if on := dep.string(); on != "" {
			it.after = append(it.after, reference{on, dep.line})
		}
	}
	switch status := strings.ToLower(n.get("status").string()); status {
	case "done", "completed":
		it.done = true
	case "cancelled", "canceled", "deferred":
		it.left = true
		d.tell(n.line, id+" is "+status+", and left out")
	case "", "pending", "in-progress", "in_progress", "review", "blocked":
	default:
		d.tell(n.line, id+" has the status "+clip(status, 40)+", which is taken for pending")
	}
	return it
}

// wholes replaces a task that has subtasks by these.
func wholes(after []reference, parts map[string][]string) (list []reference) {
	for _, ref := range after {
		subtasks := parts[ref.id]
		if len(subtasks) == 0 {
			list = append(list, ref)
		}
		for _, sub := range subtasks {
			list = append(list, reference{sub, ref.line})
		}
	}
	return slices.Compact(list)
}

// points splits a text that is a list into its points.
func points(texts []string) (list []string) {
	for _, text := range texts {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "-*")); line != "" {
				list = append(list, line)
			}
		}
	}
	return list
}

// urgencyOf returns the priority that a word means.
func urgencyOf(word string) int {
	switch strings.ToLower(word) {
	case "critical", "urgent", "highest", "p0":
		return 0
	case "high", "p1":
		return 1
	case "low", "lowest", "p3", "p4":
		return 3
	}
	return normal
}
