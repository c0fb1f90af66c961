package watch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/page"
	"relay/orchestrator/view"
)

// item is a task of the list, or a line without one: the head of a group, how many tasks of it are folded, or a blank.
type item struct {
	group  view.Group // "": a blank line
	row    *view.Row
	folded int
}

// Rows of a group that are shown at first.
const (
	mostNeeds = 12
	fewRows   = 3
	fewTasks  = 8  // so many tasks are never folded
	mostID    = 14 // columns of an id
)

// list shows the tasks in groups. One of them is selected.
type list struct {
	*window

	selected string    // id of a task
	row      *view.Row // of it; nil: no task is shown
	top      int       // first line that is shown
	all      bool      // folds are open
	filter   string
	rows     map[view.Group][]*view.Row // that the filter keeps
	idWidth  int                        // of the longest id, bounded
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
				text := strings.ToLower(fmt.Sprintln(r.ID, r.Title, r.State, r.Section, r.Who(), r.Also))
				return slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
			})
		}
	}
	l.move(0)
}

// move moves the selection by so many rows, and to the first row if the selected one is not shown.
func (l *list) move(by int) {
	var rows []*view.Row
	at := 0
	for _, it := range l.items() {
		if it.row != nil {
			if it.row.ID == l.selected {
				at = len(rows)
			}
			rows = append(rows, it.row)
		}
	}
	l.selected, l.row = "", nil
	if len(rows) > 0 {
		l.row = rows[min(max(at+by, 0), len(rows)-1)]
		l.selected = l.row.ID
	}
}

// items are the parts of the list.
func (l *list) items() (items []item) {
	used := 0
	put := func(it item) {
		used += l.height(it)
		items = append(items, it)
	}
	for _, g := range []view.Group{view.NeedsYou, view.Working, view.Waiting, view.IsDone} {
		rows := l.rows[g]
		if len(rows) == 0 {
			continue
		}
		if len(items) > 0 && (!l.isLow() || g == view.Working) {
			put(item{})
		}
		put(item{group: g})
		shown := len(rows)
		if !l.all && l.filter == "" && l.night.Counts.Total() > fewTasks {
			if few := l.most(g, used); few+1 < shown { // a line that says "and 1 more" has room for that one
				shown = few
			}
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

// height returns the lines of an item. The selected row has three if its reason has no room in the first, and no pane is beside it.
func (l *list) height(it item) int {
	if it.row == nil || it.group != view.NeedsYou || !l.isWide() && it.row.ID != l.selected {
		return 1
	}
	right, says := l.says(it)
	if _, room := l.columns(right, l.w); !l.isWide() && displaywidth.String(says) > room {
		return 3
	}
	return 2
}

// columns returns how many columns title and reason of a row have.
func (l *list) columns(right string, width int) (title, says int) {
	rest := max(width-l.idWidth-5-len(right)-2, 0)
	title = min(rest*45/100, 44)
	return title, max(rest-title-2, 0)
}

// most returns how many rows of a group are shown, below so many lines of others.
func (l *list) most(g view.Group, used int) int {
	room := l.body() - used - 1 // the last line says how many more there are
	switch {
	case g == view.IsDone:
		return max(room, 1)
	case g == view.Waiting && l.isLow(): // the next group has four: a head, two rows and a last line
		return max(room-4, fewRows)
	}
	return mostNeeds
}

// draw draws the part of the list around the selected row.
func (l *list) draw(width, height int) (lines []string) {
	items := l.items()
	at, from, to := 0, 0, 0
	for i, it := range items {
		if it.row != nil && it.row == l.row {
			if from, to = at, at+l.height(it); i == 1 {
				from = 0 // the head as well
			}
		}
		at += l.height(it)
	}
	l.top = max(min(l.top, from, at-height), 0, to-height)
	at = 0
	for _, it := range items {
		if at += l.height(it); at > l.top && len(lines) < height {
			drawn := l.drawItem(it, width)
			lines = append(lines, drawn[max(0, l.top-at+len(drawn)):]...)
		}
	}
	if len(items) == 0 {
		lines = []string{"", " No task has these words: esc shows all"}
	}
	return lines[:min(len(lines), max(height, 0))]
}

// drawItem draws an item. A task that needs a person may have a second line: what to do first, and who waits for that.
func (l *list) drawItem(it item, width int) []string {
	r := it.row
	switch {
	case r == nil && it.folded > 0:
		return []string{cut(fmt.Sprintf("   and %d more: D shows all", it.folded), width)}
	case r == nil && it.group != "":
		tasks := 0
		for _, r := range l.rows[it.group] {
			tasks += 1 + len(r.Also)
		}
		head, gloss := fmt.Sprintf(" %s %d", strings.ToUpper(string(it.group)), tasks), ""
		if it.group == view.NeedsYou {
			gloss = l.night.Gloss()
		}
		return []string{paint(bold, cut(head, width)) + spread("", gloss, width-len(head))}
	case r == nil:
		return []string{""}
	}
	symbol, _ := terminal.Symbols(r.State, l.style.ascii)
	begin := l.idWidth + 5
	right, says := l.says(it)
	title, room := l.columns(right, width)
	text := cell(plaintext.Fit(r.Title, title), title) + "  " + cut(says, room)
	height := l.height(it)
	if says == "" || height == 3 { // the reason has its own line
		text = plaintext.Fit(r.Title, title+2+room)
	}
	line := " " + cell(plaintext.Fit(r.ID, l.idWidth), l.idWidth) + "  " + spread(text, right, width-begin)
	if r == l.row {
		line = paint(reverse, cut(">"+symbol+line, width))
	} else {
		line = " " + coloured(it.group, symbol) + cut(line, width-2)
	}
	lines, indent := []string{line}, strings.Repeat(" ", min(begin, width))
	if height == 3 {
		lines = append(lines, indent+cut(says, width-begin))
	}
	if height > 1 {
		lines = append(lines, indent+spread(firstOf(r, r == l.row), r.Waiters(), width-begin))
	}
	return lines
}

// says returns what stands at the right end of a row, and beside the title.
func (l *list) says(it item) (right, says string) {
	r := it.row
	switch it.group {
	case view.NeedsYou:
		if says = r.Cause(); len(r.Also) > 0 {
			says = fmt.Sprintf("and %d more: %s", len(r.Also), says)
		}
		return string(r.State), says
	case view.Working:
		if r.Attempt > 1 {
			right = fmt.Sprintf("try %d of %d", r.Attempt, r.Max)
		}
		return right, fmt.Sprintf("%-6s %s  %s", plaintext.Fit(r.Who(), 24), page.Span(l.now().Sub(r.Since).Seconds()), map[view.Phase]string{
			view.PhaseAgent: "the agent works", view.PhaseChecks: "checks run", view.PhaseReview: "in review", view.PhaseLanding: "about to land",
		}[r.Phase])
	case view.Waiting:
		if !r.Until.IsZero() {
			right = "until " + l.style.clock(r.Until)
		}
		return right, cmp.Or(r.Why, string(r.State))
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

// firstOf says what a person types first, and the key that does it if the row is selected: keys act on no other.
func firstOf(r *view.Row, selected bool) string {
	if r.First == nil {
		return ""
	}
	press := ""
	if key := keyOf(r.First.Type); key != "" && selected {
		press = "press " + key + ": "
	}
	if !r.Equal {
		return press + r.First.Type
	}
	var answers []string // none of them is the usual one
	for _, c := range r.Commands() {
		_, answer, _ := strings.Cut(c.Type, " "+r.ID+" ")
		answer, _, _ = strings.Cut(answer, " ") // a flag follows in a playlist
		answers = append(answers, answer+" "+c.For+"?")
	}
	return cmp.Or(press, "asks: ") + strings.Join(answers, " ")
}

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
