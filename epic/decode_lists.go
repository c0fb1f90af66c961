package epic

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// trimmed takes the line break off that a title written as a block ends in.
func trimmed(s string) string { return strings.TrimSpace(s) }

func (r *reader) checks(n *yaml.Node, at *[]Place) []Check {
	nodes := r.list(n, "checks")
	if len(nodes) == 0 {
		return nil
	}
	checks := make([]Check, 0, len(nodes))
	for _, item := range nodes {
		c, before := Check{Expect: ExpectPass}, r.count()
		if resolve(item).Kind == yaml.MappingNode {
			r.itemKey.reset(checkKeys)
			r.mapping(item, &r.itemKey, "the check", func(key string, value *yaml.Node, _ Place) {
				r.checkKey(&c, key, value)
			})
			if c.Run == "" && r.count() > before {
				c.Run = unreadable
			}
		} else if s, ok := r.text(item, "a check"); ok {
			c.Run = s
		} else {
			c.Run = unreadable
		}
		if c.Name == "" {
			c.Name = c.Run
		}
		checks = append(checks, c)
		*at = append(*at, r.placeOf(item))
	}
	return checks
}

func (r *reader) checkKey(c *Check, key string, value *yaml.Node) {
	switch key {
	case "name":
		c.Name = r.optional(value, key, "")
	case "run":
		c.Run = r.optional(value, key, unreadable)
	case "timeout_minutes":
		c.Timeout = r.minutes(value, key)
	case "expect":
		if s := r.optional(value, key, ""); s != "" {
			c.Expect = Expect(s)
		}
	}
}

func (r *reader) criteria(n *yaml.Node, at *[]Place) []Criterion {
	nodes := r.list(n, "acceptance_criteria")
	if len(nodes) == 0 {
		return nil
	}
	criteria := make([]Criterion, 0, len(nodes))
	for _, item := range nodes {
		var c Criterion
		before := r.count()
		if resolve(item).Kind == yaml.MappingNode {
			r.itemKey.reset(criterionKeys)
			r.mapping(item, &r.itemKey, "the acceptance criterion", func(key string, value *yaml.Node, _ Place) {
				if key == "text" {
					c.Text = r.optional(value, key, unreadable)
				} else {
					c.Check = r.optional(value, key, "")
				}
			})
			if c.Text == "" && r.count() > before {
				c.Text = unreadable
			}
		} else if s, ok := r.text(item, "an acceptance criterion"); ok {
			c.Text = s
		} else {
			c.Text = unreadable
		}
		criteria = append(criteria, c)
		*at = append(*at, r.placeOf(item))
	}
	return criteria
}

func (r *reader) groups(n *yaml.Node) {
	for _, item := range r.list(n, "parallelization") {
		at := groupPlaces{whole: r.placeOf(item)}
		if resolve(item).Kind != yaml.MappingNode {
			r.add(at.whole, "write - group: NAME, with tasks: and blocked_by: below it", "a group must be a mapping, not %s", kindOf(resolve(item)))
			continue
		}
		var g Group
		r.itemKey.reset(groupKeys)
		r.mapping(item, &r.itemKey, "the group", func(key string, value *yaml.Node, _ Place) {
			switch key {
			case "group":
				g.Name = r.optional(value, key, unreadable)
			case "tasks":
				g.Tasks = r.texts(value, key, &at.members)
			case "blocked_by":
				g.BlockedBy = r.texts(value, key, &at.blockedBy)
			}
		})
		r.epic.Groups = append(r.epic.Groups, g)
		r.groupAt = append(r.groupAt, at)
	}
}
