package importer

import (
	"slices"
	"strings"

	"relay/epic/each"
	"relay/epic/importer/internal/markdown"
	"relay/epic/importer/internal/placed"
	"relay/epic/plaintext"
)

// after takes the ids that an item waits for: a list, or a text with commas.
func (d *draft) after(it *item, n *placed.Node) {
	for on := range strings.SplitSeq(n.String(), ",") {
		if on = strings.TrimSpace(on); on != "" {
			it.after = append(it.after, reference{id: on, line: n.Line})
		}
	}
	for _, dep := range n.List() {
		if on := dep.String(); on != "" {
			it.after = append(it.after, reference{id: on, line: dep.Line})
		} else if dep.Says() {
			d.tell(dep.Line, "this is not an id, so "+markdown.Clip(it.id, 60)+" does not wait for it")
		}
	}
}

// unread names the fields of objects, and of those of open items, that no reader has used, in their order or sorted.
func (d *draft) unread(sorted bool, objects ...*placed.Node) {
	open := each.Where(d.items, func(it *item) (*placed.Node, bool) { return it.node, it.open() })
	names, line := placed.Unread(append(objects, open...))
	for i, name := range names {
		names[i] = markdown.Clip(name, 40)
	}
	if sorted {
		slices.Sort(names)
	}
	if len(names) > 0 {
		d.tell(line, "briefs leave out the fields "+plaintext.Some(names, 20))
	}
}
