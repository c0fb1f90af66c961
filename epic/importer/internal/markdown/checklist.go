package markdown

import (
	"strings"

	"relay/epic/pattern"
)

// Numbered matches an item of a checklist that begins with a number: 1. Title, 1.2 Title.
var Numbered = pattern.New(`^(\d+(?:\.\d+)*)[.)]?(\*?)\s+(.+)$`)

// Entry is one box of a checklist with what stands below it.
type Entry struct {
	Number   string // "" : it has none
	Title    string
	Line     Line
	Below    []Line // items and text that belong to it, not the boxes
	Optional bool
}

// Parent returns the number that an entry belongs to: 1 for 1.2; "" for 1.
func (e *Entry) Parent() string {
	i := strings.LastIndexByte(e.Number, '.')
	return e.Number[:max(i, 0)]
}

// Checklist takes the boxes out of some lines. Lines below a box and further in belong to it; it returns the rest.
func Checklist(list []Line) (entries []Entry, rest []Line) {
	var open []int // boxes in one another
	for _, l := range list {
		switch {
		case l.Kind == Item && l.Box != 0:
			e := Entry{Line: l, Title: l.Rest, Optional: l.Box == '*'}
			if m := Numbered.FindStringSubmatch(l.Rest); m != nil {
				e.Number, e.Title, e.Optional = m[1], m[3], e.Optional || m[2] != ""
			}
			for len(open) > 0 && entries[open[len(open)-1]].Line.Indent >= l.Indent {
				open = open[:len(open)-1]
			}
			open, entries = append(open, len(entries)), append(entries, e)
		default:
			for len(open) > 0 && l.Kind != Blank && l.Kind != Code && entries[open[len(open)-1]].Line.Indent >= l.Indent {
				open = open[:len(open)-1]
			}
			if len(open) == 0 {
				rest = append(rest, l)
				continue
			}
			last := &entries[open[len(open)-1]]
			last.Below = append(last.Below, l)
		}
	}
	return entries, rest
}
