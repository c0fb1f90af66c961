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
	return path.Ext(s.name) == ".json" && s.root.Get("userStories") != nil
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
	orders, objects := false, []*placed.Node{root}
	places := map[*item]int{}
	for _, n := range root.Get("userStories").List() {
		it := ralphStory(d, n)
		if it == nil {
			continue
		}
		orders = orders || n.Get("dependsOn") != nil
		if it.open() {
			objects = append(objects, n)
		}
		places[it] = 1 << 30
		if p, err := strconv.Atoi(n.Get("priority").String()); err == nil {
			places[it] = p
		}
		d.items = append(d.items, it)
	}
	d.unread(false, objects...)
	if !orders {
		slices.SortStableFunc(d.items, func(a, b *item) int { return cmp.Compare(places[a], places[b]) })
		d.chain(d.items)
	}
}

func ralphStory(d *draft, n *placed.Node) *item {
	id := n.Get("id").String()
	if id == "" {
		d.tell(n.Line, "a story without an id is left out")
		return nil
	}
	it := &item{
		id: id, node: n, line: n.Line, priority: normal, criteria: n.Get("acceptanceCriteria").Strings(),
		title: cmp.Or(n.Get("title").String(), markdown.Clip(n.Get("description").String(), maxTitle)),
		done:  n.Get("passes") != nil && n.Get("passes").Kind == placed.True, state: becomes(n.Get("passes"), "true"),
	}
	it.describe("description", "notes")
	d.after(it, n.Get("dependsOn"))
	return it
}
