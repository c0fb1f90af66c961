package page

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic/each"
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
	Bar    []cell
	First  []*row // that need a person
	Rest   []*row // and those after the first dozen
	groups []*group
	Small  bool
	Alone  bool          // only the pictures are shown
	Caught [][]view.Note // the notes; those after the first dozen are a list of their own
}

// row is a task in a list, or on its own page.
type row struct {
	*view.Row
	times
	O      *Options
	Record *attempts.TaskRecord // what was tried of it, where that is shown
	Parts  []Link
}

// group is a list of tasks.
type group struct {
	Group    view.Group
	Rows     int
	Open     bool
	Sections []*Section // one without a name: the rows are in one list
}

// Section is a part of the plan in a group.
type Section struct {
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

func newRow(r *view.Row, o *Options) *row { return &row{Row: r, times: times{o.Zone}, O: o} }

func titleOf(n *view.Night) string {
	title := fmt.Sprintf("%d of %d done", n.Sentence.Done, n.Sentence.Total)
	if n.Sentence.NeedYou > 0 {
		title += fmt.Sprintf(", %d %s you", n.Sentence.NeedYou, plaintext.Verb(n.Sentence.NeedYou, "needs", "need"))
	}
	return title + plaintext.Because(n.Epic.Title)
}

func newNight(of *view.Night, o *Options) *night {
	n := &night{Words: Said(of, *o), Small: of.Counts.Total() <= smallNight, Bar: barOf(of)}
	for k, r := range of.Needs {
		if one := newRow(r, o); k < mostNeeds || len(of.Needs) == mostNeeds+1 {
			n.First = append(n.First, one)
		} else {
			n.Rest = append(n.Rest, one)
		}
	}
	n.add(view.Working, of.Working, true)
	n.add(view.Waiting, of.Waiting, len(of.Waiting) <= mostRows)
	n.add(view.IsDone, of.Done, n.Small)
	if other := n.Other(); len(other) > mostNotes+1 {
		n.Caught = [][]view.Note{other[:mostNotes], other[mostNotes:]}
	} else if len(other) > 0 {
		n.Caught = [][]view.Note{other}
	}
	return n
}

// DrawnGraph draws the graph of the night.
func (n *night) DrawnGraph() template.HTML {
	return template.HTML(picture.Graph(n.Graph, picture.Options{Zone: n.O.Zone, Link: n.O.Link}))
}

// DrawnTimeline draws the timeline of the night.
func (n *night) DrawnTimeline() template.HTML {
	return template.HTML(picture.Timeline(n.Timeline, picture.Options{Zone: n.O.Zone, Link: n.O.Link}))
}

// add adds a group of tasks.
func (n *night) add(of view.Group, rows []*view.Row, open bool) {
	g := &group{Group: of, Rows: len(rows), Open: open, Sections: n.Sections(rows)}
	if n.O.Lazy && len(rows) > mostRows {
		for k, s := range g.Sections {
			s.Load = fmt.Sprintf("%s/%d", strings.ReplaceAll(string(of), " ", "-"), k)
		}
	}
	n.groups = append(n.groups, g)
}

// Sections sums up tasks by the sections of the plan. So few that one list has room for them are in one section.
func (n *Words) Sections(rows []*view.Row) (list []*Section) {
	byName := map[string]*Section{}
	for _, r := range rows {
		name := ""
		if len(rows) > mostRows {
			name = cmp.Or(r.Section, "the others")
		}
		s := byName[name]
		if s == nil {
			s = &Section{Name: name}
			byName[name], list = s, append(list, s)
		}
		s.Rows = append(s.Rows, newRow(r, n.O))
		s.Added, s.Deleted, s.USD = s.Added+r.Added, s.Deleted+r.Deleted, s.USD+r.Usage.CostUSD
	}
	return list
}

// Tasks returns a group by its name.
func (n *night) Tasks(name string) *group {
	at := slices.IndexFunc(n.groups, func(g *group) bool { return string(g.Group) == name })
	return n.groups[at]
}

// Counted is a number of tasks in a state.
type Counted struct {
	State view.State
	N     int
}

// Legend returns the numbers of tasks by state.
func (n *Words) Legend() []Counted {
	return each.Where(view.States(), func(s view.State) (Counted, bool) { return Counted{s, n.Counts[s]}, n.Counts[s] > 0 })
}

// barOf returns the parts of the bar: tasks in a small night, else states, none so narrow that its symbol does not fit.
func barOf(n *view.Night) (bar []cell) {
	const least, gap = 3.6, 0.4
	total := n.Counts.Total()
	for _, s := range view.States() {
		if total > smallNight && n.Counts[s] > 0 {
			bar = append(bar, cell{State: s})
		}
		for _, r := range slices.Concat(n.Needs, n.Working, n.Waiting, n.Done) {
			listed := func(c cell) bool { return c.Label == r.ID }
			if total <= smallNight && r.State == s && !slices.ContainsFunc(bar, listed) {
				bar = append(bar, cell{State: s, Label: r.ID})
			}
		}
	}
	x, free := 0.0, 100-(least+gap)*float64(len(bar))
	for k := range bar {
		c, share := &bar[k], 1/float64(len(bar))
		if c.Label == "" {
			share = float64(n.Counts[c.State]) / float64(total)
		}
		c.X, c.Width = x, least+free*share
		if x += c.Width + gap; c.Label == "" && c.Width > 30 {
			c.Label = fmt.Sprintf("%d %s", n.Counts[c.State], c.State)
		}
	}
	return bar
}

// Opened returns the row with what was tried of the task; nil: it does not open.
func (r *row) Opened() *row {
	if r.O.Record == nil {
		return nil
	}
	opened := *r
	opened.Record = cmp.Or(r.O.Record(r.ID), &attempts.TaskRecord{})
	return &opened
}

// Reason says why a task needs a person, and what waits for it.
func Reason(r *view.Row) string {
	if r.FreesAll == 0 {
		return r.Why
	}
	return strings.TrimPrefix(r.Why+"; "+r.Waiters(), "; ")
}
