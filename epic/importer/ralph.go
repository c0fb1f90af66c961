package importer

import (
	"cmp"
	"slices"
	"strconv"

	"relay/epic/importer/internal/placed"
)

// ralph reads prd.json. Stories wait for those they depend on; where no story says, each waits for the one before it by priority.
func ralph() Format {
	return Format{
		Name: "ralph", Tool: "ralph",
		Files:  []string{"scripts/ralph/prd.json", "ralph/prd.json", "prd.json"},
		claims: claimsRalph, read: readRalph,
	}
}

func claimsRalph(s source) bool { return s.object().Get("userStories") != nil }

func readRalph(s source, d *draft) error {
	root, err := s.json(d)
	if err != nil {
		return err
	}
	description := root.Get("description").Prose()
	d.title = firstText(root.Get("project", "name", "productName").String(), clip(description, maxTitle), "Stories")
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
		it := d.story(n)
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
	d.unread(objects...)
	if !orders {
		slices.SortStableFunc(d.items, func(a, b *item) int { return cmp.Compare(places[a], places[b]) })
		d.chain(0)
	}
	return nil
}

func (d *draft) story(n *placed.Node) *item {
	id := n.Get("id").String()
	if id == "" {
		d.tell(n.Line, "a story without an id is left out")
		return nil
	}
	it := &item{
		id: id, node: n, line: n.Line, priority: normal, criteria: n.Get("acceptanceCriteria").Strings(),
		title: firstText(n.Get("title").String(), clip(n.Get("description").String(), maxTitle)),
		done:  n.Get("passes") != nil && n.Get("passes").Kind == placed.True, state: becomes(n.Get("passes"), "true"),
	}
	it.describe("description", "notes")
	d.after(it, n.Get("dependsOn"))
	return it
}
