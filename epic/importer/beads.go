package importer

import (
	"bytes"
	"errors"
	"path"
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
	r := tracker{draft: d, epics: map[string]*item{}, parent: map[string]string{}}
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

// issue takes an issue, whose line begins at an offset.
func (r *tracker) issue(n *node, number, offset int) {
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

func (r *tracker) dependencies(n *node, it *item) {
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
