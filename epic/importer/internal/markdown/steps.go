package markdown

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"relay/epic/blueprint"
	"relay/epic/blueprint/names"
	"relay/epic/pattern"
)

var (
	stepItem   = pattern.New(`^([ \t]*)([0-9]{1,3})[.)][ \t]+(.+)$`)
	statusCell = pattern.New(`(?i)^[^\pL\d]*(?:status|state|done)[^\pL\d]*$`)
	labelLine  = pattern.New(`^(?:\*\*[^*]+\*\*:?|[A-Z][A-Za-z ]{2,40}:)$`)
)

// Steps returns the lines at which the tasks of a plan begin: the series of headings, bold lines, items or rows that is one most likely.
// There are none where boxes are the work.
func Steps(list []Line) []int {
	at := outline(Labelled(slices.Clone(list)))
	found := judge(list, at)
	if len(found) == 0 || found[0].place == asBox || found[0].sortsBoxes(list, at) {
		return nil
	}
	boxes := slices.DeleteFunc(slices.Clone(found[0].at), func(i int) bool { return list[i].Box == 0 })
	if 2*len(boxes) > len(found[0].at) {
		return nil
	}
	starts := found[0].join(list, at)
	steps, rest := SplitSteps(slices.Clone(list), starts)
	if !slices.ContainsFunc(steps, func(s Step) bool { return !s.Done }) && boxesIn(rest) { // what was done, beside a checklist
		return nil
	}
	return starts
}

// AreTasks reports whether lines are headings such as Task 1: Title, which hold all open boxes.
func AreTasks(list []Line, starts []int) bool {
	if len(starts) < 2 {
		return false
	}
	_, rest := SplitSteps(list, starts)
	l, _ := labelOf(list[starts[0]].Rest)
	return !boxesIn(rest) && list[starts[0]].Kind == Heading && words[lastWord(l.Word)] == ofTask
}

// boxesIn reports whether an open box is work.
func boxesIn(list []Line) bool {
	return slices.ContainsFunc(Cut(list, 0), func(part Section) bool {
		return !part.Beside && slices.ContainsFunc(part.Body, func(l Line) bool { return l.Box == ' ' })
	})
}

// place is where a line stands.
type place struct {
	beside bool // in a section beside the work
	inside bool // below a heading that means work
}

// outline returns where the lines of a text stand.
func outline(list []Line) []place {
	at := make([]place, len(list))
	beside, work := 7, 0 // levels
	for i, l := range list {
		if l.Kind != Heading {
			at[i] = place{beside < 7, work > 0}
			continue
		}
		if l.Level <= work {
			work = 0
		}
		if l.Level <= beside {
			beside = 7
		}
		name := Unformatted(l.Rest)
		label, _ := labelOf(l.Rest)
		if beside == 7 && (blueprint.IsAside(name) || label.Word == "" && blueprint.IsAside(label.Title)) {
			beside = l.Level
		}
		at[i] = place{beside < 7, work > 0}
		if work == 0 && l.Level > 1 && workName.MatchString(name) {
			work = l.Level
		}
	}
	return at
}

// Rows takes from tables with the column Status which steps are done. It returns the lines of open rows that are no step.
func Rows(list []Line, steps []Step) (other []int) {
	known, byID := called(steps)
	status := -1
	for i, l := range list {
		cells := names.Cells(l.Text)
		switch {
		case l.Kind == Code || !strings.Contains(l.Text, "|"):
			status = -1
		case i+1 < len(list) && names.TableRule.MatchString(list[i+1].Text):
			status = slices.IndexFunc(cells, statusCell.MatchString)
		case status >= 0 && status < len(cells):
			done := blueprint.SaysDone("status: " + cells[status])
			at := slices.IndexFunc(cells, func(cell string) bool { return known.Find(cell) != nil })
			if at >= 0 && done {
				byID[known.Find(cells[at])[0]].Done = true
			} else if label, _ := labelOf(cells[0]); at < 0 && !done && label.Number != "" {
				other = append(other, l.N)
			}
		}
	}
	return other
}

// boldLabel returns the title that a line has in bold, if it begins with a label that has a number, and the text behind it. A few more
// words are of the title.
func boldLabel(text string) (title, rest string, ok bool) {
	m := boldTitle.FindStringSubmatch(text)
	if m == nil {
		return "", "", false
	}
	title, rest = strings.TrimRight(m[1], ":："), strings.TrimSpace(text[len(m[0]):])
	l, _ := labelOf(title)
	first, _ := utf8.DecodeRuneInString(rest)
	if l.Title == plainTitle(title) || len(rest) < 60 && strings.ContainsRune("-:(–—", first) {
		title, rest = Unformatted(text), ""
	}
	return title, rest, l.Number != ""
}

// StepTitle returns the label of a step, with an id if it has one, and its title.
func StepTitle(l Line) Label {
	text := cmp.Or(l.Rest, l.Text)
	cells := names.Cells(l.Text)
	switch bold, _, ok := boldLabel(text); {
	case l.Kind != Plain && ok:
		text = bold
	case l.Kind == Item && l.Numbered:
		if m := stepItem.FindStringSubmatch(l.Text); m != nil {
			return Label{Number: m[2], ID: m[2], Title: m[3]}
		}
	case l.Kind == Plain && strings.HasPrefix(l.Text, "|") && rowID.MatchString(Unformatted(cells[0])):
		text = Unformatted(cells[0]) + ": " + cells[min(1, len(cells)-1)]
	case l.Kind == Plain && strings.HasPrefix(l.Text, "|"):
		text = cells[0]
	}
	label, ok := labelOf(strings.TrimRight(text, ":："))
	if !ok || l.Kind == Heading && label.Number == "" && words[label.Word] == 0 {
		return Label{Title: Unformatted(text)}
	}
	return label
}

var elementName = pattern.New(`<(?:name|what-built)>\s*(?:Task \d+:\s*)?(.*?)\s*(?:\n|</)`)

// Elements makes headings of lines with <task …>, whose names are below, and returns where they are.
func Elements(list []Line) (starts []int) {
	for i := range list {
		l := &list[i]
		if !strings.Contains(l.Text, "<task ") {
			continue
		}
		starts = append(starts, i)
		l.Kind, l.Level, l.Rest = Heading, 3, fmt.Sprintf("Task %d", len(starts))
		if name := elementName.FindStringSubmatch(Join(list[i+1 : min(i+5, len(list))])); name != nil {
			l.Rest += ": " + name[1]
		}
	}
	return starts
}

// LabelLevel is the level of lines that [Labelled] makes headings of.
const LabelLevel = 6

// Labelled makes headings of lines such as **Done when:**, and of the next such line behind one.
func Labelled(list []Line) []Line {
	inside := false
	for i := range list {
		l := &list[i]
		switch label := l.Kind == Plain && labelLine.MatchString(l.Text); {
		case label && (inside || blueprint.IsAside(l.Text) || blueprint.IsDone(l.Text)):
			inside = blueprint.IsAside(l.Text) || blueprint.IsDone(l.Text)
			l.Kind, l.Level, l.Rest = Heading, LabelLevel, l.Text
		case l.Kind == Heading:
			inside = false
		}
	}
	return list
}
