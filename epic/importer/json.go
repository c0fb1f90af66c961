package importer

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"relay/epic/importer/internal/placed"
)

// json reads a file of the plan.
func (s source) json(d *draft) (*placed.Node, error) {
	data, err := s.text(s.name)
	if err != nil {
		return nil, err
	}
	n, err := placed.Parse(data, 1)
	if wrong, ok := errors.AsType[*placed.Error](err); ok {
		d.fail(wrong.Line, "%v", wrong.Err)
	}
	return n, err
}

// object reads the plan for a claim on it; nil when it is no JSON.
func (s source) object() *placed.Node {
	data, err := s.text(s.name)
	if path.Ext(s.name) != ".json" || err != nil {
		return nil
	}
	n, err := placed.Parse(data, 1)
	if err != nil {
		return nil
	}
	return n
}

// describe takes some fields of the object that an item is into its description.
func (it *item) describe(keys ...string) {
	for _, key := range keys {
		it.say(it.node.Get(key).Prose())
	}
}

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
			d.tell(dep.Line, "this is no id, so "+clip(it.id, 60)+" does not wait for it")
		}
	}
}

// mostNames bounds the fields that are named.
const mostNames = 20

// unread names the fields of objects that nobody has asked for, once each.
func (d *draft) unread(objects ...*placed.Node) {
	var names []string
	line := 0
	known := map[string]bool{}
	for _, n := range objects {
		for i, v := range n.Values {
			if v.Used || !v.Says() || known[n.Keys[i]] {
				continue
			}
			known[n.Keys[i]] = true
			names = append(names, clip(n.Keys[i], 40))
			if line == 0 || v.Line < line {
				line = v.Line
			}
		}
	}
	if len(names) > mostNames {
		names = append(names[:mostNames], fmt.Sprintf("and %d more", len(names)-mostNames))
	}
	if len(names) > 0 {
		d.tell(line, "agents are not told the fields "+strings.Join(names, ", "))
	}
}

// becomes returns what replaces a scalar; its zero value when there is none.
func becomes(n *placed.Node, text string) edit {
	if n == nil || n.Kind >= placed.Array {
		return edit{}
	}
	return edit{n.From, n.To, text}
}
