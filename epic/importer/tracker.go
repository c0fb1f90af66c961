package importer

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"relay/epic/importer/internal/markdown"
)

// tracker gathers the issues of a tracker, which may be parts of others.
type tracker struct {
	d *draft

	epics  map[string]*item  // issues that are only the group of their children
	parent map[string]string // of an issue
}

// maxAbove bounds how deep issues are parts of one another.
const maxAbove = 20

// above returns the epics that an issue is a part of, the nearest first.
func (r *tracker) above(id string) (list []*item) {
	for range maxAbove {
		if id = r.parent[id]; id == "" {
			break
		}
		if whole := r.epics[id]; whole != nil && !slices.Contains(list, whole) {
			list = append(list, whole)
		}
	}
	return list
}

// children gives the issues of an epic what holds for it. One that waits for an epic waits for its children; an open epic without
// children is a task itself.
func (r *tracker) children() {
	under := map[string][]*item{}
	groups := map[string][]*item{} // by the nearest epic
	for _, it := range r.d.items {
		for i, whole := range r.above(it.id) {
			under[whole.id] = append(under[whole.id], it)
			r.d.waits(it, whole.after)
			if i == 0 {
				it.group = markdown.GroupName(whole.id + " " + whole.title)
				groups[whole.id] = append(groups[whole.id], it)
			}
		}
	}
	wholes := slices.SortedFunc(maps.Values(r.epics), func(a, b *item) int { return cmp.Or(a.line-b.line, strings.Compare(a.id, b.id)) })
	for _, whole := range wholes {
		switch parts := under[whole.id]; {
		case len(parts) == 0 && whole.open():
			r.d.items = append(r.d.items, whole)
		case whole.open() && lastOpen(parts) == nil:
			r.d.tell(whole.line, markdown.Clip(whole.id, 60)+" is open, and all of its parts are done: it is left out")
		}
	}
	for _, whole := range wholes {
		r.d.share(groups[whole.id], "Part of "+markdown.GroupName(whole.id+" "+whole.title), strings.Join(whole.description, "\n\n"))
	}
	slices.SortStableFunc(r.d.items, func(a, b *item) int { return cmp.Compare(a.line, b.line) })
	r.references(under)
}

// references settles what the issues wait for, given those that each epic consists of.
func (r *tracker) references(under map[string][]*item) {
	known := map[string]bool{}
	for _, it := range r.d.items {
		known[it.id] = true
	}
	for _, it := range r.d.items {
		r.d.wholes(it, under)
		it.after = slices.DeleteFunc(it.after, func(ref reference) bool {
			if known[ref.id] || ref.id == it.id {
				return ref.id == it.id
			}
			if r.epics[ref.id] == nil && it.open() {
				r.d.tell(it.line, it.id+" waits for "+markdown.Clip(ref.id, 60)+", which is not among these issues")
			}
			return true
		})
	}
}

// wholes has an item wait for the parts of a whole in the place of the whole itself; of its own one for those before it.
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
			if sub == it {
				break
			}
			list = append(list, reference{sub.id, ref.line, sub})
		}
		d.waits(it, list)
	}
}
