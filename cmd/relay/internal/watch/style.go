package watch

import (
	"fmt"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"

	"relay/cmd/relay/internal/terminal"
	"relay/epic/each"
	"relay/orchestrator/view"
)

// style says how the screen is drawn. The symbol of a task says its state, the colour only its group, and a word is always near.
type style struct {
	ascii bool
	zone  *time.Location
}

// Colours, of the terminal's own 16, and marks. A terminal without colours keeps bold and reverse.
const (
	bold    = "1"
	reverse = "7"
	red     = "31"
	green   = "32"
	yellow  = "33"
	blue    = "34"
)

// paint marks text.
func paint(as, text string) string {
	if as == "" || text == "" {
		return text
	}
	return "\x1b[" + as + "m" + text + "\x1b[0m"
}

// coloured marks text of a group.
func coloured(g view.Group, text string) string {
	return paint(map[view.Group]string{view.NeedsYou: yellow, view.Working: blue, view.IsDone: green}[g], text)
}

// bar shows the tasks by state in so many columns, and says what its cells mean: as many cells for each task if there is room, else a
// share of the columns for each state.
func (s style) bar(n *view.Night, width int) (bar, legend string) {
	var parts []string
	total := max(n.Counts.Total(), 1)
	for _, state := range view.States() {
		count, word := n.Counts[state], string(state)
		if count == 0 {
			continue
		}
		cells := max(width/total*count, 1)
		if total > width {
			cells = max(width*count/total, 1)
		}
		symbol, cell := terminal.Symbols(state, s.ascii)
		bar += coloured(state.Group(), strings.Repeat(cell, cells))
		if state == view.Look {
			word = "done, look"
		} else if state.Group() == view.Waiting {
			count, word = n.Counts.Group(view.Waiting), string(view.Waiting)
		}
		parts = each.Added(parts, fmt.Sprintf("%s %d %s", symbol, count, word))
	}
	return bar, cut(strings.Join(parts, "  "), width)
}

// cut shortens a line to so many columns.
func cut(text string, width int) string {
	return displaywidth.TruncateString(text, max(width, 0), "…")
}

// cell cuts or fills a text to so many columns.
func cell(text string, width int) string { return terminal.Pad(cut(text, width), width) }

// spread puts one text at the left and one at the right end of a line.
func spread(left, right string, width int) string {
	if right == "" {
		return cell(left, width)
	}
	return cell(cell(left, width-displaywidth.String(right)-1)+" "+right, width)
}

// clock returns the time of day.
func (s style) clock(t time.Time) string { return t.In(s.zone).Format("15:04") }

func (s style) pick(utf8, ascii string) string {
	if s.ascii {
		return ascii
	}
	return utf8
}
