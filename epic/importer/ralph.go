package importer

import (
	"cmp"
	"path"
	"slices"
	"strconv"

	"relay/epic/importer/internal/markdown"
	"relay/epic/importer/internal/placed"
)

func claimsRalph(s source) bool {
	return path.Ext(s.name) == ".json" && s.root.Get("userStories", "stories") != nil
}

// readRalph reads prd.json. Stories wait for those they depend on; where no story says, each waits for the one before it by priority.
func readRalph(s source, d *draft) {
	root := s.root
	description := root.Get("description").Prose()
	d.title = cmp.Or(root.Get("project", "name", "productName").String(), markdown.Clip(description, maxTitle), "Stories")
	d.description = slices.DeleteFunc([]string{description, root.Get("context").Prose()}, func(text string) bool { return text == "" })
	if commands := root.Get("verificationCommands"); commands != nil && commands.Kind == placed.Object {
		for _, v := range commands.Values {
			if run := v.String(); run != "" && !slices.Contains(d.checks, run) {
				d.checks = append(d.checks, run)
			}
		}
	}
	orders := false
	places := map[*item]int{}
	for _, n := range root.Get("userStories", "stories").List() {
		it := d.object(n, "a story")
		if it == nil {
			continue
		}
		passes, on := n.Get("passes"), n.Get("dependsOn", "dependencies", "depends_on")
		it.criteria, it.state = n.Get("acceptanceCriteria", "acceptance_criteria").Strings(), becomes(passes, "true")
		it.done = passes != nil && passes.Kind == placed.True
		it.describe("description", "notes")
		d.after(it, on)
		orders = orders || on != nil
		places[it] = 1 << 30
		if p, err := strconv.Atoi(n.Get("priority").String()); err == nil {
			places[it] = p
		}
		d.items = append(d.items, it)
	}
	d.unread(false, root)
	if !orders {
		slices.SortStableFunc(d.items, func(a, b *item) int { return cmp.Compare(places[a], places[b]) })
		d.chain(d.items)
	}
}
