package watch

import (
	_ "embed"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/clipperhouse/displaywidth"

	"relay/epic/plaintext"
	"relay/orchestrator/view"
)

// help is what ? shows. No key must be remembered: the last line shows those that act on the selected task.
//
//go:embed help.txt
var help string

// action is a key by which a person decides.
type action struct {
	key, word, command string
	not                string // why it does not act on a task; "": it acts on the run
	states             string // of tasks on which it acts besides those whose rows offer its command
}

// actions are the keys by which a person decides, in the order of the last line.
func actions() []action {
	return []action{
		{"a", "answer", "answer", "asks nothing", ""},
		{"u", "try again", "ungate", "is not gated", ""},
		{"A", "approve", "approve", "has nothing to approve", ""},
		{"r", "do again", "retry", "has no work to do again", "done limited interrupted"},
		{"x", "hold", "gate", "is held or done", "running ready limited interrupted blocked"},
		{"s", "stop", "stop", "does not run", "running"},
		{"p", "pause", "pause", "", ""},
		{"S", "stop the run", "stop", "", ""},
	}
}

// refused says why an action cannot be done now; "": it can.
func (m *model) refused(a action) string {
	r := m.list.row
	switch {
	case m.source.Old():
		return "this night is not the newest: relay watch shows that"
	case a.not == "" && m.win.night.Run.State != view.On:
		return "no run is on: relay work starts one"
	case a.not == "":
		return ""
	case r == nil:
		return "no task is selected"
	case slices.Contains(strings.Fields(a.states), string(r.State)):
		return ""
	case offers(r, a.command):
		return ""
	case r.State == view.Asks:
		return r.ID + " " + a.not + ", it asks you: a answers"
	}
	return r.ID + " " + a.not
}

// offers reports whether a row offers a command of relay.
func offers(r *view.Row, command string) bool {
	return slices.ContainsFunc(r.Commands(), func(c view.Command) bool { return strings.HasPrefix(c.Type, "relay "+command+" ") })
}

// more says for how many other tasks a row stands.
func more(r *view.Row) string {
	if len(r.Also) == 0 {
		return ""
	}
	return " and " + plaintext.Count(len(r.Also), "more task")
}

// act runs the command of an action, or asks before that.
func (m *model) act(a action) tea.Cmd {
	if why := m.refused(a); why != "" {
		m.note = a.key + ": " + why
		return nil
	}
	args, r := strings.Fields(a.command), m.list.row
	if a.not != "" {
		if offers(r, a.command+" --same") {
			args = append(args, "--same")
			m.ask = r.ID + more(r) + ": " + a.word + "?"
		}
		args = append(args, "--", r.ID)
	}
	switch {
	case a.key == "a":
		m.ask, m.input = "", &input{task: r.ID + more(r), args: args}
		return nil
	case a.key == "p" && !m.win.night.Run.Paused.IsZero():
		args = append(args, "--off")
	case a.key == "S":
		m.ask = "Stop the run? Its agents are asked to exit; relay work continues it later."
	case a.key == "s":
		m.ask = "Stop the attempt of " + r.ID + "? Its work is kept, and this run does not try it again."
	case a.key == "A" && m.ask == "":
		m.ask = "Approve " + r.ID + " as it is?"
	case a.key == "r" && r.Landed != "":
		m.ask = "Do " + r.ID + " again? Its work has landed and stays: the next agent begins from there."
	}
	if m.ask != "" {
		m.args = args
		return nil
	}
	return m.do(args...)
}

// key does what a key stands for.
func (m *model) key(key, text string) tea.Cmd {
	if m.input != nil {
		return m.typed(key, text)
	}
	if m.ask != "" {
		if m.ask = ""; key == "y" {
			return m.do(m.args...)
		}
		m.note = "nothing was done"
		return nil
	}
	m.note = ""
	for _, a := range actions() {
		if a.key == key {
			return m.act(a)
		}
	}
	if by, ok := map[string]int{
		"up": -1, "k": -1, "down": 1, "j": 1, "pgup": -10, "pgdown": 10, "space": 10, "home": -1 << 30, "end": 1 << 30,
	}[key]; ok {
		return m.move(by)
	}
	if to, ok := map[string]leaf{
		"c": checks, "d": diff, "b": brief, "v": reviews, "l": logPage, "g": graphPage, "t": timePage, "?": helpPage,
	}[key]; ok {
		m.pane.open = m.pane.open || !m.win.isWide() && !to.ofNight()
		return m.turn(to)
	}
	return m.control(key)
}

// control does what the keys stand for that neither move nor decide.
func (m *model) control(key string) tea.Cmd {
	p := &m.pane
	switch key {
	case "q", "ctrl+c":
		return tea.Quit
	case "ctrl+z":
		return tea.Suspend
	case "enter":
		p.open, p.focused = !m.win.isWide(), m.win.isWide()
		return m.turn(taskPage)
	case "tab":
		p.focused = !p.focused && m.win.isWide()
	case "D":
		m.list.all = !m.list.all
		m.list.move(0)
	case "/":
		m.input = &input{text: m.list.filter}
	case "esc", "left", "backspace":
		if p.page == taskPage && !p.open && !p.focused {
			m.list.filter = ""
			m.list.regroup()
		}
		p.open, p.focused = false, false
		return m.turn(taskPage)
	}
	return nil
}

// move scrolls the page, or selects another task.
func (m *model) move(by int) tea.Cmd {
	if m.pane.whole() || m.pane.focused {
		m.pane.scroll = min(max(m.pane.scroll+by, 0), m.pane.last())
		return nil
	}
	m.list.move(by)
	return m.turn(m.pane.page)
}

// keyLine shows the keys that act on the selected task.
func (m *model) keyLine() string {
	const end = "? help  q quit"
	if m.pane.page.ofNight() {
		return spread("esc back  up and down scroll", end, m.win.w-2)
	}
	if m.input != nil {
		return "enter takes it  esc leaves it"
	}
	parts, inPane := []string{m.win.style.pick("↑↓", "j/k") + " move", "enter open"}, m.pane.open || m.pane.focused
	if inPane {
		parts = []string{"esc back"}
	} else if m.win.isWide() {
		parts = append(parts, "tab pane")
	}
	for _, a := range actions() {
		if a.not != "" && m.refused(a) == "" {
			parts = append(parts, a.key+" "+a.word)
		}
	}
	switch {
	case inPane:
		parts = append(parts, "c checks", "d diff", "l log", "v review", "b brief")
	case m.win.night.Counts.Total() > fewTasks:
		parts = append(parts, "g graph", "t time", "/ find", "D all")
	default:
		parts = append(parts, "g graph", "t time")
	}
	for len(parts) > 1 && displaywidth.String(strings.Join(parts, "  "))+len(end)+4 > m.win.w {
		parts = parts[:len(parts)-1]
	}
	return spread(strings.Join(parts, "  "), end, m.win.w-2)
}

// keysOfRun are the keys that act on the run.
func (m *model) keysOfRun() (keys string) {
	for _, a := range actions() {
		switch {
		case a.not != "" || m.refused(a) != "":
		case a.key == "p" && !m.win.night.Run.Paused.IsZero():
			keys = "p end the pause"
		default:
			keys += "  " + a.key + " " + a.word
		}
	}
	return strings.TrimSpace(keys)
}
