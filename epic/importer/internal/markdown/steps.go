package markdown

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"relay/epic/blueprint"
	"relay/epic/each"
	"relay/epic/pattern"
)

var (
	stepHeading = pattern.New(`^(?:(\pL{2,9})[ \t-]*)?#?((?:[A-Z]{1,2}-?)?[0-9]{1,3}(?:[.-][0-9]{1,3}){0,2}[A-Za-z]?|\b[A-Z])(?:(?:[.):：、]|[ \t]+[–—·•-])[ \t]*(.+))?$`)
	dottedStep  = pattern.New(`^((?:\pL{2,9}[ \t-]*)?#?[0-9]{1,3}(?:\.[0-9]{1,3}){1,2}[A-Za-z]?)[ \t]+([^\s–—-])`)
	stepItem    = pattern.New(`^([ \t]*)([0-9]{1,3})[.)][ \t]+(.+)$`)
	stepSection = pattern.New(`(?i)^\W*(?:\d+[.)]\s*)?(?:(?:the|[a-z-]*ed|implementation|execution|step-by-step|technical|development|migration|rehearsal|delivery|task|work) )*(?:steps|guide|plan|changes|phases|implementation|approach)(?: to [\w ]+)?\W*$`)
	tableRule   = pattern.New(`^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+[ \t:-]*$`)
	statusCell  = pattern.New(`(?i)^\W*(?:status|state|done)\W*$`)
	rowNumber   = pattern.New(`^(?:[A-Za-z]+ )?#?([A-Z]?\d{1,3}(?:\.\d{1,3})*[A-Za-z]?)\b`)
	labelLine   = pattern.New(`^(?:\*\*[^*]+\*\*:?|[A-Z][A-Za-z ]{2,40}:)$`)
	noStep      = pattern.New(`^(?:option|approach|risk|question|decision|appendix|figure|section|scenario|example|finding|chapter|version|level|rule|goal|note|tier|case|test|use|user|day|week|epic|utf|http|v)$`)
	sameWord    = pattern.New(`^[\p{Lu}\p{Lo}]\pL{2,8}(?:[:：]|[ \t]+[–—-])[ \t]`) // Issue - Title
	boldID      = pattern.New(`^\*\*((?:\pL{2,9} )?(?:[A-Z]{1,2}-?\d{1,3}|\d{1,2}\.\d{1,2}))\b`)
	stepDigits  = pattern.New(`\d+`)
	orderLabel  = pattern.New(`(?i)^\W*(?:\d+[.)]\s*)?(?:(?:suggested|recommended|implementation|execution|build|work) )+order\b`)
	taskLabel   = pattern.New(`(?i)^\W*(?:(?:key|main|implementation|detailed) )*(?:tasks?|steps|work items|action items|actions|activities|to-?dos?)\W*$`)
)

// Steps returns the lines at which the steps of a plan begin: the numbered headings of a level and word that mean work the most, or what
// phases consist of; else the numbered list at the margin, or the headings, of a section of steps. Where
// boxes below numbered headings are the work, or most boxes stand elsewhere, there are none.
func Steps(list []Line) []int {
	bolded(list)
	at := outline(list)
	steps := stepsAt(list, at)
	inside, outside, end := 0, 0, 0
	for i, l := range list {
		if _, starts := slices.BinarySearch(steps, i); starts && i >= end {
			end = sectionEnd(list, i)
		}
		switch {
		case l.Box == 0 || at[i].beside:
		case i < end:
			inside++
		default:
			outside++
		}
	}
	if outside > inside && outside > len(steps) && (len(steps) == 0 || wordOf(list[steps[0]]) < 2) {
		return nil
	}
	return steps
}

// bolded makes headings of lines that begin in bold with numbers or ids of one form, such as **1.2 Title**, where no heading does.
func bolded(list []Line) {
	level, kin := 0, map[string]int{}
	form := func(id string) string { return stepDigits.ReplaceAllString(id, "") }
	for _, l := range list {
		if m := boldID.FindStringSubmatch(l.Text); l.Kind == Plain && m != nil {
			kin[form(m[1])]++
		} else if m := stepParts(l); l.Kind == Heading && m != nil && m[2][0] > '9' {
			kin[form(m[2])] = -len(list)
		}
	}
	for i := range list {
		l := &list[i]
		m := boldID.FindStringSubmatch(l.Text)
		switch {
		case l.Kind == Heading:
			level = l.Level
		case l.Kind == Plain && m != nil && kin[form(m[1])] > 1:
			l.Kind, l.Level, l.Rest = Heading, min(level+1, 6), l.Text
		}
	}
}

// stepsAt returns the lines of steps, wherever boxes stand.
func stepsAt(list []Line, at []place) []int {
	best, named := headingSeries(list, at)
	loose := freeBoxes(list, at)
	if parts := orderedParts(list, at); len(parts) > 1 && !AreTasks(list, best) {
		return parts
	}
	if parts := divided(list, best, loose); len(parts) > 0 {
		return parts
	}
	steps := sectionSteps(list, at)
	chapter := len(best) > 0 && wordOf(list[best[0]]) == 0 && at[best[0]].work == 0
	switch {
	case chapter && len(steps) > 1 && list[steps[0]].Numbered:
		return steps
	case len(best) > 1 && (named || !loose || wholes(list, best)):
		return withBare(list, at, best)
	case loose:
		return nil
	}
	return steps
}

// withBare adds the phases that have none of the steps to those in others.
func withBare(list []Line, at []place, steps []int) []int {
	all, divided := slices.Clone(steps), false
	for i, l := range list {
		if l.Kind != Heading || at[i].beside || wordOf(l) != 1 || l.Level >= list[steps[0]].Level {
			continue
		}
		switch end := sectionEnd(list, i); {
		case slices.ContainsFunc(steps, func(step int) bool { return i < step && step < end }):
			divided = true
		case Join(list[i+1:end]) != "":
			all = append(all, i)
		}
	}
	if !divided {
		return steps
	}
	return slices.Sorted(slices.Values(all))
}

// freeBoxes reports whether boxes may be the work: not those below a line such as **Acceptance Criteria**.
func freeBoxes(list []Line, at []place) bool {
	beside := false
	for i, l := range list {
		if l.Kind == Heading || labelLine.MatchString(l.Text) {
			beside = at[i].beside || l.Kind == Plain && blueprint.IsAside(l.Text)
		} else if l.Box != 0 && !beside {
			return true
		}
	}
	return false
}

// AreTasks reports whether lines are headings such as Task 1: Title.
func AreTasks(list []Line, starts []int) bool {
	return len(starts) > 1 && wordOf(list[starts[0]]) == headingWords["task"]
}

// orderedParts returns the lines of the numbered lists, or of the numbered rows, in a section called Implementation Order; none where
// they name headings, and so no code.
func orderedParts(list []Line, at []place) (parts []int) {
	for i, l := range list {
		if l.Kind != Heading || at[i].beside || !orderLabel.MatchString(Unformatted(l.Rest)) {
			continue
		}
		end := sectionEnd(list, i)
		for j := i + 1; j < end; j++ {
			if list[j].Numbered && list[j].Indent == 0 && list[j].Box == 0 {
				parts = append(parts, j)
			}
		}
		if len(parts) == 0 {
			parts = rowsBelow(list[:end], i)
		}
	}
	if coded := slices.DeleteFunc(slices.Clone(parts), func(i int) bool { return !strings.Contains(list[i].Text, "`") }); 2*len(coded) < len(parts) {
		return nil
	}
	return parts
}

// rowsBelow returns the lines of the rows of numbered tables below a line.
func rowsBelow(list []Line, at int) (parts []int) {
	for _, row := range rows(list[at+1:], false) {
		parts = append(parts, at+1+row.at)
	}
	return parts
}

// place is where a line stands.
type place struct {
	beside bool // in a section beside the work
	work   int  // the level of the section of steps that it is in; 0: none
}

// outline returns where the lines of a text stand.
func outline(list []Line) []place {
	at := make([]place, len(list))
	beside, work := 7, 0 // levels
	for i, l := range list {
		if l.Kind != Heading {
			at[i] = place{beside < 7, work}
			continue
		}
		if l.Level <= work {
			work = 0
		}
		if l.Level <= beside {
			beside = 7
		}
		name, m := Unformatted(l.Rest), stepParts(l)
		if beside == 7 && (blueprint.IsAside(name) || m != nil && m[1] == "" && blueprint.IsAside(m[3])) {
			beside = l.Level
		}
		at[i] = place{beside < 7, work}
		if work == 0 && beside == 7 && l.Level > 1 && stepSection.MatchString(name) {
			work = l.Level
		}
	}
	return at
}

// wholes reports whether sections are work as a whole, and not the boxes below them: a quarter has none, or half say what they wait for.
func wholes(list []Line, lines []int) bool {
	bare, ordered := 0, 0
	for _, at := range lines {
		body := list[at+1 : sectionEnd(list, at)]
		boxes := slices.ContainsFunc(body, func(l Line) bool { return l.Box != 0 })
		if slices.ContainsFunc(body, func(l Line) bool { return After(l, nil) != nil }) {
			ordered++
		}
		if _, title := StepTitle(list[at]); boxes && strings.HasPrefix(strings.ToLower(title), "deliverable") {
			return false // a list of them all
		}
		if !boxes {
			bare++
		}
	}
	return 4*bare > len(lines) || len(lines) > 0 && 2*ordered >= len(lines)
}

// sectionEnd returns the line behind the section of a heading.
func sectionEnd(list []Line, at int) int {
	end := at + 1
	for end < len(list) && (list[end].Kind != Heading || list[end].Level > list[at].Level) {
		end++
	}
	return end
}

// series are the headings of one level that are numbered in the same way, in a section of steps or not.
type series struct {
	level  int
	word   string
	inside bool
}

// headingWords are the words before the numbers of headings, by how sure they are of work: steps are parts of tasks, and phases have parts.
var headingWords = map[string]int{
	"task": 6, "story": 6, "tarea": 6, "tarefa": 6, "aufgabe": 6, "step": 2, "schritt": 2, "paso": 2, "passo": 2,
	"タスク": 6, "任务": 6, "작업": 6, "ステップ": 2, "步骤": 2, "단계": 2, "feature": 2, "module": 2, "fix": 2, "bug": 2, "ticket": 2,
	"フェーズ": 1, "阶段": 1, "phase": 1, "milestone": 1, "stage": 1, "sprint": 1, "wave": 1, "fase": 1, "etapa": 1, "étape": 1, "onda": 1,
}

// headingSeries returns the lines of numbered headings, and whether they are called tasks, stories or steps.
func headingSeries(list []Line, at []place) (lines []int, named bool) {
	found := map[series][]int{}
	keys := []series{{}}
	for i, l := range list {
		m := stepParts(l)
		k := series{l.Level, "", at[i].work > 0}
		switch {
		case l.Kind != Heading || l.Level == 1 || at[i].beside:
			continue
		case m == nil:
			if k.word = sameWord.FindString(Unformatted(l.Rest)); k.word == "" || strings.HasPrefix(k.word, "Task") {
				continue
			}
		case m[1] == "" && (m[0][0] == '#' || m[2][len(m[2])-1] > '9' && (m[2][0] > '9' || len(found[k]) == 0)): // #1, 1A but not behind 1
			k.word = "step"
		default:
			k.word = m[1]
		}
		if len(found[k]) == 0 {
			keys = append(keys, k)
		}
		found[k] = append(found[k], i)
	}
	rank := func(k series) int { return k.rank(len(found[k])) }
	best := slices.MaxFunc(keys, func(a, b series) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(len(found[a]), len(found[b])))
	})
	return found[best], headingWords[best.word] > 1 && rank(best) > 1
}

// rank says how sure so many headings are of work.
func (k series) rank(count int) int {
	switch sure := headingWords[k.word]; {
	case sure > 1 && count < 2:
		return 0
	case k.inside:
		return sure + 2
	default:
		return sure
	}
}

// wordOf returns what the word before the number of a heading is worth.
func wordOf(l Line) int {
	if m := stepParts(l); m != nil {
		return headingWords[m[1]]
	}
	return 0
}

// divided returns the lines of the steps that phases consist of, if at least half of them name some; the others are steps themselves.
// Loose says that there are boxes that may be the work.
func divided(list []Line, phases []int, loose bool) []int {
	if len(phases) == 0 || wordOf(list[phases[0]]) != 1 {
		return nil
	}
	for _, listed := range []bool{false, true} {
		with, steps := 0, []int(nil)
		for _, at := range phases {
			parts := phaseParts(list[:sectionEnd(list, at)], at, listed)
			if len(parts) > 0 {
				with++
			} else {
				parts = []int{at}
			}
			steps = append(steps, parts...)
		}
		if 2*with >= len(phases) && (listed || !loose || wholes(list, steps)) {
			return steps
		}
	}
	return nil
}

// phaseParts returns the lines of the steps in a phase that begins at a line: numbered headings, unless only lists count; a list below
// Tasks, or the numbered list that the phase begins with; or the rows of a numbered table.
func phaseParts(list []Line, at int, listed bool) (parts []int) {
	for i := at + 1; i < len(list) && !listed; i++ {
		m := stepParts(list[i])
		if list[i].Kind != Heading || m == nil || blueprint.IsAside(m[3]) {
			continue
		}
		if last := len(parts) - 1; last < 0 || list[i].Level <= list[parts[last]].Level {
			parts = append(parts, i)
		} else if strings.HasPrefix(m[2], stepParts(list[parts[last]])[2]+".") {
			parts[last] = i // 1.1.1 below 1.1
		}
	}
	if len(parts) == 0 {
		parts = listedParts(list, at)
	}
	if len(parts) == 0 {
		parts = rowsBelow(list, at)
	}
	return parts
}

func listedParts(list []Line, at int) (parts []int) {
	direct, labelled := true, false
	for i := at + 1; i < len(list); i++ {
		l := list[i]
		switch {
		case l.Kind == Heading || labelLine.MatchString(l.Text):
			direct, labelled = false, taskLabel.MatchString(cmp.Or(l.Rest, l.Text))
		case l.Kind == Plain && l.Indent == 0:
			direct = false
		case l.Kind == Item && l.Indent == 0 && l.Box == 0 && (labelled || direct && l.Numbered):
			parts = append(parts, i)
		}
	}
	return parts
}

// sectionSteps returns the lines of the numbered lists, or of the headings, in sections of steps.
func sectionSteps(list []Line, at []place) (steps []int) {
	var headings []int
	for i, l := range list {
		switch {
		case at[i].beside || at[i].work == 0:
		case l.Level == at[i].work+1:
			headings = append(headings, i)
		case len(headings) == 0 && l.Numbered && l.Indent == 0:
			steps = append(steps, i)
		}
	}
	if len(steps) > 0 {
		return steps
	}
	return headings
}

// Row is a row of a table that begins with a number.
type Row struct {
	Number string
	Line   int
	Done   bool
	at     int
}

// Rows returns the rows of tables with the column Status.
func Rows(list []Line) []Row { return rows(list, true) }

// rows returns the rows of tables: all, or those of tables with the column Status.
func rows(list []Line, stated bool) (found []Row) {
	status, table := -1, false
	for i, l := range list {
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
func rowCells(l Line) []string {
	return each.Of(strings.Split(strings.Trim(l.Text, "| \t"), "|"), strings.TrimSpace)
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
	if m == nil || m[1] == "" && (len(m[2]) == 1 && m[2][0] > '9' || m[3] == "") {
		return nil
	}
	m[3] = cmp.Or(m[3], m[0])
	if m[1] = strings.ToLower(m[1]); noStep.MatchString(m[1]) {
		return nil
	}
	m[2] = strings.ReplaceAll(m[2], "-", ".")
	return m
}

// Labelled makes headings of lines such as **Done when:**, and of the next such line behind one.
func Labelled(list []Line) []Line {
	inside := false
	for i := range list {
		l := &list[i]
		switch label := l.Kind == Plain && labelLine.MatchString(l.Text); {
		case label && (inside || blueprint.IsAside(l.Text) || blueprint.IsDone(l.Text)):
			inside = blueprint.IsAside(l.Text) || blueprint.IsDone(l.Text)
			l.Kind, l.Level, l.Rest = Heading, 6, l.Text
		case l.Kind == Heading:
			inside = false
		}
	}
	return list
}
