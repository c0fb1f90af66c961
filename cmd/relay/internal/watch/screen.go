package watch

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/clipperhouse/displaywidth"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/limits"
	"relay/orchestrator/view"
)

const (
	headLines = 4
	footLines = 2
	paneHead  = 2 // lines of the pane above what scrolls
)

// View draws the screen.
func (m *model) View() tea.View {
	v := tea.NewView(strings.Join(m.screen(), "\n"))
	v.AltScreen = true
	return v
}

func (m *model) bodyHeight() int { return max(m.h-headLines-footLines, 0) }

// listWidth is the width of the list where the pane is beside it.
func (m *model) listWidth() int { return m.w/2 - 1 }

// paneWidth is the width of the pane.
func (m *model) paneWidth() int {
	if m.w >= wide && !m.page.ofNight() {
		return m.w - m.listWidth() - 1
	}
	return m.w
}

func (m *model) screen() (lines []string) {
	if m.w <= 0 || m.h <= 0 || m.night == nil {
		return []string{""}
	}
	body := m.bodyHeight()
	switch {
	case m.open || m.page.ofNight():
		lines = m.pane(m.w, body)
	case m.w < wide:
		lines = m.list(m.w, body)
	default:
		list, pane, line := m.list(m.listWidth()-1, body), m.pane(m.paneWidth(), body), "│"
		if m.style.ascii {
			line = "|"
		}
		for i := range body {
			left, right := strings.Repeat(" ", m.listWidth()), ""
			if i < len(list) {
				left = list[i] + strings.Repeat(" ", max(m.listWidth()-displaywidth.Options{ControlSequences: true}.String(list[i]), 0))
			}
			if i < len(pane) {
				right = pane[i]
			}
			lines = append(lines, left+line+right)
		}
	}
	for len(lines) < body {
		lines = append(lines, "")
	}
	lines = slices.Concat(m.head(), lines, m.foot())
	if over := len(lines) - m.h; over > 0 {
		lines = slices.Delete(lines, max(headLines-over, 0), max(headLines-over, 0)+over)
	}
	return lines
}

// head draws the lines above the list: what the night is, how it stands, the bar.
func (m *model) head() []string {
	n := m.night
	now := m.now()
	end := now
	if !n.Run.EndedAt.IsZero() {
		end = n.Run.EndedAt
	}
	right := m.style.clock(now)
	if !n.Run.Began.IsZero() {
		right += "  " + took(end.Sub(n.Run.Began))
	}
	if money := m.money(); money != "" {
		right += "  " + money
	}
	says := n.Sentence.String()
	if m.w < wide {
		says = m.inShort()
	}
	line := ""
	if m.w >= wide && !m.style.ascii {
		line = strings.Repeat("─", m.w)
	}
	return []string{
		m.style.paint(bold, spread(" "+plaintext.Fit(n.Epic.Title, m.w), right, m.w)), spread(" "+says, m.ends(), m.w),
		" " + m.style.bar(n, m.w-1), line,
	}
}

// inShort is the sentence of the night for a narrow screen.
func (m *model) inShort() string {
	s := m.night.Sentence
	said := fmt.Sprintf("%d of %d done", s.Done, s.Total)
	if s.Running > 0 {
		said += fmt.Sprintf(", %d running", s.Running)
	}
	if s.NeedYou > 0 {
		said += fmt.Sprintf(", %d %s you; %s first", s.NeedYou, plaintext.Verb(s.NeedYou, "needs", "need"), s.Task)
	}
	return said
}

// money says what the night has cost, of how much.
func (m *model) money() string {
	u := m.night.Money.Night
	said := fmt.Sprintf("%.2f", u.CostUSD)
	for _, c := range m.night.Money.Caps {
		if c.Scope == limits.ScopeRun && c.USD != nil {
			return said + fmt.Sprintf(" of %.0f USD", c.USD.Cap)
		}
	}
	if u == (attempts.Usage{}) || u.CostUSD == 0 {
		return ""
	}
	return said + " USD"
}

// ends says when the run ends or has ended, or why it starts nothing.
func (m *model) ends() string {
	r := m.night.Run
	switch {
	case r.State == view.Never:
		return "no run yet"
	case r.State == view.Killed:
		return "killed " + m.style.clock(r.EndedAt)
	case r.State == view.Ended:
		return "ended " + m.style.clock(r.EndedAt)
	case !r.Paused.IsZero():
		return "paused since " + m.style.clock(r.Paused)
	case r.Waits != nil && !r.Waits.Until.IsZero():
		return "waits for " + plaintext.Fit(r.Waits.For, 20) + " until " + m.style.clock(r.Waits.Until)
	case m.forecast == nil:
		return ""
	case m.w >= wide:
		return "done about " + m.style.clock(m.forecast.P50) + ", in nine of ten nights by " + m.style.clock(m.forecast.P90)
	}
	return "done about " + m.style.clock(m.forecast.P50)
}

// pane draws the page of the selected task, or of the night.
func (m *model) pane(width, height int) []string {
	r := m.row()
	if r == nil && !m.page.ofNight() {
		return nil
	}
	lines := make([]string, 0, max(height, 0))
	if m.page.ofNight() {
		lines = append(lines, " "+m.style.paint(bold, strings.ToUpper(string(m.page))), "")
	} else {
		symbol, _ := m.style.symbols(r.State)
		state := string(r.State)
		if !r.Since.IsZero() {
			state += " since " + m.style.clock(r.Since)
		}
		lines = append(lines, "  "+m.style.of(r.State.Group(), symbol)+" "+m.style.paint(bold, spread(r.ID+"  "+plaintext.Fit(r.Title, width), state, width-4)),
			"  "+cut(m.pageHead(), width-2))
	}
	for _, line := range m.content()[min(m.scroll, m.lastScroll()):] {
		if len(lines) >= height {
			break
		}
		lines = append(lines, "  "+m.tinted(cut(line, width-2)))
	}
	return lines[:min(len(lines), max(height, 0))]
}

// pageHead names the page of a task that is shown, and how far it is scrolled.
func (m *model) pageHead() string {
	name := map[page]string{
		checks: "output of the last attempt's checks", diff: "what the last attempt changed", brief: "the brief", reviews: "what reviewers said",
		logPage: "log of the last attempt, followed",
	}[m.page]
	if last := m.lastScroll(); last > 0 {
		name = strings.TrimPrefix(fmt.Sprintf("%s, lines %d to %d of %d", name, m.scroll+1, m.scroll+m.room(), len(m.content())), ", ")
	}
	return name
}

// room is how many lines of a page are shown.
func (m *model) room() int { return max(m.bodyHeight()-paneHead, 1) }

func (m *model) lastScroll() int { return max(len(m.content())-m.room(), 0) }

// content are the lines of the page.
func (m *model) content() []string {
	r := m.row()
	if m.page != taskPage || r == nil {
		return m.lines
	}
	var lines []string
	put := func(indent, text string) {
		if text != "" {
			lines = append(lines, wrapped(indent+text, m.paneWidth()-2)...)
		}
	}
	put("", r.Why)
	for _, line := range r.Telling {
		put("| ", line)
	}
	if n := len(r.Also); n > 0 {
		put("", "the same holds for "+plaintext.Some(r.Also, 8))
	}
	if r.FreesAll > 0 {
		put("", "frees "+plaintext.Some(r.Frees, 5))
	}
	if r.State == view.Running {
		put("", fmt.Sprintf("%s, %s for %s", r.Agent, phases()[r.Phase], took(m.now().Sub(r.PhaseAt))))
	}
	if r.First != nil {
		for _, c := range append([]view.Command{*r.First}, r.Choices...) {
			put("  ", cell(c.Type, 28)+"  "+c.For)
		}
	}
	if len(lines) > 0 {
		lines = append(lines, "")
	}
	return append(lines, m.lines...)
}

// tinted colours a line of a diff, and the heads of checks.
func (m *model) tinted(line string) string {
	switch {
	case m.page == checks && strings.HasPrefix(line, "== "):
		return m.style.paint(bold, line)
	case m.page != diff || line == "":
		return line
	case strings.HasPrefix(line, "diff "):
		return m.style.paint(bold, line)
	}
	return m.style.paint(map[byte]string{'+': green, '-': red, '@': blue}[line[0]], line)
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

// foot draws the line that answers a key, and the line of keys.
func (m *model) foot() []string {
	said := m.note
	switch {
	case m.ask != nil:
		said = m.ask.question()
	case m.input != nil && m.input.task != "":
		said = "answer to " + m.input.task + " (enter sends, esc does not): " + m.input.text + "_"
	case m.input != nil:
		said = "show tasks with: " + m.input.text + "_"
	case said == "" && m.problem != "":
		said = m.problem
	case said == "" && m.filter != "":
		said = "only tasks with: " + m.filter + "   (esc shows all)"
	case said == "" && m.w < wide:
		said = spread(m.whyNot(), strings.Join(m.runKeys(), "  "), m.w-2)
	}
	if over := displaywidth.String(said) - m.w + 1; over > 0 && m.input != nil { // the end is what is typed
		said = "…" + displaywidth.TruncateString(reversed(said), m.w-2, "")
		said = "…" + reversed(strings.TrimPrefix(said, "…"))
	}
	return []string{m.style.of(view.NeedsYou, cut(" "+said, m.w)), cut(" "+m.keyLine(), m.w)}
}

func reversed(s string) string {
	runes := []rune(s)
	slices.Reverse(runes)
	return string(runes)
}

// keyLine shows the keys that act on the selected row. One that cannot is in brackets.
func (m *model) keyLine() string {
	parts, end := []string{"enter open"}, "? help  q quit"
	switch {
	case m.page.ofNight():
		return spread("esc back  up and down scroll", end, m.w-2)
	case m.open || m.inPane:
		parts = []string{"esc back", "c checks", "d diff", "l log", "v review", "b brief"}
	}
	for _, a := range actions() {
		why := m.refused(a)
		switch r := m.row(); {
		case a.ofRun:
		case why == "":
			parts = append(parts, a.key+" "+a.word)
		case r != nil && a.what == attempts.RequestUngate && r.State.Group() == view.NeedsYou && m.w >= wide:
			parts = append(parts, "("+a.key+" "+a.word+": "+why+")")
		case r != nil && a.what == attempts.RequestUngate && r.State.Group() == view.NeedsYou && !m.open:
			parts = append(parts, "("+a.key+" "+a.word+")")
		}
	}
	if m.w >= wide {
		parts = append(parts, m.runKeys()...)
		if end = "/ find  ? help  q quit"; m.night.Run.State == view.On {
			end += ", the run goes on"
		}
	}
	if !m.open {
		parts = append(parts, "g graph", "t time")
	}
	if m.w < wide && !m.open {
		parts = append(parts, "/ find")
	}
	for len(parts) > 1 && displaywidth.String(strings.Join(parts, "  "))+displaywidth.String(end)+4 > m.w {
		parts = parts[:len(parts)-1]
	}
	return spread(strings.Join(parts, "  "), end, m.w-2)
}

// runKeys are the keys that act on the run.
func (m *model) runKeys() (parts []string) {
	for _, a := range actions() {
		if a.ofRun && m.refused(a) == "" {
			if a.what == attempts.RequestPause && !m.night.Run.Paused.IsZero() {
				a.word = "end the pause"
			}
			parts = append(parts, a.key+" "+a.word)
		}
	}
	return parts
}

// whyNot says why the task cannot be ungated, which is what a person types most.
func (m *model) whyNot() string {
	r := m.row()
	if r == nil || m.open || r.State.Group() != view.NeedsYou || m.page.ofNight() {
		return ""
	}
	for _, a := range actions() {
		if why := m.refused(a); a.what == attempts.RequestUngate && why != "" {
			return "u: " + why
		}
	}
	return ""
}
