package importer

import (
	"bytes"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"

	"relay/epic"
	"relay/internal/plaintext"
)

// beads reads .beads/issues.jsonl, or what bd export prints: one issue a line. Only blocks, parent-child, conditional-blocks and waits-for
// order work. An issue that is an epic is the group of its children.
func beads() Format {
	return Format{
		Name: "beads", Tool: "beads",
		Files:  []string{".beads/issues.jsonl", "issues.jsonl"},
		claims: claimsBeads, read: readBeads,
	}
}

func claimsBeads(s source) bool {
	if path.Ext(s.name) != ".jsonl" {
		return false
	}
	data, err := s.text(s.name)
	if err != nil {
		return false
	}
	for text := range bytes.Lines(data) {
		if text = bytes.TrimSpace(text); len(text) > 0 {
			n, err := parseJSON(text)
			return err == nil && n.get("id") != nil && n.get("title") != nil
		}
	}
	return false
}

// The kinds of dependency that order work.
const (
	beadsParent = "parent-child"
	beadsBlocks = "blocks"
)

func readBeads(s source, d *draft) error {
	data, err := s.text(s.name)
	if err != nil {
		return err
	}
	d.title = firstText(path.Base(path.Dir(path.Dir(s.name))), "Issues")
	if d.title == "." {
		d.title = "Issues"
	}
	r := beadsReader{draft: d, epics: map[string]*item{}, parent: map[string]string{}}
	number, next := 0, 0
	for raw := range bytes.Lines(data) {
		number++
		text := bytes.TrimSpace(raw)
		offset := next + bytes.Index(raw, text)
		next += len(raw)
		if len(text) == 0 {
			continue
		}
		n, err := parseJSON(text)
		if err != nil {
			d.fail(number, "the line is no JSON object: %v", errors.Unwrap(err))
			continue
		}
		r.issue(n, number, offset)
	}
	r.children()
	return nil
}

// beadsReader gathers the issues.
type beadsReader struct {
	*draft

	epics  map[string]*item
	parent map[string]string // of an issue
}

// issue takes an issue, whose line begins at an offset.
func (r *beadsReader) issue(n *node, number, offset int) {
	it := &item{id: n.get("id").string(), line: number, title: n.get("title").string(), priority: normal}
	if status := n.get("status"); status != nil {
		it.state = edit{offset + status.from, offset + status.to, `"closed"`}
	}
	if it.id == "" {
		r.tell(number, "an issue without an id is left out")
		return
	}
	if p, err := strconv.Atoi(n.get("priority").string()); err == nil {
		it.priority = min(max(p, 0), 3)
	}
	for _, key := range []string{"description", "design", "notes"} {
		if text := strings.TrimSpace(plaintext.Clean(n.get(key).string())); text != "" {
			it.description = append(it.description, text)
		}
	}
	it.criteria = points([]string{plaintext.Clean(n.get("acceptance_criteria").string())})
	switch kind := n.get("issue_type").string(); kind {
	case "bug":
		it.kind = epic.KindBugfix
	case "chore":
		it.kind = epic.KindChore
	}
	if minutes, err := strconv.ParseFloat(n.get("estimated_minutes").string(), 64); err == nil && minutes > 0 {
		it.points = min(minutes/60, 1000)
	}
	switch status := n.get("status").string(); status {
	case "closed", "tombstone":
		it.done = true
	case "deferred", "pinned":
		it.left = true
		r.tell(number, it.id+" is "+status+", and left out")
	}
	r.dependencies(n, it)
	if n.get("issue_type").string() == "epic" {
		r.epics[it.id] = it
		return
	}
	r.items = append(r.items, it)
}

func (r *beadsReader) dependencies(n *node, it *item) {
	for _, dep := range n.get("dependencies").list() {
		on, kind := dep.get("depends_on_id").string(), dep.get("type").string()
		switch kind {
		case beadsParent:
			r.parent[it.id] = on
		case "", beadsBlocks, "conditional-blocks", "waits-for":
			if on != "" {
				it.after = append(it.after, reference{on, it.line})
			}
		}
	}
}

// children gives the issues of an epic what holds for it. One that waits for an epic waits for its children.
func (r *beadsReader) children() {
	under := map[string][]string{}
	for _, it := range r.items {
		seen := []string{it.id}
		for above := r.parent[it.id]; above != "" && !slices.Contains(seen, above); above = r.parent[above] {
			seen = append(seen, above)
			whole := r.epics[above]
			if whole == nil {
				continue
			}
			under[above] = append(under[above], it.id)
			it.after = append(it.after, whole.after...)
			if it.group == "" {
				it.group = groupName(above + " " + whole.title)
				it.description = append(it.description, strings.TrimSpace("Part of "+it.group+".\n\n"+strings.Join(whole.description, "\n\n")))
			}
		}
	}
	known := map[string]bool{}
	for _, it := range r.items {
		known[it.id] = true
		if it.group != "" && !slices.ContainsFunc(r.groups, func(g group) bool { return g.name == it.group }) {
			r.groups = append(r.groups, group{name: it.group})
		}
	}
	for _, it := range r.items {
		it.after = slices.DeleteFunc(wholes(it.after, under), func(ref reference) bool {
			if known[ref.id] || ref.id == it.id {
				return ref.id == it.id
			}
			if r.epics[ref.id] == nil && it.open() {
				r.tell(it.line, it.id+" waits for "+clip(ref.id, 60)+", which is not in the file")
			}
			return true
		})
	}
}
