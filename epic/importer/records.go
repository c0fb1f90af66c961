package importer

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"relay/epic/importer/internal/markdown"
	"relay/epic/importer/internal/placed"
	"relay/epic/pattern"
)

// The names that JSON plans have for the same things.
var (
	recordTitle = []string{"title", "name", "summary", "story", "task", "description"}
	recordDone  = []string{"passes", "passed", "done", "completed", "complete"}
	recordState = []string{"status", "state"}
	recordAfter = []string{"dependsOn", "dependencies", "depends_on", "blockedBy", "blocked_by", "after"}
	recordProof = []string{"acceptanceCriteria", "acceptance_criteria", "criteria", "testStrategy"}
	recordOwn   = slices.Concat(recordDone, recordState, recordAfter, recordProof) // that only tasks have

	recordWork  = pattern.New(`(?i)(?:task|story|stories|feature|epic|phase|milestone|sprint|issue|item)s?$`)
	recordAside = pattern.New(`(?i)criteri|test|check|verif|risk|question|comment|note|histor|log|file|scenario`)
	recordAdmin = pattern.New(`(?i)prompt|complexity|recommend|metadata|retr(?:y|ies)|assignee|branch|attempts|(?:At|_at|[dD]ate)$|^extra$`)
)

// records is a list of objects that have titles.
type records struct {
	name  string
	whole *placed.Node // that has the list
	list  []*placed.Node
}

// recordsIn returns the lists of tasks, or of what consists of tasks, in a value. Those in an object of such a list are its parts.
func recordsIn(n *placed.Node, name string, whole *placed.Node) (found []records) {
	if n == nil || recordAside.MatchString(name) {
		return nil
	}
	if n.Kind == placed.Array && isRecords(n, name) {
		return []records{{name, whole, n.Values}}
	}
	for i, key := range n.Keys {
		found = append(found, recordsIn(n.Values[i], key, n)...)
	}
	return found
}

// isRecords reports whether a list is one of objects with titles, which is called tasks, or alike, or has what only tasks have. One whose
// objects name those of other lists only groups these.
func isRecords(list *placed.Node, name string) bool {
	work := recordWork.MatchString(name)
	for _, n := range list.Values {
		work = work || isWork(n)
		for i, key := range n.Keys {
			parts := n.Values[i].List()
			if len(parts) > 0 && parts[0].String() != "" && !strings.Contains(parts[0].String(), " ") && recordWork.MatchString(key) {
				return false
			}
		}
	}
	return work && slices.ContainsFunc(list.Values, func(n *placed.Node) bool { return n.Has("id") || n.Has(recordTitle...) })
}

// isWork reports whether an object has what only tasks have.
func isWork(n *placed.Node) bool {
	return n.Has(recordOwn...) || len(recordsIn(n, "", nil)) > 0
}

func claimsTaskmaster(s source) bool {
	return claimsRecords(s) && (s.root.Has("tasks") || slices.ContainsFunc(s.root.Values, func(n *placed.Node) bool { return n.Has("tasks") }))
}

func claimsRecords(s source) bool {
	return path.Ext(s.name) == ".json" && len(recordsIn(s.root, "", nil)) > 0
}

// recordReader goes through the lists.
type recordReader struct {
	d *draft

	parts  map[string][]*item // of a whole, by its id
	ids    map[string]int     // how many objects have one
	ranked bool               // the priorities of some are places
	asked  bool               // some say what they wait for, or that they wait for nothing
	named  bool               // some say what they wait for
}

// readRecords reads prd.json of ralph, tasks.json of Task Master, and JSON like theirs: lists of objects with titles, under any names. What
// has parts is done in these: each waits for what the whole waits for, and who waits for the whole waits for all of them. Where no task says
// what it waits for, each waits for the one before it, by priority. Of the tags of Task Master one is read.
func readRecords(s source, d *draft) {
	lists := recordsIn(s.root, "", nil)
	if tags := slices.DeleteFunc(slices.Clone(lists), func(l records) bool { return l.name != "tasks" || !slices.Contains(s.root.Values, l.whole) }); len(tags) > 1 {
		lists = d.tag(s.root, tags)
	}
	if work := slices.DeleteFunc(slices.Clone(lists), func(l records) bool { return !slices.ContainsFunc(l.list, isWork) }); len(work) > 0 {
		lists = work
	}
	root := s.root
	description := root.Get("description").Prose()
	about := root.Get("meta", "feature", "project")
	d.title = cmp.Or(root.Get("project", "name", "productName", "title").String(), about.Get("projectName", "name", "title").String(),
		markdown.Clip(description, maxTitle), d.title, strings.TrimSuffix(path.Base(s.name), ".json"))
	d.description = slices.DeleteFunc([]string{description, root.Get("context").Prose()}, func(text string) bool { return text == "" })
	if commands := root.Get("verificationCommands"); commands != nil && commands.Kind == placed.Object {
		for _, v := range commands.Values {
			if run := v.String(); run != "" && !slices.Contains(d.checks, run) {
				d.checks = append(d.checks, run)
			}
		}
	}
	r := recordReader{d: d, parts: map[string][]*item{}, ids: map[string]int{}}
	r.count(lists)
	r.lists(lists, nil)
	for _, it := range d.items {
		d.wholes(it, r.parts)
	}
	d.unread(false, root)
	if r.serial() {
		d.chain(d.items)
	}
}

// tag returns the list of the tag that is read: master, or the first.
func (d *draft) tag(root *placed.Node, tags []records) []records {
	name := func(l records) string { return markdown.Clip(root.Keys[slices.Index(root.Values, l.whole)], 60) }
	chosen := max(0, slices.IndexFunc(tags, func(l records) bool { return name(l) == "master" }))
	d.title = "Task Master: " + name(tags[chosen])
	for i, l := range tags {
		if l.whole.Used = true; i != chosen {
			d.tell(l.list[0].Line, "the tasks of the tag "+name(l)+" are left out: the tag "+name(tags[chosen])+" was read")
		}
	}
	return tags[chosen : chosen+1]
}

// serial reports whether tasks come one after the other.
func (r *recordReader) serial() bool { return !r.named && (r.ranked || !r.asked) }

// count goes through objects and their parts for what holds for all of them.
func (r *recordReader) count(lists []records) {
	for _, l := range lists {
		for _, n := range l.list {
			on := n.Get(recordAfter...)
			r.ids[n.Get("id").String()]++
			r.asked, r.named, r.ranked = r.asked || on != nil, r.named || on != nil && on.Says(), r.ranked || place(n) < unranked
			r.count(recordsIn(n, "", nil))
		}
	}
}

const unranked = 1 << 30

// place returns the place of an object by its priority.
func place(n *placed.Node) int {
	if place, err := strconv.Atoi(n.Get("priority").String()); err == nil {
		return place
	}
	return unranked
}

// lists takes some lists, which are parts of an item unless it is nil. It returns the tasks.
func (r *recordReader) lists(lists []records, above *item) (tasks []*item) {
	for _, l := range lists {
		if l.whole.Get(l.name); r.serial() {
			slices.SortStableFunc(l.list, func(a, b *placed.Node) int { return cmp.Compare(place(a), place(b)) })
		}
		local := above != nil && (l.name == "subtasks" || slices.ContainsFunc(l.list, func(n *placed.Node) bool { return r.ids[n.Get("id").String()] > 1 }))
		for _, n := range l.list {
			it := r.item(n, above, local)
			if it == nil {
				continue
			}
			own := r.lists(recordsIn(n, "", nil), it)
			it.tellAll()
			if len(own) == 0 {
				own = []*item{it}
				r.d.items = append(r.d.items, it)
			} else {
				r.whole(it, own)
			}
			tasks = append(tasks, own...)
		}
	}
	return tasks
}

// whole makes the group of an item that consists of tasks.
func (r *recordReader) whole(it *item, tasks []*item) {
	name := groupName(strings.TrimSpace(strings.TrimSuffix(it.id+" "+it.title, it.id)))
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
	for _, key := range recordTitle {
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
	r.d.after(it, n.Get(recordAfter...))
	it.ordered = slices.ContainsFunc(it.after, func(ref reference) bool { return strings.Contains(ref.id, " ") }) // prose, and no ids
	if priority := n.Get("priority"); priority == nil && above != nil {
		it.priority = above.priority
	} else if place(n) == unranked {
		it.priority = markdown.Urgency(priority.String())
	}
	if above != nil {
		it.done, it.left = above.done, above.left
		if local {
			it.id = above.id + "." + strings.TrimPrefix(it.id, above.id+".")
			for i, on := range it.after {
				if !strings.Contains(on.id, ".") {
					it.after[i].id = above.id + "." + on.id
				}
			}
		}
		r.d.waits(it, above.after)
	}
	r.state(it, n.Get(recordState...), n.Get(recordDone...))
	it.criteria = markdown.Points(n.Get(recordProof...).Strings())
	return it
}

// state takes how far an item is: whether it passes says more than its status.
func (r *recordReader) state(it *item, status, passes *placed.Node) {
	it.state = becomes(status, `"done"`)
	r.d.state(it, status.String())
	if passes != nil && (passes.Kind == placed.True || passes.Kind == placed.False) {
		it.done, it.state = it.done && status == nil || passes.Kind == placed.True, becomes(passes, "true")
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
				it.say(titled(key, v.Prose()))
			}
		}
	}
}
