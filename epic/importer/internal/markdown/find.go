package markdown

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"relay/epic/blueprint/names"
)

// sectionEnds returns for each heading the line behind its section.
func sectionEnds(list []Line) []int {
	end := make([]int, len(list))
	var open []int
	for i := 0; i <= len(list); i++ {
		for n := len(open); n > 0 && (i == len(list) || list[i].Kind == Heading && list[open[n-1]].Level >= list[i].Level); n-- {
			end[open[n-1]], open = i, open[:n-1]
		}
		if i < len(list) && list[i].Kind == Heading {
			open = append(open, i)
		}
	}
	return end
}

// taskLists stands for the headings that are called Tasks.
const taskLists = -2

// seriesKey is what the lines of a series have in common.
type seriesKey struct {
	place, parts, below int
	label               string
}

// finder gathers series. A line is in several: those of its label, of the heading it is below, and of its list. The judgement drops the
// wrong ones, so a finder may find too many.
type finder struct {
	list []Line
	at   []place
	end  []int // of sections
	by   map[seriesKey]*series
}

// seriesIn returns all series of at least two lines.
func seriesIn(list []Line, at []place, end []int) (found []*series) {
	f := finder{list, at, end, map[seriesKey]*series{}}
	for i, l := range list {
		if at[i].beside || l.Kind == Code || l.Kind == Blank {
			continue
		}
		f.labelled(i, l)
		if l.Kind == Heading && l.Level > 1 {
			f.children(i, l)
		}
		if l.Kind != Item && l.Indent == 0 && taskLabel.MatchString(cmp.Or(l.Rest, l.Text)) {
			f.listed(i)
		}
	}
	f.runs()
	f.merge()
	heading := headingsBehind(list)
	for _, s := range f.by {
		if len(s.at) > 1 {
			s.bound(list, end, heading)
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b *series) int {
		codesLast := strings.NewReplacer("?", "~")
		return cmp.Or(cmp.Compare(a.at[0], b.at[0]), cmp.Compare(a.place, b.place),
			strings.Compare(codesLast.Replace(a.label), codesLast.Replace(b.label)), cmp.Compare(len(b.at), len(a.at)))
	})
	return found
}

func (f *finder) add(k seriesKey, i int, l Label) *series {
	s := f.by[k]
	if s == nil {
		s = &series{place: k.place, label: k.label, parts: k.parts, below: k.below}
		f.by[k] = s
	}
	s.at, s.labels = append(s.at, i), append(s.labels, l)
	return s
}

// labelled adds a line to the series of its label.
func (f *finder) labelled(i int, l Line) {
	if l.Box != 0 && l.Indent <= 1 {
		f.add(seriesKey{asBox, 0, -1, ""}, i, Label{}).bare = true
	}
	place, text := titleIn(l)
	label, ok := labelOf(text)
	if place == 0 || !ok || place > 6 && label.Number == "" {
		return
	}
	k := seriesKey{place, 0, -1, label.Word}
	if label.Word == "" {
		k.parts = 1 + strings.Count(label.Number, ".")
	}
	f.add(k, i, label)
	if (place <= 6 || place == asRow) && isCode(label.Word) { // A1, A2, B1
		k.label = "?"
		f.add(k, i, label)
	}
}

// titleIn returns the place of a line in which a task may begin, 0 for others, and its title with its label.
func titleIn(l Line) (place int, title string) {
	bold, _, isBold := boldLabel(cmp.Or(l.Rest, strings.TrimSpace(l.Text)))
	switch {
	case l.Kind == Heading:
		return l.Level, l.Rest
	case l.Indent > 1:
		return 0, ""
	case l.Box != 0:
		return asItem, l.Rest
	case isBold:
		return asBold, bold
	case l.Kind == Item:
		return asItem, l.Rest
	case !strings.HasPrefix(l.Text, "|"):
		return 0, ""
	}
	cells := names.Cells(l.Text)
	id := Unformatted(cells[0])
	switch {
	case rowID.MatchString(id):
		return asRow, id + ": " + cells[min(1, len(cells)-1)]
	case Dotted(id):
		return asRow, id
	}
	return 0, ""
}

// runs makes a series of the longest run of numbered items at the margin that go on counting below other headings.
func (f *finder) runs() {
	var run, best []int
	sections, below := 0, -1
	for i, l := range f.list {
		if l.Kind == Heading {
			below = i
		}
		number := listNumber(l)
		if number == "" || f.at[i].beside {
			continue
		}
		if number != strconv.Itoa(len(run)+1) {
			run, sections = nil, 0
		}
		if number != strconv.Itoa(len(run)+1) {
			continue
		}
		if len(run) == 0 || run[len(run)-1] < below {
			sections++
		}
		run = append(run, i)
		if sections > 2 && len(run) > len(best) {
			best = slices.Clone(run)
		}
	}
	for _, i := range best {
		f.add(seriesKey{asItem, 0, taskLists - 1, ""}, i, Label{Title: f.list[i].Rest}).bare = true
	}
}

// listNumber returns the number of an item at the margin without a box.
func listNumber(l Line) string {
	m := stepItem.FindStringSubmatch(l.Text)
	if m == nil || l.Kind != Item || l.Indent > 0 || l.Box != 0 {
		return ""
	}
	return m[2]
}

// children adds the headings, or the numbered items, directly below a heading that means work.
func (f *finder) children(i int, l Line) {
	if !isWork(l.Rest) {
		return
	}
	direct := true
	for j := i + 1; j < f.end[i]; j++ {
		switch c := f.list[j]; {
		case f.at[j].beside:
		case c.Kind == Heading && c.Level == l.Level+1:
			f.add(seriesKey{c.Level, 0, i, ""}, j, Label{Title: c.Rest}).bare = true
			direct = false
		case c.Kind == Heading:
			direct = false
		case direct && c.Numbered && c.Indent == 0 && c.Box == 0:
			f.add(seriesKey{asItem, 0, i, ""}, j, Label{Title: c.Rest}).bare = true
		}
	}
}

// isWork reports whether a heading means work, and is none of several phases or tasks.
func isWork(heading string) bool {
	label, _ := labelOf(heading)
	title, _ := labelOf(label.Title)
	return label.Word == "" && words[lastWord(title.Word)] <= 0 && workName.MatchString(Unformatted(heading))
}

// listed adds the items of the list below a line that says Tasks.
func (f *finder) listed(i int) {
	for j := i + 1; j < len(f.list); j++ {
		switch l := f.list[j]; {
		case l.Kind == Heading, l.Kind == Plain && (l.Indent == 0 || taskLabel.MatchString(l.Text)):
			return
		case l.Kind == Item && l.Indent == 0 && l.Box == 0:
			f.add(seriesKey{asItem, 0, taskLists, ""}, j, Label{Title: l.Rest}).bare = true
		}
	}
}

// merge makes one series of the headings and bold lines of several levels that have one label.
func (f *finder) merge() {
	type counted struct {
		label string
		parts int
	}
	by := map[counted][]*series{}
	for k, s := range f.by {
		if s.place <= asBold && !s.bare && s.labels[0].Number != "" && k.label != "?" {
			c := counted{s.label, len(strings.FieldsFunc(s.labels[0].Number, isMark))}
			by[c] = append(by[c], s)
		}
	}
	for k, list := range by {
		if len(list) < 2 {
			continue
		}
		m := &series{place: asBold, label: k.label, parts: k.parts, below: -1}
		labels := map[int]Label{}
		for _, s := range list {
			m.place = min(m.place, s.place)
			for n, i := range s.at {
				labels[i] = s.labels[n]
			}
		}
		m.at = slices.Sorted(maps.Keys(labels))
		for _, i := range m.at {
			m.labels = append(m.labels, labels[i])
		}
		f.by[seriesKey{m.place, k.parts, taskLists, k.label}] = m
	}
}

func isMark(r rune) bool { return r == '.' || r == '-' || r == '_' }

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// headingsBehind returns for each line the next heading.
func headingsBehind(list []Line) []int {
	next, at := make([]int, len(list)), len(list)
	for i := len(list) - 1; i >= 0; i-- {
		if next[i] = at; list[i].Kind == Heading {
			at = i
		}
	}
	return next
}
