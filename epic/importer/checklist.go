package importer

import (
	"strings"

	"relay/epic/pattern"
)

// numbered is an item of a checklist that begins with a number: 1. Title, 1.2 Title.
var numberedItem = pattern.New(`^(\d+(?:\.\d+)*)[.)]?(\*?)\s+(.+)$`)

// entry is one box of a checklist with what stands below it.
type entry struct {
	number   string // "" : it has none
	title    string
	line     line
	below    []line // items and text that belong to it, not the boxes
	optional bool
}

// parent returns the number that an entry belongs to: 1 for 1.2; "" for 1.
func (e *entry) parent() string {
	i := strings.LastIndexByte(e.number, '.')
	return e.number[:max(i, 0)]
}

// checklist takes the boxes out of some lines. Lines below a box and further in belong to it; it returns the rest.
func checklist(list []line) (entries []entry, rest []line) {
	var open []int // boxes in one another
	for _, l := range list {
		switch {
		case l.kind == itemLine && l.box != 0:
			e := entry{line: l, title: l.rest, optional: l.box == '*'}
			if m := numberedItem.FindStringSubmatch(l.rest); m != nil {
				e.number, e.title, e.optional = m[1], m[3], e.optional || m[2] != ""
			}
			for len(open) > 0 && entries[open[len(open)-1]].line.indent >= l.indent {
				open = open[:len(open)-1]
			}
			open, entries = append(open, len(entries)), append(entries, e)
		default:
			for len(open) > 0 && l.kind != blankLine && l.kind != codeLine && entries[open[len(open)-1]].line.indent >= l.indent {
				open = open[:len(open)-1]
			}
			if len(open) == 0 {
				rest = append(rest, l)
				continue
			}
			last := &entries[open[len(open)-1]]
			last.below = append(last.below, l)
		}
	}
	return entries, rest
}

// chain makes items wait for the one before, as they stand; apart: for the one before in their group.
func (d *draft) chain(items []*item, apart bool) {
	before := map[string]*item{}
	for _, it := range items {
		key := ""
		if apart {
			key = it.group
		}
		if b := before[key]; b != nil {
			it.follow(b)
		}
		if it.open() {
			before[key] = it
		}
	}
}
