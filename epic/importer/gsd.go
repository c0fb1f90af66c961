package importer

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"relay/epic/pattern"
)

var (
	gsdPhase    = pattern.New(`(?i)^phase\s+(\d+(?:\.\d+)?)\s*:\s*(.+)$`)
	gsdNumber   = pattern.New(`(?i)\bphases?\s+((?:\d+(?:\.\d+)?(?:\s*(?:,|and|&)\s*(?:phase\s+)?)?)+)`)
	gsdBold     = pattern.New(`^(\*\*.+?\*\*)[ \t]*(?:[-–—:]+[ \t]*)?(.*)$`)
	gsdNothing  = pattern.New(`(?i)^(?:nothing|none|n/?a|no\b|-|–|—|$)`)
	gsdDigits   = pattern.New(`\d+(?:\.\d+)?`)
	gsdField    = pattern.New(`^\*\*([A-Za-z ]+)(?::\*\*|\*\*\s*(?:\([^)]*\))?\s*:)\s*(.*)$`)
	gsdPlan     = pattern.New(`^(\d+(?:\.\d+)?-\d+)(?:-PLAN)?(?:\.md)?\s*(?:[:–—-]\s*)?(.*)$`)
	gsdCriteria = pattern.New(`^\s*\d+[.)]\s+(.+)$`)
)

func claimsGsd(s source) bool {
	return path.Ext(s.name) == ".md" &&
		slices.ContainsFunc(s.list, func(l line) bool { return l.box != 0 && gsdPhase.MatchString(unformatted(l.rest)) })
}

// readGsd reads .planning/ROADMAP.md of GSD. The plans of a phase are its tasks, one after the other; a phase without plans is a task
// itself. A phase waits for those it depends on.
func readGsd(s source, d *draft) {
	d.title = cmp.Or(strings.TrimSpace(strings.TrimPrefix(s.title, "Roadmap:")), "Roadmap")
	r := gsdReader{d: d, phases: map[string]*gsdEntry{}, files: map[string]string{}}
	for _, name := range glob(s.files, path.Dir(s.name), "phases/*/*-PLAN.md") {
		number := strings.TrimSuffix(path.Base(name), "-PLAN.md")
		r.files[number] = strings.TrimPrefix(name, path.Dir(s.name)+"/")
	}
	before, sections := cut(s.body, 2)
	for _, part := range append([]section{{body: before}}, sections...) {
		intro, details := cut(part.body, 3)
		rest := r.listed(intro)
		detailed := false
		for _, phase := range details {
			if m := gsdPhase.FindStringSubmatch(unformatted(phase.heading.rest)); m != nil {
				r.detail(s, m, &phase)
				detailed = true
				continue
			}
			d.prose(phase.heading.rest, phase.body)
		}
		if name := unformatted(part.heading.rest); !detailed || join(rest) != "" {
			d.prose(name, rest)
		}
	}
	r.tasks()
}

// gsdEntry is a phase.
type gsdEntry struct {
	number, title string
	line, box     int // of its section, and of its box
	at            int // where it says what it waits for
	done          bool
	description   []string
	criteria      []string
	after         []string
	plans         []*item
}

type gsdReader struct {
	d *draft

	phases map[string]*gsdEntry
	order  []*gsdEntry
	files  map[string]string // of plans, by their numbers
}

func (r *gsdReader) phase(number, title string, n int) *gsdEntry {
	p := r.phases[number]
	if p == nil {
		p = &gsdEntry{number: number, title: title, line: n}
		r.phases[number] = p
		r.order = append(r.order, p)
	}
	return p
}

// listed takes the boxes of phases, and returns the rest.
func (r *gsdReader) listed(list []line) (rest []line) {
	for _, l := range list {
		name, said := l.rest, ""
		if b := gsdBold.FindStringSubmatch(l.rest); b != nil {
			name, said = b[1], b[2]
		}
		m := gsdPhase.FindStringSubmatch(unformatted(name))
		if l.box == 0 || m == nil {
			rest = append(rest, l)
			continue
		}
		p := r.phase(m[1], unformatted(m[2]), l.n)
		p.done, p.box = l.done(), l.n
		if said != "" {
			p.description = append(p.description, said)
		}
	}
	return rest
}

// detail takes the section of a phase.
func (r *gsdReader) detail(s source, m []string, part *section) {
	p := r.phase(m[1], m[2], part.heading.n)
	p.line = part.heading.n
	field := ""
	var said []line
	for _, l := range part.body {
		if f := gsdField.FindStringSubmatch(l.text); f != nil {
			field = strings.ToLower(strings.TrimSpace(f[1]))
			if field == "depends on" {
				p.at = l.n
				if p.after = phaseNumbers(f[2]); len(p.after) == 0 && !gsdNothing.MatchString(f[2]) {
					r.d.tell(l.n, "this names no phase such as Phase 1, so nothing is waited for")
				}
				continue
			}
			if strings.HasPrefix(field, "success criteria") || field == "plans" {
				continue
			}
		}
		switch {
		case strings.HasPrefix(field, "success criteria") && gsdCriteria.MatchString(l.text):
			p.criteria = append(p.criteria, gsdCriteria.FindStringSubmatch(l.text)[1])
		case l.box != 0:
			r.plan(s, p, &l)
		case strings.TrimSpace(l.text) == "Plans:":
		default:
			said = append(said, l)
		}
	}
	if text := join(said); text != "" {
		p.description = append(p.description, text)
	}
}

func phaseNumbers(text string) (numbers []string) {
	for _, m := range gsdNumber.FindAllStringSubmatch(text, -1) {
		numbers = append(numbers, gsdDigits.FindAllString(m[1], -1)...)
	}
	return numbers
}

// plan takes a box below a phase, with its file when there is one.
func (r *gsdReader) plan(s source, p *gsdEntry, l *line) {
	m := gsdPlan.FindStringSubmatch(unformatted(l.rest))
	if m == nil {
		if !l.done() {
			r.d.tell(l.n, "this box is not a plan such as 01-02-PLAN.md, so it is not a task")
		}
		return
	}
	it := &item{id: m[1], as: "P" + m[1], line: l.n, priority: normal, title: cmp.Or(m[2], p.title), done: l.done()}
	if file := r.files[m[1]]; file != "" && !it.done {
		it.say(join(r.d.read(s, file)))
	}
	p.plans = append(p.plans, it)
}

// tasks makes the tasks of the phases.
func (r *gsdReader) tasks() {
	for _, p := range r.order {
		name := groupName("Phase " + p.number + ": " + p.title)
		from := len(r.d.items)
		if len(p.plans) == 0 {
			whole := &item{id: "Phase " + p.number, as: "P" + p.number, line: p.line, box: p.box, title: p.title, priority: normal, done: p.done}
			r.d.items = append(r.d.items, whole)
		}
		for _, it := range p.plans {
			it.done = it.done || p.done
			r.d.items = append(r.d.items, it)
		}
		r.d.chain(r.d.items[from:], false)
		for _, it := range r.d.items[from:] {
			it.group = name
		}
		r.d.share(r.d.items[from:], name, strings.Join(p.description, "\n\n"))
		if last := lastOpen(r.d.items[from:]); last != nil {
			last.criteria = p.criteria
		} else if p.box > 0 && !p.done {
			r.d.tell(p.box, "phase "+clip(p.number, 20)+" is open, and all of its plans are done: it is left out")
		}
		g := group{name: name}
		for _, number := range p.after {
			switch on := r.phases[number]; {
			case on == nil:
				r.d.fail(p.at, "phase %s waits for phase %s, which is not in the plan", p.number, number)
			case on != p:
				g.after = append(g.after, groupName("Phase "+number+": "+on.title))
			}
		}
		g.line = p.at
		r.d.groups = append(r.d.groups, g)
	}
}

func lastOpen(items []*item) (last *item) {
	for _, it := range items {
		if it.open() {
			last = it
		}
	}
	return last
}
