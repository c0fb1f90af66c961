package markdown

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"relay/epic/blueprint"
	"relay/epic/pattern"
)

var (
	stepHeading = pattern.New(`^(?i:(step|story|task|phase|part|milestone|stage|sprint|pr|slice)[ \t]+)?#?([0-9]{1,3}(?:[.-][0-9]{1,3}){0,2}[A-Za-z]?)(?:[.):]|[ \t]+[–—-])[ \t]*(.+)$`)
	dottedStep  = pattern.New(`^((?i:(?:step|story|task|phase|part|milestone|stage|pr|slice)[ \t]+)?#?[0-9]{1,3}(?:\.[0-9]{1,3}){1,2}[a-z]?)[ \t]+([^\s–—-])`)
	stepItem    = pattern.New(`^([ \t]*)([0-9]{1,3})[.)][ \t]+(.+)$`)
	stepSection = pattern.New(`(?i)^\W*(?:\d+[.)]\s*)?(?:(?:the|[a-z-]*ed|implementation|execution|step-by-step|technical|development|migration|rehearsal|delivery|task|work) )*(?:steps|guide|plan|changes|phases|implementation|approach)(?: to [\w ]+)?\W*$`)
	stepAfter   = pattern.New(`(?i)^\W*(?:depends on|blocked by|dependencies)\W*?:\W*(.*)$`)
	stepRef     = pattern.New(`(?i)(?:\b(?:task|step|story|stories)s?\s*#?|^[\W_]*|,\s*|&\s*|\band\s+)(\d+(?:\.\d+)?[a-z]?)(?:\s*[-–—]\s*(\d+(?:\.\d+)?))?\b`)
	dashed      = pattern.New(`\b\d+-\d+\b`)
	tableRule   = pattern.New(`^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+[ \t:-]*$`)
	statusCell  = pattern.New(`(?i)^\W*(?:status|state|done)\W*$`)
	rowNumber   = pattern.New(`^(?:[A-Za-z]+ )?#?(\d{1,3}(?:\.\d{1,3})*[A-Za-z]?)\b`)
	labelLine   = pattern.New(`^(?:\*\*[^*]+\*\*:?|[A-Z][A-Za-z ]{2,40}:)$`)
	taskLabel   = pattern.New(`(?i)^\W*(?:(?:key|main|implementation|detailed) )*(?:tasks?|steps|work items|action items|actions|activities|to-?dos?)\W*$`)
	provedBy    = pattern.New(`(?i)^\W*(?:done when|acceptance(?: criteria)?|exit criteria|success criteria|definition of done|verification|criteria)\b[^.]{0,30}$`)
)

// Steps returns the lines at which the steps of a plan begin: the numbered headings of a level and word that mean work the most, or what
// phases consist of; else the numbered list at the margin, or the headings, of a section of steps, or the rows of a table of states. Where
// boxes below numbered headings are the work, there are none.
func Steps(list []Line) []int {
	best, named := headingSeries(list)
	loose := freeBoxes(list)
	if len(best) > 1 && (named || !loose) || isPhase(list, best) {
		if parts := divided(list, best, loose); len(parts) > 0 {
			return parts
		}
	}
	switch {
	case len(best) > 1 && (named || !loose):
		return best
	case loose:
		return nil
	}
	steps := sectionSteps(list)
	for _, row := range Rows(list) {
		if index := strings.Contains(list[row.at].Text, ".md"); !index && (len(steps) == 0 || list[steps[0]].Kind == Plain) {
			steps = append(steps, row.at)
		}
	}
	return steps
}

// series are the headings of one level that are numbered in the same way, in a section of steps or not.
type series struct {
	level  int
	word   string
	inside bool
}

// headingWords are the words before the numbers of headings, by how sure they are of work: steps are parts of tasks, and phases have parts.
var headingWords = map[string]int{"task": 3, "story": 3, "step": 2, "phase": 1, "milestone": 1, "stage": 1, "sprint": 1}

// headingSeries returns the lines of numbered headings, and whether they are called tasks, stories or steps. Chapters are none: sections
// beside the work are numbered with them.
func headingSeries(list []Line) (lines []int, named bool) {
	found := map[series][]int{}
	var keys []series
	beside, work := 7, 7        // levels
	var aside, chapters [7]bool // by levels: sections beside the work have numbers, and others follow
	for i, l := range list {
		if l.Kind != Heading || l.Level > beside {
			continue
		}
		beside = 7
		if l.Level <= work {
			work = 7
		}
		name, m := Unformatted(l.Rest), stepParts(l)
		if blueprint.IsAside(name) || m != nil && blueprint.IsAside(m[3]) {
			beside = l.Level
			aside[l.Level] = aside[l.Level] || m != nil && m[1] == ""
			continue
		}
		if work == 7 && stepSection.MatchString(name) {
			work = l.Level
		}
		if l.Level == 1 || m == nil {
			continue
		}
		k := series{l.Level, strings.ToLower(m[1]), l.Level > work}
		if last := m[2][len(m[2])-1]; k.word == "" && last > '9' { // 1A
			k.word = "step"
		}
		if len(found[k]) == 0 {
			keys = append(keys, k)
		}
		found[k] = append(found[k], i)
		chapters[l.Level] = aside[l.Level]
	}
	rank := func(k series) (sure int) {
		switch sure = 2 * headingWords[k.word]; {
		case sure > 2 && len(found[k]) < 2:
			sure = 0
		case k.inside:
			sure++
		case k.word == "" && chapters[k.level]:
			sure = -1
		}
		return sure
	}
	if len(keys) == 0 {
		return nil, false
	}
	best := slices.MaxFunc(keys, func(a, b series) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(len(found[a]), len(found[b])))
	})
	if rank(best) < 0 {
		return nil, false
	}
	return found[best], rank(best) > 3
}

func isPhase(list []Line, lines []int) bool {
	return len(lines) > 0 && headingWords[strings.ToLower(stepParts(list[lines[0]])[1])] == 1
}

// divided returns the lines of the steps that phases consist of, if at least half of them name some; the others are steps themselves.
func divided(list []Line, phases []int, listed bool) (steps []int) {
	if !isPhase(list, phases) {
		return nil
	}
	with := 0
	for _, at := range phases {
		end := at + 1
		for end < len(list) && (list[end].Kind != Heading || list[end].Level > list[at].Level) {
			end++
		}
		parts := phaseParts(list[:end], at, listed)
		if len(parts) > 0 {
			with++
		} else {
			parts = []int{at}
		}
		steps = append(steps, parts...)
	}
	if 2*with < len(phases) {
		return nil
	}
	return steps
}

// phaseParts returns the lines of the steps in a phase that begins at a line: numbered headings, unless only lists count; a list below
// Tasks, or the numbered list that the phase begins with; or the rows of a numbered table.
func phaseParts(list []Line, at int, listed bool) (parts []int) {
	level := 7
	for i := at + 1; i < len(list) && !listed; i++ {
		if m := stepParts(list[i]); list[i].Kind == Heading && m != nil && !blueprint.IsAside(m[3]) && list[i].Level <= level {
			if list[i].Level < level {
				parts, level = nil, list[i].Level
			}
			parts = append(parts, i)
		}
	}
	if len(parts) > 0 {
		return parts
	}
	direct, labelled := true, false
	for i := at + 1; i < len(list); i++ {
		l := list[i]
		switch {
		case l.Kind == Heading || labelLine.MatchString(l.Text):
			direct, labelled = false, taskLabel.MatchString(cmp.Or(l.Rest, l.Text))
		case l.Kind == Item && l.Indent == 0 && l.Box == 0 && (labelled || direct && stepItem.MatchString(l.Text)):
			parts = append(parts, i)
		case l.Kind == Plain && l.Indent == 0:
			direct = false
		}
	}
	if len(parts) == 0 {
		for _, row := range rows(list, at+1, false) {
			parts = append(parts, row.at)
		}
	}
	return parts
}

// sectionSteps returns the lines of the numbered list, or of the headings, in a section of steps.
func sectionSteps(list []Line) []int {
	section := 0
	var items, headings []int
	for i, l := range list {
		switch {
		case section > 0 && len(headings) == 0 && l.Kind == Item && l.Indent == 0 && stepItem.MatchString(l.Text):
			items = append(items, i)
		case section > 0 && l.Level == section+1 && !blueprint.IsAside(Unformatted(l.Rest)):
			headings = append(headings, i)
		case l.Kind != Heading, section > 0 && l.Level > section:
		case len(items)+len(headings) > 0 || l.Level == 1 || !stepSection.MatchString(Unformatted(l.Rest)) || blueprint.IsAside(Unformatted(l.Rest)):
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

// Row is a row of a table that begins with a number.
type Row struct {
	Number string
	Line   int
	Done   bool
	at     int
}

// Rows returns the rows of tables with the column Status.
func Rows(list []Line) []Row { return rows(list, 0, true) }

// rows returns the rows of tables from a line on: all, or those of tables with the column Status.
func rows(list []Line, from int, stated bool) (found []Row) {
	status, table := -1, false
	for i := from; i < len(list); i++ {
		l := list[i]
		cells := rowCells(l)
		switch {
		case l.Kind == Code || !strings.Contains(l.Text, "|"):
			table = false
		case i+1 < len(list) && tableRule.MatchString(list[i+1].Text):
			status = slices.IndexFunc(cells, func(cell string) bool { return statusCell.MatchString(cell) })
			table = status >= 0 || !stated
		case table && !tableRule.MatchString(l.Text):
			if m := rowNumber.FindStringSubmatch(Unformatted(cells[0])); m != nil {
				done := status >= 0 && status < len(cells) && blueprint.SaysDone("status: "+cells[status])
				found = append(found, Row{m[1], l.N, done, i})
			}
		}
	}
	return found
}

// rowCells returns the cells of a row of a table.
func rowCells(l Line) (cells []string) {
	for cell := range strings.SplitSeq(strings.Trim(l.Text, "| \t"), "|") {
		cells = append(cells, strings.TrimSpace(cell))
	}
	return cells
}

// StepTitle returns the number of a step, if it has one, and its title.
func StepTitle(l Line) (number, title string) {
	m := stepParts(l)
	switch cells := rowCells(l); {
	case l.Kind == Item:
		m = stepItem.FindStringSubmatch(l.Text)
	case l.Kind == Plain:
		if m = rowNumber.FindStringSubmatch(Unformatted(cells[0])); m != nil {
			title = strings.Trim(strings.TrimPrefix(Unformatted(cells[0]), m[0]), " .:)–—-")
			return m[1], cmp.Or(title, cells[min(1, len(cells)-1)])
		}
	}
	if m == nil {
		return "", l.Rest
	}
	return m[2], m[3]
}

// stepParts returns the word, number and title of a numbered heading. A dotted number needs no mark behind it.
func stepParts(l Line) []string {
	text := strings.TrimLeftFunc(Unformatted(l.Rest), func(r rune) bool { return r != '#' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	m := stepHeading.FindStringSubmatch(dottedStep.ReplaceAllString(text, "$1. $2"))
	if m != nil {
		m[2] = strings.ReplaceAll(m[2], "-", ".")
	}
	return m
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

// After returns what a line such as Depends on: Task 1 names; empty and not nil if it says that there is nothing. Known are the numbers
// that steps have: 2-1 may be one, or a range.
func After(l Line, known map[string]bool) []Reference {
	switch m := stepAfter.FindStringSubmatch(cmp.Or(l.Rest, l.Text)); {
	case m == nil:
		return nil
	case Nothing.MatchString(m[1]):
		return []Reference{}
	default:
		return references(stepRef, dashed.ReplaceAllStringFunc(m[1], func(number string) string {
			if dotted := strings.Replace(number, "-", ".", 1); known[dotted] {
				return dotted
			}
			return number
		}), l.N)
	}
}

// endsStep reports whether a line ends the text of a step.
func endsStep(head, l Line) bool {
	if head.Kind == Heading {
		return l.Kind == Heading && l.Level <= head.Level
	}
	return l.Kind == Heading || l.Kind == Plain && labelLine.MatchString(l.Text)
}

// SplitSteps returns the steps that begin at some lines, the numbered headings that they are below, and the other lines. A step ends where
// the next begins, or a heading that is not below it.
func SplitSteps(list []Line, starts []int) (steps []Section, phases, rest []Line) {
	rest = append(rest, list[:starts[0]]...)
	var above [8]Line
	seen := 0
	for k, at := range starts {
		for ; seen <= at; seen++ {
			if l := list[seen]; l.Kind == Heading {
				above[l.Level] = l
				clear(above[l.Level+1:])
			}
		}
		phase := Line{}
		for _, l := range above {
			if l.N != list[at].N && l.N > 0 && stepParts(l) != nil {
				phase = l
			}
		}
		end := len(list)
		if k+1 < len(starts) {
			end = starts[k+1]
		}
		own := at + 1
		for own < end && list[at].Kind != Plain && !endsStep(list[at], list[own]) {
			own++
		}
		steps, phases, rest = append(steps, Section{list[at], list[at+1 : own]}), append(phases, phase), append(rest, list[own:end]...)
	}
	return steps, phases, rest
}
