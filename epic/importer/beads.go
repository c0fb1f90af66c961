package importer

import (
	"bytes"
	"cmp"
	"errors"
	"path"
	"strconv"

	"relay/epic"
	"relay/epic/importer/internal/markdown"
	"relay/epic/importer/internal/placed"
	"relay/epic/plaintext"
)

func claimsBeads(s source) bool {
	first, _, _ := bytes.Cut(bytes.TrimSpace(s.data), []byte("\n"))
	n, err := placed.Parse(first, 1)
	return path.Ext(s.name) == ".jsonl" && err == nil && n.Get("id") != nil && n.Get("title") != nil
}

// readBeads reads .beads/issues.jsonl, or what bd export prints: one issue a line. Only blocks, parent-child, conditional-blocks and
// waits-for order work. An issue that is an epic is the group of its children.
func readBeads(s source, d *draft) {
	if d.title = path.Base(path.Dir(path.Dir(s.name))); d.title == "." {
		d.title = "Issues"
	}
	r := tracker{d: d, epics: map[string]*item{}, parent: map[string]string{}}
	number, next := 0, 0
	for raw := range bytes.Lines(s.data) {
		number++
		offset := next
		next += len(raw)
		if len(bytes.TrimSpace(raw)) == 0 {
			continue
		}
		n, err := placed.Parse(raw, number)
		if err != nil {
			d.fail(number, "the line is not a JSON object: %v", errors.Unwrap(err))
			continue
		}
		r.issue(n, offset)
	}
	r.children()
	d.unread(false)
}

// issue takes an issue, whose line begins at an offset.
func (r *tracker) issue(n *placed.Node, offset int) {
	it := &item{id: n.Get("id").String(), node: n, line: n.Line, title: n.Get("title").String(), priority: normal}
	if template := n.Get("is_template"); it.id == "" || template != nil && template.Kind == placed.True {
		r.d.tell(n.Line, "an issue without an id, or a template, is left out")
		return
	}
	if status := n.Get("status"); status != nil {
		it.state = placed.Edit{From: offset + status.From, To: offset + status.To, Text: `"closed"`}
	}
	if p, err := strconv.Atoi(n.Get("priority").String()); err == nil {
		it.priority = min(max(p, 0), 3)
	}
	it.say(n.Get("description").Prose(), n.Get("design").Prose(), n.Get("notes").Prose())
	it.criteria = markdown.Points([]string{plaintext.Clean(n.Get("acceptance_criteria").String())})
	r.d.state(it, n.Get("status").String())
	kind := cmp.Or(n.Get("issue_type").String(), n.Get("type").String())
	switch kind {
	case "bug":
		it.kind = epic.KindBugfix
	case "chore":
		it.kind = epic.KindChore
	case "agent", "role", "rig", "convoy", "event", "slot", "message", "gate", "molecule", "merge-request":
		if it.open() {
			it.left = true
			r.d.tell(n.Line, markdown.Clip(it.id, 60)+" is of the type "+kind+", which needs no work: it is left out")
		}
	}
	if minutes, err := strconv.ParseFloat(n.Get("estimated_minutes").String(), 64); err == nil && minutes > 0 {
		it.points = min(minutes/60, 1000)
	}
	r.dependencies(n, it)
	if kind == "epic" {
		r.epics[it.id] = it
		return
	}
	r.d.items = append(r.d.items, it)
}

func (r *tracker) dependencies(n *placed.Node, it *item) {
	r.parent[it.id] = n.Get("parent").String() // "": none
	for _, dep := range n.Get("dependencies").List() {
		on, kind := cmp.Or(dep.Get("depends_on_id").String(), dep.String()), dep.Get("type").String()
		switch kind {
		case "parent-child":
			r.parent[it.id] = on
		case "", "blocks", "conditional-blocks", "waits-for":
			if on != "" {
				it.after = append(it.after, reference{id: on, line: it.line})
			}
		}
	}
}
