package page

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"relay/epic/plaintext"
	"relay/orchestrator/picture"
	"relay/orchestrator/view"
)

// Bounds of what a page shows before something is unfolded.
const (
	mostNeeds  = 12 // rows that need a person
	mostRows   = 40 // rows of a group in one list; more are folded by the sections of the plan
	mostNotes  = 12
	smallNight = 12 // tasks up to which what is done is unfolded, and pictures are not
)

// night is a night as the templates see it.
type night struct {
	Words
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
	n := &night{Words: Words{of, o}, Small: of.Counts.Total() <= smallNight, Bar: barOf(of)}
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
	const least, gap = 3.6, 0.4
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
			bar[k].X, bar[k].Width = 100*float64(k)/float64(len(bar)), 100/float64(len(bar))-gap
		}
		return bar
	}
	for _, s := range view.States() {
		if n.Counts[s] > 0 {
			bar = append(bar, cell{State: s})
		}
	}
	x, free := 0.0, 100-(least+gap)*float64(len(bar))
	for k := range bar {
		c := &bar[k]
		count := n.Counts[c.State]
		c.X, c.Width = x, least+free*float64(count)/float64(n.Counts.Total())
		if x += c.Width + gap; c.Width > 30 {
			c.Label = fmt.Sprintf("%d %s", count, c.State)
		}
	}
	return bar
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
func (r *row) Reason() string { return Reason(r.Row) }

// Reason says why a task needs a person, and what waits for it.
func Reason(r *view.Row) string {
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
