package importer

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"relay/epic"
	"relay/epic/blueprint"
	"relay/epic/blueprint/inline"
	"relay/epic/blueprint/names"
	"relay/epic/each"
	"relay/epic/importer/internal/markdown"
	"relay/epic/importer/internal/placed"
	"relay/epic/pattern"
)

var (
	gsdPhase    = pattern.New(`(?i)^phase\s+0*(\d+(?:\.\d+)?)\s*(?::|[–—-]\s)\s*(.+)$`)
	gsdBold     = pattern.New(`^(\*\*.+?\*\*)[ \t]*(?:[-–—:]+[ \t]*)?(.*)$`)
	gsdField    = pattern.New(`^\*\*([A-Za-z ]+)(?::\*\*|\*\*\s*(?:\([^)]*\))?\s*:)\s*(.*)$`)
	gsdPlan     = pattern.New(`^(\d+(?:\.\d+)?)((?:-[A-Za-z][\w.]*)*)-(\d+[a-z]?)(?:-PLAN)?(?:\.md)?(?:[\s:–—-]+(?:TBD(?: during planning|\s*\(.*\))?|(.*)))?$`)
	gsdCriteria = pattern.New(`^\s*\d+[.)]\s+(.+)$`)
	gsdAfter    = pattern.New(`^(?:(\d+(?:\.\d+)?)(?:-[A-Za-z][\w.-]*?)?-)?(\d+[a-z]?)(?:-PLAN)?(?:\.md)?$`)
	gsdTask     = pattern.New(`<task\b`)
	gsdPerson   = pattern.New(`<task\b[^>]*\btype="checkpoint`)
	gsdWave     = pattern.New(`(?i)(?:^[^\pL\d]*|\()wave\s+(\d+)\b`)
	gsdPurpose  = pattern.New(`(?s)<objective>\s*(.+?)(?:\.\s|\n|</objective>)`)
)

func claimsGsd(s source) bool {
	name := path.Base(s.name)
	if strings.HasSuffix(name, "-PLAN.md") && gsdPlan.MatchString(name) { // the first in a folder stands for all of them
		if s.alone {
			return gsdTask.MatchString(string(s.data))
		}
		return s.name == slices.Min(pattern.Glob(s.files, path.Dir(s.name), "*-PLAN.md"))
	}
	roadmap := strings.Contains(strings.ToUpper(name), "ROADMAP")
	return path.Ext(s.name) == ".md" && slices.ContainsFunc(s.list, func(l markdown.Line) bool {
		return roadmap && (l.Box != 0 || l.Level > 2) && gsdPhase.MatchString(markdown.Unformatted(l.Rest))
	})
}

// readGsd reads .planning/ROADMAP.md of GSD, or the plans of one phase. Those of a phase, listed there or in its folder, are its tasks:
// each waits for those that its file names, else for the wave before its own, else for the one before it. A phase without plans is a task
// itself. A phase waits for those it depends on. A plan with a summary is done; one that is not autonomous needs a person. Of a plan that
// is named itself the tasks are read.
func readGsd(s source, d *draft) {
	d.title = cmp.Or(strings.TrimSpace(strings.TrimPrefix(s.title, "Roadmap:")), "Roadmap")
	r := gsdReader{d: d, from: s, phases: map[string]*gsdEntry{}, files: map[string]string{}}
	if s.alone && strings.HasSuffix(s.name, "-PLAN.md") {
		r.alone()
		return
	}
	plans, body := "phases/*/*-PLAN.md", s.body
	if m := gsdPlan.FindStringSubmatch(path.Base(s.name)); m != nil { // a phase by itself
		d.title, plans, body = strings.TrimPrefix(path.Base(path.Dir(s.name)), m[1]+"-"), "*-PLAN.md", nil
		r.phase(m[1], d.title, 1)
	}
	for _, name := range pattern.Glob(s.files, path.Dir(s.name), plans) {
		r.files[path.Base(name)] = name
	}
	body = slices.Clone(body)
	for i := range body { // those of a milestone are below its heading
		if body[i].Kind == markdown.Heading && gsdPhase.MatchString(markdown.Unformatted(body[i].Rest)) {
			body[i].Level = 3
		}
	}
	for _, part := range markdown.Cut(body, 2) {
		details := markdown.Cut(part.Body, 3)
		rest := r.listed(details[0].Body)
		detailed := false
		for _, phase := range details[1:] {
			if m := gsdPhase.FindStringSubmatch(markdown.Unformatted(phase.Heading.Rest)); m != nil {
				r.detail(m, &phase)
				detailed = true
				continue
			}
			d.prose(phase.Heading.Rest, r.listed(phase.Body))
		}
		if name := markdown.Unformatted(part.Heading.Rest); !detailed || markdown.Join(rest) != "" {
			d.prose(name, rest)
		}
	}
	r.unlisted()
	r.tasks()
}

// gsdEntry is a phase, and the task that it is if it has no plans.
type gsdEntry struct {
	item
	after []string // numbers of phases
	at    int      // the line that says so
	plans []*item
	wave  string // of the plans that come next
}

type gsdReader struct {
	d    *draft
	from source

	phases map[string]*gsdEntry
	order  []*gsdEntry
	files  map[string]string // of plans, by their names
}

// alone takes the tasks of a plan, as steps.
func (r *gsdReader) alone() {
	r.d.title = strings.TrimSuffix(path.Base(r.from.name), ".md")
	_, r.from.body = markdown.FirstHeading(slices.Clone(r.from.list))
	starts := markdown.Elements(r.from.body)
	stepsOf(r.d, r.from, starts)
	for k, i := range starts {
		if gsdPerson.MatchString(r.from.body[i].Text) {
			r.d.items[k].kind = epic.KindPerson
		}
	}
}

func (r *gsdReader) phase(number, title string, n int) *gsdEntry {
	p := r.phases[number]
	if p == nil {
		p = &gsdEntry{item: item{id: "Phase " + number, as: "P" + number, line: n, title: title, priority: normal}}
		p.group = markdown.GroupName(p.id + ": " + title)
		r.phases[number] = p
		r.order = append(r.order, p)
	}
	return p
}

// listed takes the boxes of phases, and returns the rest.
func (r *gsdReader) listed(list []markdown.Line) (rest []markdown.Line) {
	for _, l := range list {
		name, said := l.Rest, ""
		if b := gsdBold.FindStringSubmatch(l.Rest); b != nil {
			name, said = b[1], b[2]
		}
		m := gsdPhase.FindStringSubmatch(markdown.Unformatted(name))
		if l.Box == 0 || m == nil {
			rest = append(rest, l)
			continue
		}
		p := r.phase(m[1], markdown.Unformatted(m[2]), l.N)
		p.done, p.box = l.Done(), l.N
		p.say(said)
	}
	return rest
}

// named returns the numbers of the phases that a text names: all means those before a phase.
func (r *gsdReader) named(p *gsdEntry, text string) []string {
	numbers := each.Of(markdown.Names(text), func(on markdown.Named) string { return on.Number })
	for _, before := range r.order[:slices.Index(r.order, p)] {
		if markdown.NamesAll(text) {
			numbers = append(numbers, before.as[1:])
		}
	}
	return numbers
}

// detail takes the section of a phase.
func (r *gsdReader) detail(m []string, part *markdown.Section) {
	p := r.phase(m[1], m[2], part.Heading.N)
	title, ended := blueprint.Ended(p.title)
	p.title, p.line, p.done = title, part.Heading.N, p.done || ended || markdown.IsComplete(part.Body)
	field := ""
	var said []markdown.Line
	for _, l := range part.Body {
		p.inWave(&l)
		if f := gsdField.FindStringSubmatch(l.Text); f != nil {
			field = strings.ToLower(strings.TrimSpace(f[1]))
			if field == "depends on" {
				p.at = l.N
				p.after = r.named(p, f[2])
				if len(p.after) == 0 && !markdown.Nothing.MatchString(f[2]) {
					r.d.tell(l.N, "this names no phase such as Phase 1, so nothing is waited for")
				}
				continue
			}
			if strings.HasPrefix(field, "success criteria") || field == "plans" {
				continue
			}
		}
		switch {
		case strings.HasPrefix(field, "success criteria") && gsdCriteria.MatchString(l.Text):
			p.criteria = append(p.criteria, gsdCriteria.FindStringSubmatch(l.Text)[1])
		case l.Box != 0:
			r.plan(p, &l)
		case strings.TrimSpace(l.Text) == "Plans:":
		default:
			said = append(said, l)
		}
	}
	p.say(markdown.Join(said))
}

// inWave returns the wave that a line is in: its own, or that of the last line between the boxes which names one.
func (p *gsdEntry) inWave(l *markdown.Line) string {
	wave := append(gsdWave.FindStringSubmatch(l.Text), "", p.wave)[1]
	if l.Box == 0 {
		p.wave = wave
	}
	return wave
}

// plan takes a box below a phase, with its file when there is one.
func (r *gsdReader) plan(p *gsdEntry, l *markdown.Line) {
	m := gsdPlan.FindStringSubmatch(markdown.Unformatted(l.Rest))
	switch {
	case m != nil && (m[4] != "" || r.files[m[1]+m[2]+"-"+m[3]+"-PLAN.md"] != "" || !strings.Contains(l.Rest, "TBD")):
		r.take(p, m, &item{line: l.N, title: m[4], done: l.Done(), beside: p.inWave(l)})
	case !l.Done():
		r.d.tell(l.N, "this box is not a plan such as 01-02-PLAN.md, or that is not written yet, so it is not a task")
	}
}

// unlisted takes unlisted plans of open phases. Beside listed ones the folder has to have the phase's title: milestones share numbers.
func (r *gsdReader) unlisted() {
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		file := r.files[name]
		m := gsdPlan.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		p := cmp.Or(r.phases[m[1]], r.phases[cmp.Or(strings.TrimLeft(m[1], "0"), "0")])
		switch {
		case r.summed(file, ""):
		case p == nil:
			r.d.tellOf(file, 0, "the roadmap has no phase "+m[1]+", so it is not a task")
		case p.done || slices.ContainsFunc(p.plans, func(it *item) bool { return it.id == m[1]+"-"+m[3] }):
		case slices.ContainsFunc(p.plans, func(it *item) bool { return it.file == "" }) &&
			!strings.Contains(path.Base(path.Dir(file)), "-"+taskID(strings.ToLower(p.title))):
			r.d.tellOf(file, 0, "the roadmap lists other plans for "+p.id+", so it is not a task")
		default:
			r.take(p, m, &item{file: file, line: 1})
			slices.SortStableFunc(p.plans, func(a, b *item) int { return cmp.Compare(names.Padded(a.id), names.Padded(b.id)) })
		}
	}
}

// summed reports whether a plan has a summary, beside its file or, where it has none, in the folder of any phase.
func (r *gsdReader) summed(file, id string) bool {
	plan := cmp.Or(strings.TrimSuffix(file, "-PLAN.md"), path.Join(path.Dir(r.from.name), "phases/*", id))
	return len(pattern.Glob(r.from.files, ".", plan+"-SUMMARY.md")) > 0
}

// take adds a plan to its phase, with what its file says. m are the parts of its name.
func (r *gsdReader) take(p *gsdEntry, m []string, it *item) {
	it.id, it.priority = m[1]+"-"+m[3], normal
	it.as = "P" + it.id
	p.plans = append(p.plans, it)
	file := r.files[m[1]+m[2]+"-"+m[3]+"-PLAN.md"]
	it.done = it.done || r.summed(file, it.id)
	if file != "" && !it.done {
		matter, list := markdown.FrontMatter(r.d.read(r.from, file))
		text := markdown.Join(list)
		heading, _ := markdown.FirstHeading(list)
		label := markdown.StepTitle(markdown.Line{Kind: markdown.Heading, Rest: heading})
		it.title = cmp.Or(it.title, markdown.Clip(append(gsdPurpose.FindStringSubmatch(text), label.Title, label.Title)[1], maxTitle))
		it.say(text)
		r.matter(it, matter)
		if gsdPerson.MatchString(text) {
			it.kind = epic.KindPerson
		}
	}
	it.title = cmp.Or(it.title, p.title)
}

// matter takes the front matter of a plan.
func (r *gsdReader) matter(it *item, matter *placed.Node) {
	for _, name := range matter.Get("files_modified").Strings() {
		it.files = inline.FilesIn(it.files, "`"+name+"`", true)
	}
	it.criteria = matter.Get("must_haves").Get("truths").Strings()
	if matter.Get("autonomous").String() == "false" {
		it.kind = epic.KindPerson
	}
	after := matter.Get("depends_on")
	it.ordered, it.beside = after != nil, cmp.Or(matter.Get("wave").String(), it.beside)
	phase, _, _ := strings.Cut(it.id, "-")
	for _, on := range after.Strings() {
		if m := gsdAfter.FindStringSubmatch(on); m != nil {
			it.after = append(it.after, reference{id: cmp.Or(m[1], phase) + "-" + m[2], line: it.line})
		} else {
			r.d.tell(it.line, markdown.Clip(it.id, 20)+" depends on "+markdown.Clip(on, 60)+", which is not a plan such as 01-02, so it does not wait for it")
		}
	}
}

// tasks makes the tasks of the phases.
func (r *gsdReader) tasks() {
	inOrder := !slices.ContainsFunc(r.order, func(p *gsdEntry) bool { return p.at > 0 }) // none says what it waits for
	for n, p := range r.order {
		said, criteria := strings.Join(p.description, "\n\n"), p.criteria
		p.description, p.criteria = nil, nil
		if len(p.plans) == 0 {
			p.plans = []*item{&p.item}
		}
		for _, it := range p.plans {
			it.done, it.group = it.done || p.done, p.group
		}
		r.d.items = append(r.d.items, p.plans...)
		r.d.chain(p.plans)
		r.d.share(p.plans, p.group, said)
		if last := lastOpen(p.plans); last != nil {
			last.criteria = append(last.criteria, criteria...)
		} else if p.box > 0 && !p.done {
			r.d.tell(p.box, "phase "+markdown.Clip(p.as[1:], 20)+" is open, and all of its plans are done: it is left out")
		}
		g := group{line: p.at}
		if inOrder && n > 0 {
			g.after = []string{r.order[n-1].group}
		}
		for _, number := range p.after {
			switch on := r.phases[number]; {
			case on == nil:
				r.d.tell(p.at, "phase "+p.as[1:]+" waits for phase "+number+", which is not in the plan")
			case on != p:
				g.after = append(g.after, on.group)
			}
		}
		r.d.group(p.group, g)
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
