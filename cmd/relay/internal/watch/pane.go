package watch

import (
	"fmt"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"relay/cmd/relay/internal/agentlog"
	"relay/epic/plaintext"
	"relay/orchestrator/view"
)

// page is what the pane shows.
type page string

// Pages of a task, and those of the whole night, which take the whole screen.
const (
	taskPage  page = ""
	checks    page = page(agentlog.PartChecks)
	diff      page = page(agentlog.PartDiff)
	brief     page = page(agentlog.PartBrief)
	reviews   page = page(agentlog.PartReview)
	logPage   page = page(agentlog.PartLog)
	graphPage page = "graph"
	timePage  page = "timeline"
	helpPage  page = "help"
)

func (p page) ofNight() bool { return p == graphPage || p == timePage || p == helpPage }

// Bounds of what is shown.
const (
	mostLines  = 4000 // of a log that is followed
	lineLength = 2000 // bytes of a line
)

// pane shows a page of a task, or of the night.
type pane struct {
	*window

	page    page
	of      string // id of the task that was read
	open    bool   // it has the whole screen
	focused bool   // the keys that move are for it
	lines   []string
	scroll  int
	more    func() string // what has come of a log since
	done    func()        // ends it
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
func (p *pane) begin(to page, of string) {
	if to != p.page || of != p.of {
		p.scroll, p.lines = 0, nil
	}
	if p.done != nil {
		p.done()
	}
	p.page, p.of, p.more, p.done = to, of, nil, nil
}

// show shows a page that was read, unless another one is wanted by now.
func (p *pane) show(msg *pageMsg, r *view.Row) {
	if msg.page != p.page || msg.of != p.of || p.done != nil {
		if msg.done != nil {
			msg.done()
		}
		return
	}
	p.lines, p.more, p.done = p.clean(msg.text), msg.more, msg.done
	if p.scroll = min(p.scroll, p.last(r)); p.page == logPage {
		p.scroll = p.last(r)
	}
}

// grow adds what has come of a log, and stays at its end.
func (p *pane) grow(text string, r *view.Row) {
	atEnd := p.scroll >= p.last(r)
	p.lines = append(p.lines, p.clean(text)...)
	if p.lines = p.lines[max(0, len(p.lines)-mostLines):]; atEnd {
		p.scroll = p.last(r)
	}
}

// clean returns text of agents and programs as lines without anything that a terminal would obey. Those of a diff and of pictures are not
// broken.
func (p *pane) clean(text string) (lines []string) {
	for line := range strings.SplitSeq(strings.TrimRight(plaintext.Clean(text), "\n"), "\n") {
		line = strings.ReplaceAll(plaintext.Head(line, lineLength), "\t", "    ")
		if p.page == diff || p.page.ofNight() {
			lines = append(lines, line)
		} else {
			lines = append(lines, wrapped(line, p.width()-2)...)
		}
	}
	return lines
}

// wrapped breaks a line at spaces, or else anywhere, into lines of at most so many columns.
func wrapped(line string, width int) (lines []string) {
	for width > 1 && displaywidth.String(line) > width {
		head := displaywidth.TruncateString(line, width, "")
		if head == "" {
			break
		}
		if at := strings.LastIndexByte(head, ' '); at > len(head)/2 {
			head = head[:at+1]
		}
		lines, line = append(lines, head), line[len(head):]
	}
	return append(lines, line)
}

// last is the furthest that the page can be scrolled.
func (p *pane) last(r *view.Row) int { return max(len(p.content(r))-max(p.body()-paneHead, 1), 0) }

// draw draws the page; r is the selected task, nil without one.
func (p *pane) draw(r *view.Row, height int) (lines []string) {
	content, last, width := p.content(r), p.last(r), p.width()-2
	where := ""
	if last > 0 {
		where = fmt.Sprintf("line %d of %d", min(p.scroll, last)+1, len(content))
	}
	name := map[page]string{
		checks: "output of the last attempt's checks", diff: "what the last attempt changed", brief: "the brief", reviews: "what reviewers said",
		logPage: "log of the last attempt, followed",
	}[p.page]
	switch {
	case p.page.ofNight():
		lines = append(lines, "  "+p.style.paint(bold, spread(strings.ToUpper(string(p.page)), where, width)), "")
	case r == nil:
		return nil
	default:
		symbol, _ := p.style.symbols(r.State)
		state := string(r.State)
		if !r.Since.IsZero() {
			state += " since " + p.style.clock(r.Since)
		}
		lines = append(lines, "  "+p.style.of(r.State.Group(), symbol)+" "+
			p.style.paint(bold, spread(r.ID+"  "+plaintext.Fit(r.Title, width), state, width-2)), "  "+spread(name, where, width))
	}
	for _, line := range content[min(p.scroll, last):] {
		if len(lines) >= height {
			break
		}
		lines = append(lines, "  "+p.tinted(cut(line, width)))
	}
	return lines[:min(len(lines), height)]
}

// content are the lines of the page. That of a task begins with what the model of the night says of it.
func (p *pane) content(r *view.Row) (lines []string) {
	if p.page != taskPage || r == nil {
		return p.lines
	}
	put := func(indent, text string) {
		if text != "" {
			lines = append(lines, wrapped(indent+text, p.width()-2)...)
		}
	}
	put("", r.Why)
	for _, line := range r.Telling {
		put("| ", line)
	}
	if len(r.Also) > 0 {
		put("the same holds for ", plaintext.Some(r.Also, 8))
	}
	if r.FreesAll > 0 {
		put("frees ", plaintext.Some(r.Frees, 5))
	}
	if r.State == view.Running {
		put(r.Agent+", ", phases()[r.Phase]+" for "+took(p.now().Sub(r.PhaseAt)))
	}
	if r.First != nil {
		for _, c := range append([]view.Command{*r.First}, r.Choices...) {
			put("  ", cell(c.Type, 28)+"  "+c.For)
		}
	}
	if len(lines) > 0 {
		lines = append(lines, "")
	}
	return append(lines, p.lines...)
}

// tinted colours a line of a diff, and the heads of checks.
func (p *pane) tinted(line string) string {
	switch {
	case p.page == checks && strings.HasPrefix(line, "== "), p.page == diff && strings.HasPrefix(line, "diff "):
		return p.style.paint(bold, line)
	case p.page != diff || line == "":
		return line
	}
	return p.style.paint(map[byte]string{'+': green, '-': red, '@': blue}[line[0]], line)
}
