package watch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"relay/attempts"
	"relay/cmd/relay/internal/agentlog"
	"relay/epic/plaintext"
	"relay/orchestrator/view"
)

// source is where a night comes from, and who does what a person decides.
type source interface {
	Old() bool
	Next(ctx context.Context) (*view.Night, error)
	Graph() string
	Timeline() *view.Timeline
	Forecast(jobs int) *view.Forecast
	Part(ctx context.Context, id string, part agentlog.AttemptPart, width int) string
	Log(id string) (more func() string, done func())
	Do(ctx context.Context, act Act) (string, error)
}

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

// Sizes of screens, and how often files are looked at.
const (
	wide       = 140 // from here on the pane is beside the list
	lookEvery  = 500 * time.Millisecond
	restParts  = 50 // of the time that a look takes pass before the next one
	foretell   = time.Minute
	mostLines  = 4000 // of a log that is followed
	lineLength = 2000 // bytes of a line that are shown
	mostID     = 14   // columns of an id
)

// model is the state of the screen.
type model struct {
	ctx    context.Context //nolint:containedctx // of the program: commands of a model take no arguments
	source source
	now    func() time.Time
	style  style

	w, h     int
	night    *view.Night
	forecast *view.Forecast
	problem  string // why the night could not be read again

	selected string // id of a task
	top      int    // first line of the list that is shown
	all      bool   // folds are open
	filter   string
	rows     map[view.Group][]*view.Row // that the filter keeps
	idWidth  int                        // of the longest id, bounded

	page   page
	open   bool // the pane has the whole screen
	inPane bool // the keys that move are for the pane
	of     string
	lines  []string // of the page
	scroll int
	more   func() string // what has come of a log since
	done   func()        // ends it

	input *input
	ask   *Act   // waits for y or n
	note  string // what became of a key
}

// input is a line that a person types: an answer, or a filter.
type input struct {
	task string // "": it filters
	text string
}

// Messages to the model.
type (
	lookMsg  struct{}
	nightMsg struct {
		night *view.Night
		more  string // of the log that is followed
		of    string
		err   error
		took  time.Duration // reading it
	}
	forecastMsg struct{ forecast *view.Forecast }
	pageMsg     struct {
		page page
		of   string
		text string
		more func() string
		done func()
	}
	doneMsg struct {
		said string
		err  error
	}
)

// Init begins to look at the files.
func (m *model) Init() tea.Cmd { return tea.Batch(m.look(), m.foretell(time.Second)) }

// look reads what is new, once.
func (m *model) look() tea.Cmd {
	ctx, from, more, of := m.ctx, m.source, m.more, m.of
	return func() tea.Msg {
		began := time.Now()
		n, err := from.Next(ctx)
		msg := nightMsg{night: n, err: err, of: of, took: time.Since(began)}
		if more != nil {
			msg.more = more()
		}
		return msg
	}
}

func (m *model) foretell(after time.Duration) tea.Cmd {
	from, jobs := m.source, m.night.Run.Jobs
	return tea.Tick(after, func(time.Time) tea.Msg { return forecastMsg{from.Forecast(jobs)} })
}

// Update takes in a key, the size of the window, or what was read.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
		return m, m.reopen()
	case tea.KeyPressMsg:
		return m, m.key(msg.String(), msg.Text)
	case tea.PasteMsg:
		if m.input != nil {
			return m, m.typed("", plaintext.Line(msg.Content))
		}
	case lookMsg:
		return m, m.look()
	case nightMsg:
		return m, m.take(msg)
	case forecastMsg:
		m.forecast = msg.forecast
		return m, m.foretell(foretell)
	case pageMsg:
		m.show(msg)
	case doneMsg:
		if m.note = plaintext.Line(msg.said); msg.err != nil {
			m.note = plaintext.Line(strings.ReplaceAll(inWords(msg.err), "\n", ": "))
		}
	}
	return m, nil
}

// take takes in a night, and has the files looked at again.
func (m *model) take(msg nightMsg) tea.Cmd {
	next := tea.Tick(max(lookEvery, restParts*msg.took), func(time.Time) tea.Msg { return lookMsg{} })
	m.problem = ""
	if msg.err != nil {
		m.problem = plaintext.Line(inWords(msg.err))
	}
	if msg.more != "" && m.page == logPage && msg.of == m.of {
		atEnd := m.scroll >= m.lastScroll()
		m.lines = append(m.lines, m.textLines(msg.more)...)
		m.lines = m.lines[max(0, len(m.lines)-mostLines):]
		if atEnd {
			m.scroll = m.lastScroll()
		}
	}
	if msg.night == nil {
		return next
	}
	before := m.row()
	m.night = msg.night
	m.regroup()
	now := m.row()
	if now == before || now == nil || m.page == logPage && before != nil && now.Tries == before.Tries {
		return next
	}
	return tea.Batch(next, m.reopen())
}

// regroup finds the rows of each group that the filter keeps. Of what is done the last comes first.
func (m *model) regroup() {
	n := m.night
	m.rows = map[view.Group][]*view.Row{view.NeedsYou: n.Needs, view.Working: n.Working, view.Waiting: n.Waiting}
	for _, r := range slices.Backward(n.Done) {
		if r.State != view.Look {
			m.rows[view.IsDone] = append(m.rows[view.IsDone], r)
		}
	}
	m.idWidth = 0
	words := strings.Fields(strings.ToLower(m.filter))
	for g, list := range m.rows {
		for _, r := range list {
			m.idWidth = min(max(m.idWidth, len(r.ID)), mostID)
		}
		if len(words) == 0 {
			continue
		}
		var kept []*view.Row
		for _, r := range list {
			text := strings.ToLower(fmt.Sprintln(r.ID, r.Title, r.State, r.Section, r.Agent, r.Also))
			if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
				kept = append(kept, r)
			}
		}
		m.rows[g] = kept
	}
	m.selectNear(0)
}

// row returns the selected row; nil: there is none.
func (m *model) row() *view.Row {
	for _, g := range groups() {
		for _, r := range m.rows[g] {
			if r.ID == m.selected {
				return r
			}
		}
	}
	return nil
}

func groups() []view.Group {
	return []view.Group{view.NeedsYou, view.Working, view.Waiting, view.IsDone}
}

// selectNear moves the selection by so many rows, and to the first row if the selected one is not shown.
func (m *model) selectNear(by int) {
	var ids []string
	for _, it := range m.items() {
		if it.row != nil {
			ids = append(ids, it.row.ID)
		}
	}
	if len(ids) == 0 {
		m.selected = ""
		return
	}
	at := slices.Index(ids, m.selected)
	m.selected = ids[min(max(max(at, 0)+by, 0), len(ids)-1)]
}

// reopen has the page read again that is shown.
func (m *model) reopen() tea.Cmd {
	if !m.paneShown() {
		return nil
	}
	return m.turn(m.page)
}

func (m *model) paneShown() bool { return m.open || m.w >= wide || m.page.ofNight() }

// turn has a page read, in the background.
func (m *model) turn(to page) tea.Cmd {
	id := m.selected
	if to != m.page || id != m.of {
		m.scroll, m.lines = 0, nil
	}
	if m.done != nil {
		m.done()
		m.more, m.done = nil, nil
	}
	m.page, m.of = to, id
	ctx, from, style := m.ctx, m.source, m.style
	width := max(m.paneWidth()-2, 20)
	return func() tea.Msg {
		msg := pageMsg{page: to, of: id}
		switch to {
		case helpPage:
			msg.text = help
		case graphPage:
			msg.text = from.Graph()
		case timePage:
			msg.text = strings.Join(style.timeline(from.Timeline(), width), "\n")
		case logPage:
			msg.more, msg.done = from.Log(id)
			msg.text = msg.more()
		default:
			if id != "" {
				msg.text = from.Part(ctx, id, agentlog.AttemptPart(to), width)
			}
		}
		return msg
	}
}

// show shows a page that was read, unless another one is wanted by now.
func (m *model) show(msg pageMsg) {
	if msg.page != m.page || msg.of != m.of || m.done != nil {
		if msg.done != nil {
			msg.done()
		}
		return
	}
	m.lines, m.more, m.done = m.textLines(msg.text), msg.more, msg.done
	if m.scroll = min(m.scroll, m.lastScroll()); msg.page == logPage {
		m.scroll = m.lastScroll()
	}
}

// textLines returns text of agents and programs as lines without anything that a terminal would obey. Those of a diff and of pictures are
// not broken.
func (m *model) textLines(text string) (lines []string) {
	for line := range strings.SplitSeq(strings.TrimRight(plaintext.Clean(text), "\n"), "\n") {
		line = strings.ReplaceAll(plaintext.Head(line, lineLength), "\t", "    ")
		if m.page == diff || m.page.ofNight() {
			lines = append(lines, line)
		} else {
			lines = append(lines, wrapped(line, m.paneWidth()-2)...)
		}
	}
	return lines
}

// typed takes a key while a person types.
func (m *model) typed(key, text string) tea.Cmd {
	in := m.input
	switch {
	case key == "esc" || key == "ctrl+c":
		if m.input = nil; in.task == "" {
			m.filter = ""
			m.regroup()
		}
	case key == "enter" && in.task == "":
		m.input = nil
	case key == "enter" && strings.TrimSpace(in.text) == "":
		m.note = "the answer is empty: type it, or press esc"
	case key == "enter":
		m.input = nil
		return m.do(Act{What: attempts.RequestAnswer, Task: in.task, Text: strings.TrimSpace(in.text)})
	case key == "backspace":
		_, size := utf8.DecodeLastRuneInString(in.text)
		in.text = in.text[:len(in.text)-size]
	case key == "ctrl+u":
		in.text = ""
	case text != "" && len(in.text)+len(text) <= attempts.MaxAnswer:
		in.text += plaintext.Clean(text)
	}
	if m.input != nil && in.task == "" {
		m.filter, m.top = in.text, 0
		m.regroup()
	}
	return nil
}

// do has something done, in the background.
func (m *model) do(act Act) tea.Cmd {
	m.note = fmt.Sprintf("%s %s …", act.What, act.Task)
	ctx, from := m.ctx, m.source
	return func() tea.Msg {
		said, err := from.Do(ctx, act)
		return doneMsg{said, err}
	}
}
