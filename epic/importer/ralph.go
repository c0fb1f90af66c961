package importer

import (
	"cmp"
	"path"
	"slices"
	"strconv"

	"relay/internal/plaintext"
)

// ralph reads prd.json. Stories wait for those they depend on; where no story says, each waits for the one before it by priority.
func ralph() Format {
	return Format{
		Name: "ralph", Tool: "ralph",
		Files:  []string{"scripts/ralph/prd.json", "ralph/prd.json", "prd.json"},
		claims: claimsRalph, read: readRalph,
	}
}

func claimsRalph(s source) bool {
	if path.Ext(s.name) != ".json" {
		return false
	}
	data, err := s.text(s.name)
	if err != nil {
		return false
	}
	root, err := parseJSON(data)
	return err == nil && root.get("userStories") != nil
}

func readRalph(s source, d *draft) error {
	root, err := s.json(d)
	if err != nil {
		return err
	}
	description := plaintext.Clean(root.get("description").string())
	d.title = firstText(root.get("project", "name", "productName").string(), clip(description, maxTitle), "Stories")
	for _, text := range []string{description, plaintext.Clean(root.get("context").string())} {
		if text != "" {
			d.description = append(d.description, text)
		}
	}
	if commands := root.get("verificationCommands"); commands != nil && commands.kind == jsonObject {
		for _, v := range commands.values {
			if run := v.string(); run != "" && !slices.Contains(d.checks, run) {
				d.checks = append(d.checks, run)
			}
		}
	}
	orders := false
	places := map[*item]int{}
	for _, n := range root.get("userStories").list() {
		it := d.story(n)
		if it == nil {
			continue
		}
		orders = orders || n.get("dependsOn") != nil
		places[it] = 1 << 30
		if p, err := strconv.Atoi(n.get("priority").string()); err == nil {
			places[it] = p
		}
		d.items = append(d.items, it)
	}
	if !orders {
		slices.SortStableFunc(d.items, func(a, b *item) int { return cmp.Compare(places[a], places[b]) })
		d.chain(0)
	}
	return nil
}

func (d *draft) story(n *node) *item {
	id := n.get("id").string()
	if id == "" {
		d.tell(n.line, "a story without an id is left out")
		return nil
	}
	it := &item{
		id: id, line: n.line, priority: normal, criteria: n.get("acceptanceCriteria").strings(),
		title: firstText(n.get("title").string(), clip(n.get("description").string(), maxTitle)),
		done:  n.get("passes") != nil && n.get("passes").kind == jsonTrue, state: n.get("passes").becomes("true"),
	}
	for _, key := range []string{"description", "notes"} {
		if text := plaintext.Clean(n.get(key).string()); text != "" {
			it.description = append(it.description, text)
		}
	}
	for _, dep := range n.get("dependsOn").list() {
		if on := dep.string(); on != "" {
			it.after = append(it.after, reference{on, dep.line})
		}
	}
	return it
}
