package importer

import (
	"slices"
	"strings"
)

// tracker gathers the issues of a tracker, which may be parts of others.
type tracker struct {
	*draft

	epics  map[string]*item  // issues that are only the group of their children
	parent map[string]string // of an issue
}

// children gives the issues of an epic what holds for it. One that waits for an epic waits for its children.
func (r *tracker) children() {
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
				r.tell(it.line, it.id+" waits for "+clip(ref.id, 60)+", which is not among these issues")
			}
			return true
		})
	}
}
