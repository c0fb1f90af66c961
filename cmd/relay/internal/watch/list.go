package watch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"relay/epic/plaintext"
	"relay/orchestrator/view"
)

// item is a line of the list, or two: the head of a group, a task, or how many tasks of the group are folded.
type item struct {
	group  view.Group
	row    *view.Row // nil: a head or a fold
	folded int
	height int
	blank  bool // before it
}

// Rows of a group that are shown at first.
const (
	mostNeeds = 12
	fewRows   = 3
	fewDone   = 2
	fewTasks  = 8  // so many tasks are never folded
	mostID    = 14 // columns of an id
)

// list shows the tasks in groups. One of them is selected.
type list struct {
	*window

	selected string // id of a task
	top      int    // first line that is shown
	all      bool   // folds are open
	filter   string
	rows     map[view.Group][]*view.Row // that the filter keeps
	idWidth  int                        // of the longest id, bounded
}

func groups() []view.Group {
	return []view.Group{view.NeedsYou, view.Working, view.Waiting, view.IsDone}
}

// regroup finds the rows of each group that the filter keeps. Of what is done the last comes first.
func (l *list) regroup() {
	n := l.night
	l.rows = map[view.Group][]*view.Row{view.NeedsYou: n.Needs, view.Working: n.Working, view.Waiting: n.Waiting}
	for _, r := range slices.Backward(n.Done) {
		if r.State != view.Look {
			l.rows[view.IsDone] = append(l.rows[view.IsDone], r)
		}
	}
	l.idWidth = 0
	words := strings.Fields(strings.ToLower(l.filter))
	for g, rows := range l.rows {
		for _, r := range rows {
			l.idWidth = min(max(l.idWidth, len(r.ID)), mostID)
		}
		if len(words) > 0 {
			l.rows[g] = slices.DeleteFunc(slices.Clone(rows), func(r *view.Row) bool {
				text := strings.ToLower(fmt.Sprintln(r.ID, r.Title, r.State, r.Section, r.Agent, r.Also))
				return slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
			})
		}
	}
	l.move(0)
}

// row returns the selected row; nil: there is none.
func (l *list) row() *view.Row {
	for _, rows := range l.rows {
		for _, r := range rows {
			if r.ID == l.selected {
				return r
			}
		}
	}
	return nil
}

// move moves the selection by so many rows, and to the first row if the selected one is not shown.
func (l *list) move(by int) {
	var ids []string
	for _, it := range l.items() {
		if it.row != nil {
			ids = append(ids, it.row.ID)
		}
	}
	if len(ids) == 0 {
		l.selected = ""
		return
	}
	l.selected = ids[min(max(max(slices.Index(ids, l.selected), 0)+by, 0), len(ids)-1)]
}

// items are the lines of the list.
func (l *list) items() (items []item) {
	used := 0
	put := func(it item) {
		if it.height = 1; it.blank {
			it.height++
		}
		if it.row != nil && it.group == view.NeedsYou && (l.isWide() || it.row.ID == l.selected) {
			it.height++
		}
		used += it.height
		items = append(items, it)
	}
	for _, g := range groups() {
		rows := l.rows[g]
		if len(rows) == 0 {
			continue
		}
		put(item{group: g, blank: len(items) > 0 && (l.h >= lowScreen || g == view.Working)})
		shown := len(rows)
		if !l.all && l.filter == "" && l.night.Counts.Total() > fewTasks {
			shown = min(shown, l.most(g, used))
		}
		for _, r := range rows[:shown] {
			put(item{group: g, row: r})
		}
		if more := len(rows) - shown; more > 0 {
			put(item{group: g, folded: more})
		}
	}
	return items
}

// most returns how many rows of a group are shown, below so many lines of others.
func (l *list) most(g view.Group, used int) int {
	switch {
	case g == view.IsDone && l.h >= lowScreen:
		return max(l.body()-used-1, fewDone)
	case g == view.IsDone:
		return fewDone
	case g == view.Waiting && l.h < lowScreen:
		return fewRows
	}
	return mostNeeds
}

// list draws the part of the list around the selected row.
func (l *list) draw(width, height int) (lines []string) {
	items := l.items()
	at, from, to := 0, 0, 0
	for i, it := range items {
		if it.row != nil && it.row.ID == l.selected {
			if from, to = at, at+it.height; i == 1 {
				from = 0 // the head as well
			}
		}
		at += it.height
	}
	l.top = max(min(l.top, from, at-height), 0, to-height)
	at = 0
	for _, it := range items {
		if at += it.height; at <= l.top {
			continue
		}
		drawn := l.drawItem(it, width)
		lines = append(lines, drawn[max(0, l.top-at+it.height):]...)
		if len(lines) >= height {
			break
		}
	}
	if len(items) == 0 {
		lines = []string{"", " No task has these words: esc shows all"}
	}
	return lines[:min(len(lines), max(height, 0))]
}

func (l *list) drawItem(it item, width int) (lines []string) {
	if it.blank {
		lines = []string{""}
	}
	switch {
	case it.row != nil:
		return append(lines, l.drawRow(it, width)...)
	case it.folded > 0:
		return append(lines, cut(fmt.Sprintf("   and %d more, D shows them", it.folded), width))
	}
	return append(lines, l.style.paint(bold, cut(fmt.Sprintf(" %s %d", strings.ToUpper(string(it.group)), len(l.rows[it.group])), width)))
}

// drawRow draws a task.
func (l *list) drawRow(it item, width int) []string {
	r, mark := it.row, " "
	if r.ID == l.selected {
		mark = ">"
	}
	symbol, _ := l.style.symbols(r.State)
	begin := len(mark) + 1 + 1 + l.idWidth + 2
	right, says := l.says(it)
	rest := max(width-begin-len(right)-2, 0)
	title := min(rest*45/100, 44)
	text := cell(plaintext.Fit(r.Title, title), title) + "  " + cut(says, max(rest-title-2, 0))
	if says == "" {
		text = plaintext.Fit(r.Title, rest)
	}
	line := cell(plaintext.Fit(r.ID, l.idWidth), l.idWidth) + "  " + spread(text, right, width-begin)
	if r.ID == l.selected {
		line = l.style.paint(reverse, cut(mark+symbol+" "+line, width))
	} else {
		line = mark + l.style.of(it.group, symbol) + " " + cut(line, width-3)
	}
	lines := []string{line}
	if it.height > len(lines) && it.group == view.NeedsYou {
		lines = append(lines, strings.Repeat(" ", min(begin, width))+l.second(r, width-begin))
	}
	return lines
}

// says returns what stands at the right end of a row, and beside the title.
func (l *list) says(it item) (right, says string) {
	r := it.row
	switch it.group {
	case view.NeedsYou:
		if says = r.Why; !l.isWide() && len(r.Telling) > 0 {
			says = r.Telling[0]
		}
		if n := len(r.Also); n > 0 {
			says = fmt.Sprintf("and %d more: %s", n, says)
		}
		if l.isWide() && r.FreesAll > 0 {
			says = "frees " + plaintext.Some(r.Frees, 3) + "; " + says
		}
		return string(r.State), says
	case view.Working:
		if r.Attempt > 1 {
			right = fmt.Sprintf("try %d of %d", r.Attempt, r.Max)
		}
		return right, fmt.Sprintf("%-6s %s  %s", plaintext.Fit(r.Agent, 12), took(l.now().Sub(r.Since)), phases()[r.Phase])
	case view.Waiting:
		if !r.Until.IsZero() {
			right = "until " + l.style.clock(r.Until)
		}
		if says = r.Why; says == "" {
			says = string(r.State)
		}
		return right, says
	default:
		if !r.LandedAt.IsZero() {
			says = fmt.Sprintf("landed %s  +%d -%d", l.style.clock(r.LandedAt), r.Added, r.Deleted)
		}
		if r.Usage.CostUSD > 0 {
			right = fmt.Sprintf("%.2f", r.Usage.CostUSD)
		}
		if r.Why != "" {
			says = strings.TrimPrefix(says+", "+r.Why, ", ")
		}
		return right, says
	}
}

// phases say what goes on in an attempt.
func phases() map[view.Phase]string {
	return map[view.Phase]string{
		view.PhaseAgent: "the agent works", view.PhaseChecks: "checks run", view.PhaseReview: "in review", view.PhaseLanding: "about to land",
	}
}

// second is the second line of a row that needs a person: what tells most, and what to type first.
func (l *list) second(r *view.Row, width int) string {
	if !l.isWide() {
		return cut(firstOf(r, true), width)
	}
	telling := ""
	if len(r.Telling) > 0 {
		telling = r.Telling[0]
	}
	first := plaintext.Fit(firstOf(r, false), width*6/10)
	return spread(plaintext.Fit(telling, max(width-len(first)-2, 0)), first, width)
}

// firstOf says what to type first, and with keys also which key does it.
func firstOf(r *view.Row, keys bool) string {
	if r.First == nil {
		return ""
	}
	said := r.First.Type
	if r.Equal { // none of the answers is the usual one
		said = "a answers: " + mark(r.First) + " " + r.First.For
		for i := range r.Choices {
			said += ", " + mark(&r.Choices[i]) + " " + r.Choices[i].For
		}
	} else if key := keyOf(r.First.Type); keys && key != "" {
		said += "    or press " + key
	}
	if keys && r.FreesAll > 0 {
		said += "; frees " + plaintext.Some(r.Frees, 3)
	}
	return said
}

// mark returns the last word of a command: the letter of an answer.
func mark(c *view.Command) string { return c.Type[strings.LastIndexByte(c.Type, ' ')+1:] }

// keyOf returns the key that does what a command does; "": none does.
func keyOf(command string) (key string) {
	keys := map[string]string{
		"show": "enter", "logs": "l", "answer": "a", "ungate": "u", "approve": "A", "retry": "r", "--diff": "d", "--checks": "c", "--review": "v",
	}
	for word := range strings.FieldsSeq(command) {
		key = cmp.Or(keys[word], key)
	}
	return key
}
