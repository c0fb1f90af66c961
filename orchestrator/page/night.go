package page

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/picture"
	"relay/orchestrator/report"
	"relay/orchestrator/view"
)

// Bounds of what a page shows before something is unfolded.
const (
	mostNeeds  = 12 // rows that need a person
	mostRows   = 60 // rows of a group in one list; more are folded by the sections of the plan
	mostNotes  = 12
	smallNight = 12 // tasks up to which what is done is unfolded, and pictures are not
)

// night is a night as the templates see it.
type night struct {
	*view.Night
	o         *Options
	Bar       []cell
	First     []*row // that need a person
	Rest      []*row // and those after the first dozen
	groups    []*group
	Small     bool
	Graph     template.HTML
	Timeline  template.HTML
	GraphSays string
	Caught    []view.Note // the first of the notes
	More      []view.Note
}

// row is a task in a list.
type row struct {
	*view.Row
	o     *Options
	Group view.Group
}

// group is a list of tasks.
type group struct {
	Group    view.Group
	Rows     int
	Open     bool
	Sections []*section // one without a name: the rows are in one list
}

// section is a part of the plan in a group.
type section struct {
	Name           string
	Rows           []*row
	Added, Deleted int
	USD            float64
	Load           string // what to ask for the rows, if they are left out
}

// cell is a part of the bar, in percent.
type cell struct {
	X, Width float64
	State    view.State
	Label    string // "": it has its symbol
}

func titleOf(n *view.Night) string {
	title := fmt.Sprintf("%d of %d done", n.Sentence.Done, n.Sentence.Total)
	if n.Sentence.NeedYou > 0 {
		title += fmt.Sprintf(", %d %s you", n.Sentence.NeedYou, plaintext.Verb(n.Sentence.NeedYou, "needs", "need"))
	}
	return title + plaintext.Because(n.Epic.Title)
}

func newNight(of *view.Night, o *Options) *night {
	n := &night{Night: of, o: o, Small: of.Counts.Total() <= smallNight, Bar: barOf(of)}
	for k, r := range of.Needs {
		if one := (&row{r, o, view.NeedsYou}); k < mostNeeds || len(of.Needs) == mostNeeds+1 {
			n.First = append(n.First, one)
		} else {
			n.Rest = append(n.Rest, one)
		}
	}
	n.add(view.Working, of.Working, true)
	n.add(view.Waiting, of.Waiting, len(of.Waiting) <= mostRows)
	n.add(view.IsDone, of.Done, n.Small)
	if of.Graph != nil {
		n.Graph = template.HTML(picture.Graph(of.Graph, picture.Options{Zone: o.zone(), Link: o.Link}))
		n.GraphSays = plaintext.Count(of.Graph.Levels, "level")
		if len(of.Graph.Critical) > 1 && len(of.Graph.Nodes) <= 150 {
			n.GraphSays = "heavy line: critical path, " + n.GraphSays
		}
	}
	if of.Timeline != nil && len(of.Timeline.Spans) > 0 {
		n.Timeline = template.HTML(picture.Timeline(of.Timeline, picture.Options{Zone: o.zone(), Link: o.Link}))
	}
	for _, note := range of.Notes {
		if note.Kind != "gated" { // those that still are need a person
			n.Caught = append(n.Caught, note)
		}
	}
	if len(n.Caught) > mostNotes+1 {
		n.Caught, n.More = n.Caught[:mostNotes], n.Caught[mostNotes:]
	}
	return n
}

// add adds a group of tasks. A long one is folded by the sections of the plan.
func (n *night) add(of view.Group, rows []*view.Row, open bool) {
	g := &group{Group: of, Rows: len(rows), Open: open}
	byName := map[string]*section{}
	for _, r := range rows {
		name := ""
		if len(rows) > mostRows {
			name = cmp.Or(r.Section, "the others")
		}
		s := byName[name]
		if s == nil {
			s = &section{Name: name}
			byName[name] = s
			g.Sections = append(g.Sections, s)
		}
		s.Rows = append(s.Rows, &row{r, n.o, of})
		s.Added, s.Deleted, s.USD = s.Added+r.Added, s.Deleted+r.Deleted, s.USD+r.Usage.CostUSD
	}
	if n.o.Lazy && len(rows) > mostRows {
		for k, s := range g.Sections {
			s.Load = fmt.Sprintf("%s/%d", strings.ReplaceAll(string(of), " ", "-"), k)
		}
	}
	n.groups = append(n.groups, g)
}

// Tasks returns a group by its name.
func (n *night) Tasks(name string) *group {
	at := slices.IndexFunc(n.groups, func(g *group) bool { return string(g.Group) == name })
	return n.groups[at]
}

// barOf returns the parts of the bar: tasks in a small night, else states, none so narrow that its symbol does not fit.
func barOf(n *view.Night) (bar []cell) {
	if total := n.Counts.Total(); total <= smallNight {
		all := slices.Concat(n.Needs, n.Working, n.Waiting, n.Done)
		for _, s := range view.States() {
			for _, r := range all {
				listed := func(c cell) bool { return c.Label == r.ID }
				if r.State == s && !slices.ContainsFunc(bar, listed) {
					bar = append(bar, cell{State: s, Label: r.ID})
				}
			}
		}
		for k := range bar {
			bar[k].X, bar[k].Width = 100*float64(k)/float64(len(bar)), 100/float64(len(bar))
		}
		return bar
	}
	const least = 3.6
	for _, s := range view.States() {
		if n.Counts[s] > 0 {
			bar = append(bar, cell{State: s})
		}
	}
	x, free := 0.0, 100-least*float64(len(bar))
	for k := range bar {
		c := &bar[k]
		count := n.Counts[c.State]
		c.X, c.Width = x, least+free*float64(count)/float64(n.Counts.Total())
		if x += c.Width; c.Width > 30 {
			c.Label = fmt.Sprintf("%d %s", count, c.State)
		}
	}
	return bar
}

// Headline returns the sentence, and what to do first.
func (n *night) Headline() [2]string {
	done := n.Night.Sentence
	if done.Start == "" {
		return [2]string{done.String()}
	}
	first := done.Start + "."
	done.Start = ""
	return [2]string{done.String(), first}
}

// Legend returns the numbers of tasks by state, in words.
func (n *night) Legend() (list []struct {
	State view.State
	N     int
	Word  string
}) {
	for _, s := range view.States() {
		if c := n.Counts[s]; c > 0 {
			word := string(s)
			switch s {
			case view.Look:
				word = "done, with a look"
			case view.Asks:
				word = plaintext.Verb(c, "asks", "ask")
			default:
			}
			list = append(list, struct {
				State view.State
				N     int
				Word  string
			}{s, c, word})
		}
	}
	return list
}

// When says when the night was.
func (n *night) When() string {
	r := &n.Run
	if r.Began.IsZero() {
		return ""
	}
	said := n.o.day(r.Began) + ", " + n.o.clock(r.Began) + " to "
	if r.State == view.On {
		return said + n.o.clock(n.At) + ", still running"
	}
	if r.EndedAt.IsZero() {
		return strings.TrimSuffix(said, " to ")
	}
	return said + n.o.clock(r.EndedAt)
}

// Ending says how the run ended, or that it goes on.
func (n *night) Ending() string {
	switch n.Run.State {
	case view.Ended:
		left := n.Counts.Total() - n.Counts.Group(view.IsDone)
		return "The run ended: " + report.Headline(decide.EndReason(n.Run.Reason), left) + plaintext.Because(n.Run.Why) + "."
	case view.Killed:
		return "The run was killed. Nothing recorded is lost; relay work continues."
	case view.Never:
		return "There has been no run yet."
	}
	return ""
}

// Figures are the time, the money and the end, in words.
func (n *night) Figures() string {
	var parts []string
	if end := cmp.Or(n.Run.EndedAt, n.At); !n.Run.Began.IsZero() && end.After(n.Run.Began) {
		parts = append(parts, span(end.Sub(n.Run.Began).Seconds()))
	}
	if u := n.Money.Night; u.CostUSD > 0 {
		said := usd(u.CostUSD)
		for _, c := range n.Money.Caps {
			if c.USD != nil {
				said = fmt.Sprintf("%s of %s", usd(c.USD.Spent), usd(c.USD.Cap))
				break
			}
		}
		parts = append(parts, said+" USD")
	}
	switch f := n.Forecast; {
	case n.Run.State == view.On && f != nil:
		parts = append(parts, "done about "+n.o.clock(f.P50))
	case !n.Run.EndedAt.IsZero():
		parts = append(parts, "ended "+n.o.clock(n.Run.EndedAt))
	}
	return strings.Join(parts, ", ")
}

// Came compares what was expected with what came.
func (n *night) Came() (rows [][3]string) {
	expected := func(f *view.Forecast) string { return n.o.clock(f.P50) + " to " + n.o.clock(f.P90) }
	end := "still running"
	if n.Forecast != nil && n.Run.State == view.On {
		end = expected(n.Forecast)
	}
	if !n.Run.EndedAt.IsZero() {
		end = n.o.clock(n.Run.EndedAt)
	}
	if b := n.o.Begun; b != nil {
		rows = append(rows, [3]string{"end", expected(b), end}, [3]string{"tasks done", fmt.Sprint(b.Tasks), fmt.Sprint(n.Counts.Group(view.IsDone))})
	} else if n.Forecast != nil {
		rows = append(rows, [3]string{"end", "", end}, [3]string{"tasks left that can be done", "", fmt.Sprint(n.Forecast.Tasks)})
	}
	return rows
}

// Warnings are about the records.
func (n *night) Warnings() []string { return n.o.Warnings }

// Made says when the page was made.
func (n *night) Made() string { return n.o.day(n.At) + ", " + n.o.clock(n.At) }

// Caps say what is left of the caps.
func (n *night) Caps() (list []string) {
	for _, c := range n.Money.Caps {
		if c.USD != nil {
			list = append(list, fmt.Sprintf("%.2f of %.2f USD are left of the cap of the %s", c.USD.Left, c.USD.Cap, c.Scope))
		}
	}
	return list
}

// Seconds returns how long all agents were at work.
func (n *night) Seconds() (all float64) {
	for i := range n.Money.By {
		all += n.Money.By[i].Seconds
	}
	return all
}

// Tries returns the number of attempts of the night.
func (n *night) Tries() (all int) {
	for i := range n.Money.By {
		all += n.Money.By[i].Attempts
	}
	return all
}

// Remark says in a few words what is special about a task in a list.
func (r *row) Remark() string {
	switch {
	case r.Phase != "" && r.Phase != view.PhaseAgent:
		return string(r.Phase) + " since " + r.o.clock(r.PhaseAt)
	case r.State == view.Look:
		return "look: " + r.Why
	case r.Why != "":
		return r.Why
	case r.Tries > 1:
		return plaintext.Count(r.Tries, "attempt")
	}
	return ""
}

// Time says when a task was done or began.
func (r *row) Time() string {
	switch {
	case !r.LandedAt.IsZero():
		return "landed " + r.o.clock(r.LandedAt)
	case r.State == view.Running && !r.Since.IsZero():
		return "since " + r.o.clock(r.Since)
	case r.Group == view.IsDone && !r.Since.IsZero():
		return r.o.clock(r.Since)
	}
	return ""
}

// Opened returns what was tried of the task; nil: its row does not open.
func (r *row) Opened() *detail {
	if r.o.Record == nil {
		return nil
	}
	return newDetail(&Detail{Row: r.Row, Record: r.o.Record(r.ID)}, r.o)
}

// To is the address of the task's own page; "": there is none.
func (r *row) To() string {
	if r.o.Link == nil {
		return ""
	}
	return r.o.Link(r.ID)
}

// Anchor reports whether links to the task lead to this row: what needs a person is above as well.
func (r *row) Anchor() bool { return r.State.Group() != view.NeedsYou }

// Answers are the equal answers to a question.
func (r *row) Answers() []view.Command { return append([]view.Command{*r.First}, r.Choices...) }

// Buttons are what the caller adds to the row.
func (r *row) Buttons() template.HTML {
	if r.o.Extra == nil {
		return ""
	}
	return r.o.Extra(r.Row)
}

// Reason says why a task needs a person, and what waits for it.
func (r *row) Reason() string {
	if r.FreesAll == 0 {
		return r.Why
	}
	frees := "frees " + plaintext.Some(r.Frees, len(r.Frees))
	if more := r.FreesAll - len(r.Frees); more > 0 {
		frees += fmt.Sprintf(" and %d more", more)
	}
	return strings.TrimPrefix(r.Why+"; "+frees, "; ")
}

// AlsoSays names the tasks that share the row.
func (r *row) AlsoSays() string {
	if len(r.Also) == 0 {
		return ""
	}
	return fmt.Sprintf("and %d more: same cause (%s)", len(r.Also), plaintext.Some(r.Also, 8))
}
