package watch

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/clipperhouse/displaywidth"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/view"
)

// source is where a night and its pages come from. Do runs a command of relay, and returns what that prints.
type source interface {
	Old() bool
	Next(ctx context.Context) (*view.Night, error)
	Page(ctx context.Context, page leaf, row *view.Row, width int) string
	Do(ctx context.Context, args ...string) (string, error)
}

// lookEvery is how often files are looked at. A look that takes long is followed by a rest of so many times that, but not by a longer one
// than mostRest.
const (
	lookEvery = 500 * time.Millisecond
	restParts = 300
	mostRest  = 5 * time.Second
)

// model is the state of the screen.
type model struct {
	ctx    context.Context //nolint:containedctx // of the program: commands of a model take no arguments
	source source
	win    *window
	list   list
	pane   pane

	input *input
	ask   string   // a question that waits for y or n
	args  []string // of the command that y runs
	note  string   // what became of a key
}

// input is a line that a person types: an answer, or a filter.
type input struct {
	task string // that the answer is for, and others like it; "": it filters
	args []string
	text string
}

// Messages to the model.
type (
	lookMsg  struct{}
	nightMsg struct {
		night *view.Night
		err   error
		log   *pageMsg // that is followed; nil: none is
		took  time.Duration
	}
	pageMsg struct {
		page leaf
		of   string
		text string
	}
	doneMsg struct {
		said string
		err  error
	}
)

func newModel(ctx context.Context, from source, night *view.Night, now func() time.Time, s style) *model {
	w := &window{style: s, now: now, night: night}
	m := &model{ctx: ctx, source: from, win: w, list: list{window: w}, pane: pane{window: w}}
	m.list.regroup()
	return m
}

// Init has the files looked at once the first picture is there.
func (m *model) Init() tea.Cmd { return later(lookEvery) }

func later(d time.Duration) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return lookMsg{} })
}

// look reads what is new, once.
func (m *model) look() tea.Cmd {
	ctx, from, read := m.ctx, m.source, func() *pageMsg { return nil }
	if p := &m.pane; p.page == logPage && p.atEnd() && (p.open || m.win.isWide()) {
		read = m.read()
	}
	return func() tea.Msg {
		began := time.Now()
		night, err := from.Next(ctx)
		return nightMsg{night, err, read(), time.Since(began)}
	}
}

// Update takes in a key, the size of the window, or what was read.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.win.w, m.win.h = msg.Width, msg.Height
		m.list.move(0)
		return m, m.turn(m.pane.page)
	case tea.KeyPressMsg:
		return m, m.key(msg.String(), msg.Text)
	case tea.PasteMsg:
		if m.input != nil {
			return m, m.typed("", plaintext.Line(msg.Content))
		}
	case lookMsg:
		return m, m.look()
	case nightMsg:
		return m, m.take(&msg)
	case pageMsg:
		m.pane.show(&msg)
	case doneMsg:
		if m.note = plaintext.Line(msg.said); msg.err != nil {
			m.note = plaintext.Line(strings.ReplaceAll(inWords(msg.err), "\n", ": "))
		}
	}
	return m, nil
}

// take takes in a night, and has the files looked at again.
func (m *model) take(msg *nightMsg) tea.Cmd {
	next := later(min(max(lookEvery, restParts*msg.took), mostRest))
	if msg.err != nil {
		m.note = plaintext.Line(inWords(msg.err))
	}
	if msg.log != nil {
		m.pane.show(msg.log)
	}
	if msg.night == nil {
		return next
	}
	before := m.list.row
	m.win.night = msg.night
	if m.list.regroup(); m.list.row == before {
		return next
	}
	return tea.Batch(next, m.turn(m.pane.page))
}

// turn has a page read in the background, if the pane is shown.
func (m *model) turn(to leaf) tea.Cmd {
	m.pane.begin(to, m.list.selected)
	if !m.pane.whole() && !m.win.isWide() || m.pane.of == "" && !to.ofNight() {
		return nil
	}
	read := m.read()
	return func() tea.Msg { return *read() }
}

// read returns what reads the page of the pane.
func (m *model) read() func() *pageMsg {
	ctx, from, width, row, msg := m.ctx, m.source, max(m.pane.width()-2, 20), m.list.row, &pageMsg{page: m.pane.page, of: m.pane.of}
	return func() *pageMsg {
		if msg.text = help; msg.page != helpPage {
			msg.text = from.Page(ctx, msg.page, row, width)
		}
		return msg
	}
}

// typed takes a key while a person types.
func (m *model) typed(key, text string) tea.Cmd {
	in := m.input
	switch {
	case key == "esc" || key == "ctrl+c":
		if m.input = nil; in.task == "" {
			in.text = ""
		}
	case key == "enter" && in.task == "":
		m.input = nil
	case key == "enter" && strings.TrimSpace(in.text) == "":
		m.note = "the answer is empty: type it, or press esc"
	case key == "enter":
		m.input = nil
		return m.do(append(in.args, strings.TrimSpace(in.text))...)
	case key == "backspace":
		_, size := utf8.DecodeLastRuneInString(in.text)
		in.text = in.text[:len(in.text)-size]
	case len(in.text)+len(text) <= attempts.MaxAnswer:
		in.text += plaintext.Clean(text)
	}
	if in.task == "" {
		m.list.filter, m.list.top = in.text, 0
		m.list.regroup()
	}
	return nil
}

// do runs a command of relay in the background.
func (m *model) do(args ...string) tea.Cmd {
	m.note = "relay " + strings.Join(args, " ") + " …"
	ctx, from := m.ctx, m.source
	return func() tea.Msg {
		said, err := from.Do(ctx, args...)
		return doneMsg{said, err}
	}
}

// View draws the screen.
func (m *model) View() tea.View {
	v := tea.NewView(strings.Join(m.screen(), "\n"))
	v.AltScreen = true
	return v
}

func (m *model) screen() (lines []string) {
	w, body := m.win, m.win.body()
	if w.w <= 0 || w.h <= 0 {
		return nil
	}
	blank, left := make([]string, body), w.w-m.pane.width()-1
	switch r := m.list.row; {
	case m.pane.whole():
		lines = append(m.pane.draw(r, body), blank...)
	case !w.isWide():
		lines = append(m.list.draw(w.w, body), blank...)
	default:
		beside, between := append(m.pane.draw(r, body), blank...), w.style.pick("│", "|")
		for i, row := range append(m.list.draw(left-1, body), blank...)[:body] {
			filled := displaywidth.Options{ControlSequences: true}.String(row)
			lines = append(lines, row+strings.Repeat(" ", max(left-filled, 0))+between+beside[i])
		}
	}
	lines = slices.Concat(w.head(), lines[:body], m.foot())
	if over := len(lines) - w.h; over > 0 { // a low window keeps its keys
		at := max(len(w.head())-over, 0)
		lines = slices.Delete(lines, at, at+over)
	}
	return lines
}

// foot draws the line that answers a key, and the line of keys.
func (m *model) foot() []string {
	said := m.note
	switch {
	case m.ask != "":
		said = m.ask + " y/n"
	case m.input != nil && m.input.task != "":
		said = "answer to " + m.input.task + " (enter sends, esc does not): " + m.input.text + "_"
	case m.input != nil:
		said = "show tasks with: " + m.input.text + "_"
	case said == "" && m.list.filter != "":
		said = "only tasks with: " + m.list.filter + "   (esc shows all)"
	case said == "" && len(m.win.night.Changed.Next) > 1: // landing comes before undoing, when no run is on
		said = "then " + m.win.night.Changed.Next[0].Type + ": " + m.win.night.Changed.Next[0].For
	case said == "":
		said = spread("", m.keysOfRun(), m.win.w-2)
	}
	for m.input != nil && displaywidth.String(said) >= m.win.w-1 && said != "" { // the end is what is typed
		_, size := utf8.DecodeRuneInString(said)
		said = said[size:]
	}
	return []string{coloured(view.NeedsYou, cut(" "+said, m.win.w)), cut(" "+m.keyLine(), m.win.w)}
}
