package importer

import (
	"cmp"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"relay/epic"
	"relay/epic/blueprint"
	"relay/epic/each"
	"relay/epic/importer/internal/markdown"
	"relay/epic/importer/internal/placed"
	"relay/epic/plaintext"
)

// draft is an epic in the making.
type draft struct {
	made        Plan // as far as it is made
	file, shown string
	title       string
	description []string // paragraphs
	checks      []string // commands that the plan itself calls checks
	items       []*item
	groups      map[string]group // by their names: those that wait for others
	problems    epic.Problems
	edges       int
}

// item is a task as its plan has it.
type item struct {
	id          string // in the plan
	as          string // the id that its task is to have; "" : made of id
	file        string // "" : that of the draft
	line        int
	title       string
	written     string   // its line in the plan, where the title has no marks of code
	description []string // paragraphs
	shared      []string // paragraphs that other tasks have as well
	criteria    []string
	files       []string // that the plan lists; more are taken from its text
	priority    int      // 0 to 3
	kind        epic.Kind
	ordered     bool   // the plan says what it waits for, perhaps nothing
	beside      string // the part of the plan in which it may be done beside others
	points      float64
	after       []reference
	group       string
	done        bool
	left        bool        // left out though it is not done
	state       placed.Edit // what makes it done in its file; its zero value: the box in its line, or in
	box         int         // this line
	boxes       []int       // lines of boxes below it, which are ticked with it
	node        *placed.Node
	twice       int // the line of the next item with the same id; 0: there is none
}

// open reports whether an item becomes a task.
func (it *item) open() bool { return !it.done && !it.left }

// reference is another item that one waits for.
type reference struct {
	id   string
	line int
	item *item // where its id is known to mean this one; nil: whichever has the id
}

// follow makes an item wait for another.
func (it *item) follow(before *item) {
	it.after = append(it.after, reference{before.id, it.line, before})
}

// group says what a part of a plan waits for: its tasks all wait for those of other parts.
type group struct {
	after []string
	line  int // where it says what it waits for; 0: it does not
	twice bool
}

// normal is the priority of a task that says none.
const normal = 2

// tell notes a line of the plan of which nothing is made, tellOf one of another file.
func (d *draft) tell(line int, why string) { d.tellOf(d.file, line, why) }

func (d *draft) tellOf(file string, line int, why string) {
	d.made.Told = append(d.made.Told, Told{File: d.at(file), Line: line, Why: why})
}

func (d *draft) at(file string) string { return path.Join(d.shown, file) }

func (d *draft) fail(line int, format string, args ...any) {
	d.problems.Add(d.at(d.file), epic.Place{Line: line}, "", format, args...)
}

// after takes the ids that an item waits for: a list, or a text with commas.
func (d *draft) after(it *item, n *placed.Node) {
	for on := range strings.SplitSeq(n.String(), ",") {
		if on = strings.TrimSpace(on); on != "" {
			it.after = append(it.after, reference{id: on, line: n.Line})
		}
	}
	for _, dep := range n.List() {
		if on := dep.String(); on != "" {
			it.after = append(it.after, reference{id: on, line: dep.Line})
		} else if dep.Says() {
			d.tell(dep.Line, "this is not an id, so "+markdown.Clip(it.id, 60)+" does not wait for it")
		}
	}
}

// unread names the fields of objects, and of those of open items, that no reader has used, in their order or sorted.
func (d *draft) unread(sorted bool, objects ...*placed.Node) {
	open := each.Where(d.items, func(it *item) (*placed.Node, bool) { return it.node, it.open() })
	names, line := placed.Unread(append(objects, open...))
	for i, name := range names {
		names[i] = markdown.Clip(name, 40)
	}
	if sorted {
		slices.Sort(names)
	}
	if len(names) > 0 {
		d.tell(line, "briefs leave out the fields "+plaintext.Some(names, 20))
	}
}

// nothing says why no task is left.
func (d *draft) nothing() {
	why, hint := "no task was found in it", ""
	if d.made.Done > 0 {
		why = "nothing is left to do in it: " + plaintext.Count(d.made.Done, "item") + " done"
	}
	work := slices.ContainsFunc(d.made.Told, func(t Told) bool { return !t.Beside })
	if path.Ext(d.file) == ".md" && (d.made.Done == 0 || work) { // an agent may find a task in it
		hint = blueprint.Form
	}
	d.problems.Add(d.at(d.file), epic.Place{Line: 1}, hint, "%s", why)
	for _, t := range d.made.Told {
		d.problems.Add(t.File, epic.Place{Line: t.Line}, "", "%s", t.Why)
	}
}

// plan makes the epic of what has been read.
func (d *draft) plan(now time.Time) (*Plan, error) {
	e := &epic.Epic{Version: 2, Source: d.at(d.file), CreatedAt: now.UTC().Format(time.RFC3339), Title: markdown.Clip(d.title, maxTitle)}
	e.ID = blueprint.ID(e.Title, now)
	e.Description = strings.Join(d.description, "\n\n")
	check := func(run string) epic.Check { return epic.Check{Name: run, Run: run, Expect: epic.ExpectPass} }
	e.Checks = append(e.Checks, each.Of(d.checks, check)...)
	p := &d.made
	p.Epic = e
	ids := settleIDs(d)
	var open []*item
	for _, it := range d.items {
		if it.done {
			p.Done++
		}
		if !it.open() {
			continue
		}
		open = append(open, it)
		t := taskOf(d, it, ids)
		e.Tasks = append(e.Tasks, t)
		p.Offered.AddFrom(d.at(cmp.Or(it.file, d.file)), it.line, append(slices.Clone(it.criteria), t.Description, it.title)...)
	}
	e.Groups = grouped(d)
	if len(open) == 0 && len(d.problems) == 0 {
		d.nothing()
	}
	if len(d.problems) == 0 {
		err := epic.Validate(d.at(d.file), e, func(r epic.Ref) epic.Place {
			switch r.Part {
			case epic.TaskPart:
				return epic.Place{Line: open[r.N].line, Column: 1}
			case epic.GroupPart:
				return epic.Place{Line: max(1, d.groups[e.Groups[r.N].Name].line), Column: 1}
			default: // the epic itself
				return epic.Place{Line: 1, Column: 1}
			}
		})
		if !errors.As(err, &d.problems) && err != nil {
			return nil, err
		}
	}
	if len(d.problems) > 0 {
		return nil, d.problems.Sorted()
	}
	slices.SortStableFunc(p.Told, func(a, b Told) int { return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	return p, nil
}
