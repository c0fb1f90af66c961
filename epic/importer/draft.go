package importer

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"relay/epic"
	"relay/epic/blueprint"
	"relay/internal/plaintext"
)

// draft is an epic in the making.
type draft struct {
	file, shown string
	title       string
	description []string // paragraphs
	checks      []string // commands that the plan itself calls checks
	items       []*item
	groups      []group
	told        []Told
	offered     []blueprint.Command
	problems    epic.Problems
}

// item is a task as its plan has it.
type item struct {
	id          string // in the plan
	as          string // the id that its task is to have; "" : made of id
	file        string // "" : that of the draft
	line        int
	title       string
	description []string // paragraphs
	criteria    []string
	priority    int // 0 to 3
	kind        epic.Kind
	points      float64
	after       []reference
	group       string
	done        bool
	left        bool // left out though it is not done
	state       edit // what makes it done in its file; its zero value: the box in its line, or in
	box         int  // this line
}

// open reports whether an item becomes a task.
func (it *item) open() bool { return !it.done && !it.left }

// reference is another item that one waits for.
type reference struct {
	id   string
	line int
}

// group is a part of a plan whose tasks all wait for those of other parts.
type group struct {
	name  string
	after []string
}

// normal is the priority of a task that says none.
const normal = 2

// tell notes a line of which nothing is made.
func (d *draft) tell(line int, why string) { d.told = append(d.told, Told{d.at(d.file), line, why}) }

func (d *draft) at(file string) string { return path.Join(d.shown, file) }

func (d *draft) fail(line int, format string, args ...any) {
	d.problems = append(d.problems, epic.Problem{
		File: d.at(d.file), Line: max(line, 1), Column: 1, Message: fmt.Sprintf(format, args...),
	})
}

// plan makes the epic of what has been read.
func (d *draft) plan(now time.Time) (*Plan, error) {
	e := &epic.Epic{Version: 2, Source: d.at(d.file), CreatedAt: now.UTC().Format(time.RFC3339), Title: clip(d.title, maxTitle)}
	e.ID = blueprint.ID(e.Title, now)
	e.Description = strings.Join(d.description, "\n\n")
	for _, run := range d.checks {
		e.Checks = append(e.Checks, epic.Check{Name: run, Run: run, Expect: epic.ExpectPass})
	}
	p := &Plan{Epic: e}
	ids := d.ids()
	var open []*item
	for _, it := range d.items {
		if it.done {
			p.Done++
		}
		if !it.open() {
			continue
		}
		open = append(open, it)
		e.Tasks = append(e.Tasks, d.task(it, ids))
	}
	e.Groups = d.grouped(open)
	if len(open) == 0 && len(d.problems) == 0 {
		why := "no task was found in it"
		if p.Done > 0 {
			why = "what it has to do is done, " + strconv.Itoa(p.Done) + " in all"
		}
		d.fail(1, "%s", why)
	}
	if len(d.problems) == 0 {
		err := epic.Validate(d.at(d.file), e, func(r epic.Ref) epic.Place {
			if r.Part == epic.TaskPart {
				return epic.Place{Line: open[r.N].line, Column: 1}
			}
			return epic.Place{Line: 1, Column: 1}
		})
		if found, ok := asProblems(err); ok {
			d.problems = found
		} else if err != nil {
			return nil, err
		}
	}
	if len(d.problems) > 0 {
		slices.SortStableFunc(d.problems, func(a, b epic.Problem) int { return cmp.Compare(a.Line, b.Line) })
		return nil, d.problems
	}
	p.Told = d.told
	for _, c := range d.offered {
		p.Offered = append(p.Offered, Offered{File: d.at(d.file), Line: c.Line, Run: c.Run})
	}
	sortTold(p.Told)
	return p, nil
}

// Sizes, in bytes, of what a task may hold.
const (
	maxTitle  = 300
	maxTaskID = 32
)

// task makes one task.
func (d *draft) task(it *item, ids map[string]*item) epic.Task {
	it.title = strings.TrimSpace(plaintext.Clean(it.title))
	t := epic.Task{
		ID: it.as, Title: clip(it.title, maxTitle), Kind: cmp.Or(it.kind, epic.KindFeature), Priority: it.priority, Points: it.points,
		Source: fmt.Sprintf("%s:%d (%s)", d.at(cmp.Or(it.file, d.file)), it.line, it.id),
	}
	if it.line == 0 {
		t.Source = fmt.Sprintf("%s (%s)", it.file, it.id)
	}
	if t.Title != it.title {
		it.description = slices.Insert(it.description, 0, it.title)
	}
	t.Description = strings.Join(it.description, "\n\n")
	for _, text := range it.criteria {
		t.Criteria = append(t.Criteria, epic.Criterion{Text: text})
	}
	for _, ref := range it.after {
		on := ids[ref.id]
		switch {
		case on == nil:
			d.fail(ref.line, "%s waits for %s, which is not in the plan", it.id, ref.id)
		case on.left && !on.done:
			d.tell(ref.line, fmt.Sprintf("%s waits for %s, which is left out", it.id, on.id))
		case on.open() && !slices.Contains(t.DependsOn, on.as):
			t.DependsOn = append(t.DependsOn, on.as)
		}
	}
	return t
}

// grouped returns the groups that have open tasks. A group whose tasks are all done holds nobody up, but what it waits for does.
func (d *draft) grouped(open []*item) (list []epic.Group) {
	has := map[string][]string{}
	for _, it := range open {
		has[it.group] = append(has[it.group], it.as)
	}
	after := map[string][]string{}
	for _, g := range d.groups {
		var on []string
		for _, name := range g.after {
			if len(has[name]) > 0 {
				on = append(on, name)
			} else {
				on = append(on, after[name]...)
			}
		}
		slices.Sort(on)
		after[g.name] = slices.Compact(on)
		if len(has[g.name]) > 0 {
			list = append(list, epic.Group{Name: g.name, Tasks: has[g.name], BlockedBy: after[g.name]})
		}
	}
	return list
}

// ids gives every item an id that a task may have, and returns the items by the ids of the plan.
func (d *draft) ids() map[string]*item {
	byID, taken := map[string]*item{}, map[string]bool{}
	for _, it := range d.items {
		switch first := byID[it.id]; {
		case first == nil:
			byID[it.id] = it
		case it.open():
			d.tell(it.line, fmt.Sprintf("%s stands in line %d as well: who waits for it waits for that one", clip(it.id, 60), first.line))
		}
		base := taskID(cmp.Or(it.as, it.id))
		it.as = base
		for n := 2; taken[strings.ToLower(it.as)]; n++ {
			suffix := "-" + strconv.Itoa(n)
			it.as = base[:min(len(base), maxTaskID-len(suffix))] + suffix
		}
		taken[strings.ToLower(it.as)] = true
	}
	return byID
}

// taskID makes of an id of a plan one that a task may have: 1.2 becomes T1-2.
func taskID(id string) string {
	var b strings.Builder
	for _, r := range id {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	made := strings.Trim(b.String(), "-_")
	if made == "" || made[0] >= '0' && made[0] <= '9' {
		made = "T" + made
	}
	return strings.TrimRight(made[:min(len(made), maxTaskID)], "-_")
}
