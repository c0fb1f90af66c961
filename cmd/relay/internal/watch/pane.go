package watch

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"relay/cmd/relay/internal/agentlog"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/view"
)

// leaf is a page that the pane shows.
type leaf string

// Pages of a task, and those of the whole night, which take the whole screen.
const (
	taskPage  leaf = ""
	checks    leaf = leaf(agentlog.PartChecks)
	diff      leaf = leaf(agentlog.PartDiff)
	brief     leaf = leaf(agentlog.PartBrief)
	reviews   leaf = leaf(agentlog.PartReview)
	logPage   leaf = leaf(agentlog.PartLog)
	graphPage leaf = "graph"
	timePage  leaf = "timeline"
	helpPage  leaf = "help"
)

func (p leaf) ofNight() bool { return p == graphPage || p == timePage || p == helpPage }

// lineLength bounds a line, in bytes.
const lineLength = 2000

// pane shows a page of a task, or of the night.
type pane struct {
	*window

	page    leaf
	of      string // id of the task that was read
	open    bool   // it has the whole screen
	focused bool   // the keys that move are for it
	lines   []string
	scroll  int
}

// whole reports whether the pane has the whole screen.
func (p *pane) whole() bool { return p.open || p.page.ofNight() }

// width is the width of the pane, beside the list or alone.
func (p *pane) width() int {
	if p.isWide() && !p.page.ofNight() {
		return p.w - p.w/2
	}
	return p.w
}

// begin makes room for a page that is to be read.
func (p *pane) begin(to leaf, of string) {
	if to != p.page || of != p.of {
		p.scroll, p.lines = 0, nil
	}
	p.page, p.of = to, of
}

// show shows a page that was read, unless another one is wanted by now. A log stays at its end.
func (p *pane) show(msg *pageMsg) {
	if msg.page != p.page || msg.of != p.of {
		return
	}
	atEnd := p.page == logPage && (p.lines == nil || p.atEnd())
	p.lines = nil
	for line := range strings.SplitSeq(strings.TrimRight(plaintext.Clean(msg.text), "\n"), "\n") {
		line = strings.ReplaceAll(plaintext.Head(line, lineLength), "\t", "    ")
		if width := p.width() - 2; p.page != diff && !p.page.ofNight() && displaywidth.String(line) > width {
			line = terminal.Wrap(line, width, line[:len(line)-len(strings.TrimLeft(line, " "))])
		}
		p.lines = append(p.lines, strings.Split(line, "\n")...)
	}
	if p.scroll = min(p.scroll, p.last()); atEnd {
		p.scroll = p.last()
	}
}

// last is the furthest that the page can be scrolled.
func (p *pane) last() int { return max(len(p.lines)-max(p.body()-paneHead, 1), 0) }

func (p *pane) atEnd() bool { return p.scroll >= p.last() }

// draw draws the page; r is the selected task, nil without one.
func (p *pane) draw(r *view.Row, height int) (lines []string) {
	last, width, where := p.last(), p.width()-2, ""
	if last > 0 {
		where = fmt.Sprintf("line %d of %d", min(p.scroll, last)+1, len(p.lines))
	}
	name := map[leaf]string{
		checks: "output of the last attempt's checks", diff: "what the last attempt changed", brief: "the brief", reviews: "what reviewers said",
		logPage: "log of the last attempt, followed",
	}[p.page]
	switch {
	case p.page.ofNight():
		lines = append(lines, "  "+paint(bold, spread(strings.ToUpper(string(p.page)), where, width)), "")
	case r == nil:
		return nil
	default:
		symbol, _ := terminal.Symbols(r.State, p.style.ascii)
		state := string(r.State)
		if !r.Since.IsZero() {
			state += " since " + p.style.clock(r.Since)
		}
		lines = append(lines, "  "+coloured(r.State.Group(), symbol)+" "+
			paint(bold, spread(r.ID+"  "+plaintext.Fit(r.Title, width), state, width-2)), "  "+spread(name, where, width))
	}
	for _, line := range p.lines[min(p.scroll, last):] {
		lines = append(lines, "  "+p.tinted(cut(line, width)))
	}
	return lines[:min(len(lines), height)]
}

// summary says what the model of the night knows of a task, above all of its attempts.
func summary(r *view.Row) string {
	var lines []string
	if r.State != view.Asks { // a question is below as a whole
		lines = append(lines, cmp.Or(r.Why, r.Waiters()))
		lines = append(lines, r.Telling...)
	}
	if len(r.Also) > 0 {
		lines = append(lines, "the same holds for "+plaintext.Some(r.Also, 8))
	}
	for _, c := range r.Commands() {
		lines = append(lines, "  "+cell(c.Type, 28)+"  "+c.For)
	}
	return strings.TrimLeft(strings.Join(append(lines, "", ""), "\n"), "\n")
}

// tinted colours a line of a diff, and the heads of checks.
func (p *pane) tinted(line string) string {
	switch {
	case p.page == checks && strings.HasPrefix(line, "== "), p.page == diff && strings.HasPrefix(line, "diff "):
		return paint(bold, line)
	case p.page != diff || line == "":
		return line
	}
	return paint(map[byte]string{'+': green, '-': red, '@': blue}[line[0]], line)
}
