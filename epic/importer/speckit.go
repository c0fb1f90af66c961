package importer

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"relay/epic/importer/internal/markdown"
	"relay/epic/pattern"
)

var (
	speckitTask    = pattern.New(`^\**(T\d{3,}(?:[.-]\d+)?[a-z]?)\b\**[ \t]*((?:\[[^\]]*\][ \t]*)*)(.+)$`)
	speckitDepends = pattern.New(`(?i)\(?\bdepends on:?\s+((?:T\d{3,}(?:\.\d+)?[a-z]?(?:\s*(?:,|and|&)\s*)?)+)`)
	speckitAfter   = pattern.New(`(?i)\s*\(\s*depends on:?\s+(?:T\d{3,}(?:\.\d+)?[a-z]?(?:\s*(?:,|and|&)\s*)?)+\)`)
	speckitSpan    = pattern.New(`(T\d{3,}(?:\.\d+)?[a-z]?)(?:\s*(?:[-–—]|to|through)\s*(T\d{3,}[a-z]?))?`)
	speckitLabel   = pattern.New(`\[([^\]]*)\]`)
	speckitUser    = pattern.New(`(?i)\buser stor(?:y|ies)\b`)
	speckitOrder   = pattern.New(`(?i)\bdepend|parallel|依赖|依存|并行|並行|병렬|paralel`) //nolint:misspell // Spanish
	speckitNumber  = pattern.New(`(?i)\buser story\s+(\d+)`)
	speckitPhase   = pattern.New(`(?i)\bphase\s+(\d+)`)
	speckitUrgency = pattern.New(`(?i)priority:\s*p([0-9])`)
)

func claimsSpeckit(s source) bool {
	return slices.ContainsFunc(s.list, func(l markdown.Line) bool { return l.Box != 0 && speckitTask.MatchString(l.Rest) })
}

// readSpeckit reads specs/NNN-name/tasks.md of spec-kit. Phases come one after the other; those of user stories come side by side, after
// all phases before the first of them, if the plan says anything of its order. In a phase a task without [P] waits for all tasks before
// it, one with [P] for the last one without.
func readSpeckit(s source, d *draft) {
	d.title = cmp.Or(strings.TrimSpace(strings.TrimPrefix(s.title, "Tasks:")), path.Base(path.Dir(s.name)))
	companions(d, s, "spec.md", "the scenarios of its stories")
	r := speckitReader{d: d, last: map[string]*item{}}
	for _, phase := range markdown.Cut(s.body, 2) {
		r.phase(&phase)
	}
	r.order()
	for number, scenarios := range markdown.Scenarios(d.read(s, s.beside("spec.md"))) {
		if last := r.last[number]; last != nil {
			last.criteria = append(last.criteria, scenarios...)
		}
	}
}

// speckitReader goes through the phases.
type speckitReader struct {
	d *draft

	phases []*speckitGroup
	rest   []markdown.Line  // of sections without tasks
	last   map[string]*item // of each story, by its number: the last task that is not done
}

// speckitGroup is a phase with tasks.
type speckitGroup struct {
	name    string
	numbers []string // of user stories
	story   bool
	after   []string // numbers of stories
	line    int      // that says so
	urgency int
	labels  map[string]bool // the stories of its tasks; "": of none
}

// phase takes the tasks of a phase. A section that has none is what its author says of the whole.
func (r *speckitReader) phase(s *markdown.Section) {
	name := markdown.Unformatted(s.Heading.Rest)
	p := &speckitGroup{name: markdown.GroupName(name), story: speckitUser.MatchString(name), urgency: normal, labels: map[string]bool{}}
	if m := speckitUrgency.FindStringSubmatch(name); m != nil {
		p.urgency = min(max(int(m[1][0]-'1'), 0), 3)
	}
	if m := speckitNumber.FindStringSubmatch(name); m != nil {
		p.numbers = []string{m[1]}
	}
	var said []markdown.Line
	first := len(r.d.items)
	for _, l := range s.Body {
		if m := speckitTask.FindStringSubmatch(l.Rest); l.Box != 0 && m != nil {
			said = markdown.WithoutHeading(said)
			r.d.items = append(r.d.items, r.task(p, &l, m))
		} else {
			said = append(said, l)
		}
	}
	r.d.chain(r.d.items[first:])
	for _, l := range said {
		if l.Box == ' ' {
			r.d.tell(l.N, "this item has no id such as T001, so it is not a task")
		}
	}
	r.end(p, s.Heading.Rest, r.d.items[first:], said)
}

// end adds a phase with the items and the text in it.
func (r *speckitReader) end(p *speckitGroup, heading string, items []*item, said []markdown.Line) {
	if len(items) == 0 {
		r.d.prose(heading, said)
		r.rest = slices.Concat(r.rest, []markdown.Line{{Text: heading}}, said)
		return
	}
	r.d.share(items, markdown.Unformatted(heading), markdown.Join(said))
	if !p.story && !p.labels[""] {
		p.numbers, p.story = slices.Sorted(maps.Keys(p.labels)), true
	}
	if last := lastOpen(items); last != nil {
		for _, number := range p.numbers {
			r.last[number] = last
		}
	}
	if p.name != "" {
		r.phases = append(r.phases, p)
	}
}

// task reads a task, whose parts are m.
func (r *speckitReader) task(p *speckitGroup, l *markdown.Line, m []string) *item {
	// The title leaves out the ids of tasks that it waits for: they change with the numbers of the list.
	what := cmp.Or(speckitAfter.ReplaceAllString(m[3], ""), m[3])
	it := &item{id: m[1], line: l.N, title: markdown.Unformatted(what), priority: p.urgency, group: p.name, done: l.Done()}
	it.say(marked(what))
	story := ""
	for _, m := range speckitLabel.FindAllStringSubmatch(m[2], -1) {
		if m[1] == "P" {
			it.beside = m[1]
		}
		if number, ok := strings.CutPrefix(m[1], "US"); ok {
			story = number
		}
	}
	p.labels[story] = true
	for _, on := range speckitDepends.FindAllStringSubmatch(m[3], -1) {
		for _, m := range speckitSpan.FindAllStringSubmatch(on[1], -1) {
			it.after = append(it.after, reference{id: m[1], line: l.N})
		}
	}
	return it
}

// waits takes what phases of stories wait for, as the plan says below them: US3: Depends on US1. Those of one story come in order.
func (r *speckitReader) waits() {
	named := map[markdown.Named][]*speckitGroup{}
	for _, p := range r.phases {
		if m := speckitPhase.FindStringSubmatch(p.name); m != nil {
			named[markdown.Named{Phase: true, Number: m[1]}] = []*speckitGroup{p}
		}
		for _, number := range p.numbers {
			story := markdown.Named{Number: number}
			for _, before := range named[story] {
				p.after = append(p.after, before.name)
			}
			named[story] = append(named[story], p)
		}
	}
	for _, w := range markdown.Waits(r.rest) {
		for _, of := range w.Of {
			for _, p := range named[of] {
				r.wait(p, w, named)
			}
		}
	}
}

// wait makes a phase wait for those that a line names; all means the stories before it.
func (r *speckitReader) wait(p *speckitGroup, w markdown.Wait, named map[markdown.Named][]*speckitGroup) {
	on := []*speckitGroup(nil)
	for _, other := range w.On {
		if on = append(on, named[other]...); len(named[other]) == 0 && !other.Phase {
			r.d.tell(w.Line, "this waits for story "+markdown.Clip(other.Number, 10)+", which has no phase")
		}
	}
	for _, before := range r.phases[:slices.Index(r.phases, p)] {
		if before.story && (w.All || slices.Contains(on, before)) && !slices.Contains(p.after, before.name) {
			p.after, p.line = append(p.after, before.name), w.Line
		}
	}
}

// order makes groups of the phases.
func (r *speckitReader) order() {
	r.waits()
	said := speckitOrder.MatchString(markdown.Join(r.rest))
	var barrier, side []string // what a phase after the last one that all wait for has to wait for
	for _, p := range r.phases {
		if p.story && said {
			r.d.group(p.name, group{after: append(slices.Clone(barrier), p.after...), line: p.line})
			side = append(side, p.name)
			continue
		}
		if len(side) == 0 {
			side = slices.Clone(barrier)
		}
		r.d.group(p.name, group{after: side})
		barrier, side = []string{p.name}, nil
	}
}

// prose takes a section into the description of the epic.
func (d *draft) prose(heading string, body []markdown.Line) {
	if text := markdown.Join(body); text != "" {
		d.description = append(d.description, markdown.Titled(heading, text))
	}
}
