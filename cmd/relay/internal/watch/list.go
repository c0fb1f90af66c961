package watch

import (
	"fmt"
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
	lowScreen = 30 // lines; below it there are few rows of each group
	fewTasks  = 8  // so many tasks are never folded
)

// items are the lines of the list.
func (m *model) items() (list []item) {
	used := 0
	put := func(it item) {
		if it.height = 1; it.blank {
			it.height++
		}
		if it.row != nil && it.group == view.NeedsYou && (m.w >= wide || it.row.ID == m.selected) {
			it.height++
		}
		used += it.height
		list = append(list, it)
	}
	for _, g := range groups() {
		rows := m.rows[g]
		if len(rows) == 0 {
			continue
		}
		put(item{group: g, blank: len(list) > 0 && (m.h >= lowScreen || g == view.Working)})
		shown := len(rows)
		if !m.all && m.filter == "" && m.night.Counts.Total() > fewTasks {
			shown = min(shown, m.most(g, used))
		}
		for _, r := range rows[:shown] {
			put(item{group: g, row: r})
		}
		if more := len(rows) - shown; more > 0 {
			put(item{group: g, folded: more})
		}
	}
	return list
}

// most returns how many rows of a group are shown, below so many lines of others.
func (m *model) most(g view.Group, used int) int {
	switch {
	case g == view.IsDone && m.h >= lowScreen:
		return max(m.bodyHeight()-used-1, fewDone)
	case g == view.IsDone:
		return fewDone
	case g == view.Waiting && m.h < lowScreen:
		return fewRows
	}
	return mostNeeds
}

// list draws the part of the list around the selected row.
func (m *model) list(width, height int) (lines []string) {
	items := m.items()
	at, from, to := 0, 0, 0
	for i, it := range items {
		if it.row != nil && it.row.ID == m.selected {
			if from, to = at, at+it.height; i == 1 {
				from = 0 // the head as well
			}
		}
		at += it.height
	}
	m.top = max(min(m.top, from, at-height), 0, to-height)
	at = 0
	for _, it := range items {
		if at += it.height; at <= m.top {
			continue
		}
		drawn := m.draw(it, width)
		lines = append(lines, drawn[max(0, m.top-at+it.height):]...)
		if len(lines) >= height {
			break
		}
	}
	if len(items) == 0 {
		lines = []string{"", " No task has these words: esc shows all"}
	}
	return lines[:min(len(lines), max(height, 0))]
}

func (m *model) draw(it item, width int) (lines []string) {
	if it.blank {
		lines = []string{""}
	}
	switch {
	case it.row != nil:
		return append(lines, m.drawRow(it, width)...)
	case it.folded > 0:
		return append(lines, cut(fmt.Sprintf("   and %d more, D shows them", it.folded), width))
	}
	return append(lines, m.style.paint(bold, cut(fmt.Sprintf(" %s %d", strings.ToUpper(string(it.group)), len(m.rows[it.group])), width)))
}

// drawRow draws a task.
func (m *model) drawRow(it item, width int) []string {
	r, mark := it.row, " "
	if r.ID == m.selected {
		mark = ">"
	}
	symbol, _ := m.style.symbols(r.State)
	begin := len(mark) + 1 + 1 + m.idWidth + 2
	right, says := m.says(it)
	rest := max(width-begin-len(right)-2, 0)
	title := min(rest*45/100, 44)
	text := cell(plaintext.Fit(r.Title, title), title) + "  " + cut(says, max(rest-title-2, 0))
	if says == "" {
		text = plaintext.Fit(r.Title, rest)
	}
	line := cell(plaintext.Fit(r.ID, m.idWidth), m.idWidth) + "  " + spread(text, right, width-begin)
	if r.ID == m.selected {
		line = m.style.paint(reverse, cut(mark+symbol+" "+line, width))
	} else {
		line = mark + m.style.of(it.group, symbol) + " " + cut(line, width-3)
	}
	lines := []string{line}
	if it.height > len(lines) && it.group == view.NeedsYou {
		lines = append(lines, strings.Repeat(" ", min(begin, width))+m.second(r, width-begin))
	}
	return lines
}

// says returns what stands at the right end of a row, and beside the title.
func (m *model) says(it item) (right, says string) {
	r := it.row
	switch it.group {
	case view.NeedsYou:
		if says = r.Why; m.w < wide && len(r.Telling) > 0 {
			says = r.Telling[0]
		}
		if n := len(r.Also); n > 0 {
			says = fmt.Sprintf("and %d more: %s", n, says)
		}
		if m.w >= wide && r.FreesAll > 0 {
			says = "frees " + plaintext.Some(r.Frees, 3) + "; " + says
		}
		return string(r.State), says
	case view.Working:
		if r.Attempt > 1 {
			right = fmt.Sprintf("try %d of %d", r.Attempt, r.Max)
		}
		return right, fmt.Sprintf("%-6s %s  %s", plaintext.Fit(r.Agent, 12), took(m.now().Sub(r.Since)), phases()[r.Phase])
	case view.Waiting:
		if !r.Until.IsZero() {
			right = "until " + m.style.clock(r.Until)
		}
		if says = r.Why; says == "" {
			says = string(r.State)
		}
		return right, says
	default:
		if !r.LandedAt.IsZero() {
			says = fmt.Sprintf("landed %s  +%d -%d", m.style.clock(r.LandedAt), r.Added, r.Deleted)
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
func (m *model) second(r *view.Row, width int) string {
	if m.w < wide {
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
func keyOf(command string) string {
	words := strings.Fields(command)
	if len(words) < 2 {
		return ""
	}
	last := words[len(words)-1]
	if key, ok := map[string]string{
		"--diff": "d", "--checks": "c", "--review": "v", "logs": "l", "show": "enter", "answer": "a", "ungate": "u", "approve": "A", "retry": "r",
	}[last]; ok {
		return key
	}
	return map[string]string{"logs": "l", "show": "enter", "answer": "a", "ungate": "u", "approve": "A", "retry": "r"}[words[1]]
}
