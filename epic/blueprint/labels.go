package blueprint

import (
	"strconv"

	"relay/epic/blueprint/internal/inline"
	"relay/epic/blueprint/internal/names"
	"relay/epic/pattern"
)

// label is an id of any form and the title behind it: WP-A Title, [W1-B]: Title, PR-25.5a · Title.
var label = pattern.New(`^\[?(([A-Za-z]{1,12})(?:[-_.]?[0-9]{1,4}[a-z]?|[-_][A-Z]){1,4})(?:\]?[ \t]*[:：.)·•–—-]+[ \t]*|\]?[ \t]+)(\S.*)$`)

// countLabels counts the ids of each form in the headings of a level.
func countLabels(p *parser, blocks []block) {
	p.labels = map[string]int{}
	for _, b := range blocks {
		if m := label.FindStringSubmatch(headText(b.text)); m != nil {
			p.labels[strconv.Itoa(b.level)+m[2]]++
		}
	}
}

// labelled returns the id and the title of a heading whose id has the form of others of its level.
func labelled(p *parser, b *block) (id, title string, ok bool) {
	m := label.FindStringSubmatch(headText(b.text))
	if m == nil || p.labels[strconv.Itoa(b.level)+m[2]] < 2 {
		return "", "", false
	}
	return names.ID(m[1]), inline.Plain(m[3]), true
}
