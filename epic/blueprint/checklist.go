package blueprint

import (
	"slices"
	"strings"

	"relay/epic/blueprint/inline"
)

// readChecklist makes a task of every open box. It reports false when the block is not a list with boxes.
func readChecklist(p *parser, b *block) bool {
	if b.kind != list || !slices.ContainsFunc(b.first(), line.boxed) {
		return false
	}
	for k := range b.items {
		checklistItem(p, &b.items[k])
	}
	return true
}

func checklistItem(p *parser, i *item) {
	if len(i.lines) == 0 {
		return
	}
	text, checked, boxed := inline.Checkbox(i.lines[0].text)
	at := i.lines[0].place()
	if !boxed || checked {
		list := &p.done
		if !boxed {
			list = &p.epicDesc
		}
		*list = append(*list, strings.TrimLeft(i.raw, "\n"))
		return
	}
	for _, l := range i.lines[1:] {
		text += " " + l.text
	}
	id, title, ok := head(text, false)
	if !ok || !strings.ContainsAny(id, "0123456789") {
		id, title = "", inline.Plain(text)
	} else if title == "" && !strings.HasSuffix(text, ":") { // task 3 says enough
		title = inline.Plain(text)
	}
	if title == "" {
		p.add(at, "write - [ ] and a few words", "the task has no title")
		title = unreadable
	}
	p.begin(id, title, listed, at)
	p.cur.draft.end = at.Line + len(i.behind)
	p.cur.lines(i.behind, nil)
	for k := range i.children {
		p.cur.block(&i.children[k])
	}
	p.close()
}
