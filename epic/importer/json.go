package importer

import (
	"fmt"
	"slices"
	"strings"

	"relay/epic/importer/internal/markdown"
	"relay/epic/importer/internal/placed"
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

// mostNames bounds the fields that are named.
const mostNames = 20

// unread names the fields of objects, and of those of open items, that no reader has used, once each, in their order or sorted.
func (d *draft) unread(sorted bool, objects ...*placed.Node) {
	var names []string
	line := 0
	known := map[string]bool{}
	for _, it := range d.items {
		if it.open() {
			objects = append(objects, it.node)
		}
	}
	for _, n := range objects {
		for i, v := range n.Values[:len(n.Keys)] {
			if v.Used || !v.Says() || known[n.Keys[i]] {
				continue
			}
			known[n.Keys[i]] = true
			names = append(names, markdown.Clip(n.Keys[i], 40))
			if line == 0 || v.Line < line {
				line = v.Line
			}
		}
	}
	if sorted {
		slices.Sort(names)
	}
	if len(names) > mostNames {
		names = append(names[:mostNames], fmt.Sprintf("and %d more", len(names)-mostNames))
	}
	if len(names) > 0 {
		d.tell(line, "briefs leave out the fields "+strings.Join(names, ", "))
	}
}
