package markdown

import (
	"cmp"
	"slices"
	"strings"

	"relay/epic/blueprint"
	"relay/epic/pattern"
)

var (
	stepHeading = pattern.New(`^(?i:(step|story|task|phase|part|milestone|stage|pr|slice)[ \t]+)?#?([0-9]{1,3}(?:\.[0-9]{1,3}){0,2}[A-Za-z]?)(?:[.):]|[ \t]+[–—-])[ \t]*(.+)$`)
	dottedStep  = pattern.New(`^((?i:(?:step|story|task|phase|part|milestone|stage|pr|slice)[ \t]+)?#?[0-9]{1,3}(?:\.[0-9]{1,3}){1,2}[a-z]?)[ \t]+([^\s–—-])`)
	stepItem    = pattern.New(`^([ \t]*)([0-9]{1,3})[.)][ \t]+(.+)$`)
	stepSection = pattern.New(`(?i)^\W*(?:\d+[.)]\s*)?(?:(?:the|detailed|implementation|proposed|required|execution|step-by-step|technical|recommended) )*(?:steps|plan|changes|phases|implementation|approach)(?: to [\w ]+)?\W*$`)
	stepAfter   = pattern.New(`(?i)^\W*(?:depends on|blocked by|dependencies)\W*?:\W*(.*)$`)
	stepRef     = pattern.New(`(?i)(?:\b(?:task|step|story|stories)s?\s*#?|^[\W_]*|,\s*|&\s*|\band\s+)(\d+(?:\.\d+)?[a-z]?)(?:\s*[-–—]\s*(\d+(?:\.\d+)?))?\b`)
	tableRule   = pattern.New(`^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+[ \t:-]*$`)
	rowNumber   = pattern.New(`^(?:[A-Za-z]+ )?#?(\d{1,3}(?:\.\d{1,3})*[A-Za-z]?)\b`)
	labelLine   = pattern.New(`^(?:\*\*[^*]+\*\*:?|[A-Z][A-Za-z ]{2,40}:)$`)
	provedBy    = pattern.New(`(?i)^\W*(?:done when|acceptance(?: criteria)?|exit criteria|success criteria|definition of done|verification|criteria)\b[^.]{0,30}$`)
)

// Steps returns the lines at which the steps of a plan begin: the numbered headings of a level and word that are the most, else the
// numbered list at the margin, or the headings, of a section of steps. Where boxes below numbered headings are the work, there are none.
func Steps(list []Line) []int {
	numbered, worded := numberedSteps(list)
	loose := freeBoxes(list)
	switch {
	case len(numbered) > 1 && (worded || !loose):
		return numbered
	case loose:
		return nil
	}
	return sectionSteps(list)
}

// numberedSteps returns the lines of numbered headings, and whether they are called tasks, stories or steps.
func numberedSteps(list []Line) (lines []int, worded bool) {
	type series struct {
		level int
		word  string
	}
	found := map[series][]int{}
	var best series
	rank := func(k series) int { // steps are parts of tasks
		return map[string]int{"task": 2, "story": 2, "step": 1}[k.word] * min(len(found[k])/2, 1)
	}
	beside := 7 // the level of the section beside the work
	for i, l := range list {
		if l.Kind != Heading || l.Level > beside {
			continue
		}
		beside = 7
		m := stepParts(l)
		if blueprint.IsAside(Unformatted(l.Rest)) || m != nil && blueprint.IsAside(m[3]) {
			beside = l.Level
			continue
		}
		if l.Level == 1 || m == nil {
			continue
		}
		k := series{l.Level, strings.ToLower(m[1])}
		if last := m[2][len(m[2])-1]; k.word == "" && last > '9' { // 1A
			k.word = "step"
		}
		if found[k] = append(found[k], i); cmp.Or(cmp.Compare(rank(k), rank(best)), cmp.Compare(len(found[k]), len(found[best]))) > 0 {
			best = k
		}
	}
	return found[best], rank(best) > 0
}

// sectionSteps returns the lines of the numbered list, or of the headings, in a section of steps.
func sectionSteps(list []Line) []int {
	section := 0
	var items, headings []int
	for i, l := range list {
		switch {
		case section > 0 && len(headings) == 0 && l.Kind == Item && l.Indent == 0 && stepItem.MatchString(l.Text):
			items = append(items, i)
		case section > 0 && l.Level == section+1:
			headings = append(headings, i)
		case l.Kind != Heading, section > 0 && l.Level > section:
		case len(items)+len(headings) > 0 || l.Level == 1 || !stepSection.MatchString(l.Rest):
			section = 0
		default:
			section = l.Level
		}
	}
	if len(items) > 0 {
		return items
	}
	return headings
}

// freeBoxes reports whether a text has boxes that are more than criteria.
func freeBoxes(list []Line) bool {
	proof, aside := false, false
	for _, l := range list {
		text := cmp.Or(l.Rest, l.Text)
		if l.Kind == Heading {
			aside = blueprint.IsAside(Unformatted(text))
		}
		switch {
		case l.Box != 0 && !proof && !aside:
			return true
		case provedBy.MatchString(text):
			proof = true
		case l.Kind == Heading, l.Kind == Plain && l.Indent == 0:
			proof = false
		}
	}
	return false
}

// Row is a row of a table with the column Status.
type Row struct {
	Number string // that its first cell begins with
	Line   int
	Done   bool
}

// Rows returns the rows of tables with the column Status.
func Rows(list []Line) (rows []Row) {
	status := -1
	for i, l := range list {
		cells := strings.Split(strings.Trim(l.Text, "| \t"), "|")
		switch {
		case l.Kind == Code || !strings.Contains(l.Text, "|"):
			status = -1
		case i+1 < len(list) && tableRule.MatchString(list[i+1].Text):
			status = slices.IndexFunc(cells, func(cell string) bool { return strings.EqualFold(strings.Trim(cell, " *"), "status") })
		case status >= 0 && status < len(cells) && !tableRule.MatchString(l.Text):
			if m := rowNumber.FindStringSubmatch(Unformatted(cells[0])); m != nil {
				rows = append(rows, Row{m[1], l.N, blueprint.SaysDone("status: " + strings.TrimSpace(cells[status]))})
			}
		}
	}
	return rows
}

// StepTitle returns the number of a step, if it has one, and its title.
func StepTitle(l Line) (number, title string) {
	m := stepParts(l)
	if l.Kind == Item {
		m = stepItem.FindStringSubmatch(l.Text)
	}
	if m == nil {
		return "", l.Rest
	}
	return m[2], m[3]
}

// stepParts returns the word, number and title of a numbered heading. A dotted number needs no mark behind it.
func stepParts(l Line) []string {
	return stepHeading.FindStringSubmatch(dottedStep.ReplaceAllString(Unformatted(l.Rest), "$1. $2"))
}

// Labelled makes headings of lines such as **Done when:**, and of the next such line behind one.
func Labelled(list []Line) []Line {
	inside := false
	for i := range list {
		l := &list[i]
		switch label := l.Kind == Plain && labelLine.MatchString(l.Text); {
		case label && (inside || blueprint.IsAside(l.Text)):
			inside = blueprint.IsAside(l.Text)
			l.Kind, l.Level, l.Rest = Heading, 6, l.Text
		case l.Kind == Heading:
			inside = false
		}
	}
	return list
}

// After returns what a line such as Depends on: Task 1 names; empty and not nil if it says that there is nothing.
func After(l Line) []Reference {
	switch m := stepAfter.FindStringSubmatch(cmp.Or(l.Rest, l.Text)); {
	case m == nil:
		return nil
	case Nothing.MatchString(m[1]):
		return []Reference{}
	default:
		return references(stepRef, m[1], l.N)
	}
}

// SplitSteps returns the steps that begin at some lines, and the other lines. A step ends where the next begins, or a heading that is not
// below it.
func SplitSteps(list []Line, starts []int) (steps []Section, rest []Line) {
	rest = append(rest, list[:starts[0]]...)
	for k, at := range starts {
		end := len(list)
		if k+1 < len(starts) {
			end = starts[k+1]
		}
		own := at + 1
		for own < end && !(list[own].Kind == Heading && (list[at].Kind != Heading || list[own].Level <= list[at].Level)) {
			own++
		}
		steps, rest = append(steps, Section{list[at], list[at+1 : own]}), append(rest, list[own:end]...)
	}
	return steps, rest
}
