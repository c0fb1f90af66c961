package blueprint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"relay/epic"
	"relay/epic/blueprint/inline"
	"relay/epic/blueprint/names"
	"relay/epic/pattern"
	"relay/epic/plaintext"
)

// parser goes through the blocks of a document once, from the top.
type parser struct {
	file     string
	problems epic.Problems
	epic     *epic.Epic
	drafts   []*draft
	groups   []groupAt

	whole    *taskReader // the epic's own fields
	cur      *taskReader
	titled   bool
	preamble bool     // before the first section
	aside    int      // the level of the section beside the work that we are in, or 0
	lines    []string // beside the tasks: they may tell an order
	sections bool     // the document has a section of tasks
	section  int      // the level of the section of tasks we are in, or 0
	between  *block   // a heading among the tasks that is none of them, until something follows it
	sectAt   epic.Place
	epicDesc []string
	prose    proseSections
	done     []string
	known    *names.Names    // of all tasks
	gone     map[string]bool // ids of those that are left out
	taskless bool            // it has no task
	unused   []Told
	offered  Offers
}

func newParser(file string, e *epic.Epic) *parser {
	p := &parser{file: file, epic: e}
	p.whole = &taskReader{parser: p, draft: newDraft("", "", epic.Place{Line: 1, Column: 1})}
	return p
}

// skip takes note of a line of which nothing is made.
func (p *parser) skip(line int, format string, args ...any) {
	p.unused = append(p.unused, Told{File: p.file, Line: line, Why: fmt.Sprintf(format, args...)})
}

func (p *parser) add(at epic.Place, hint, format string, args ...any) {
	p.problems.Add(p.file, at, hint, format, args...)
}

var (
	// idHead is T1: Title, with or without the word Task, and what is said of it before its title.
	idHead = pattern.New(`^(?i:task[ \t]+#?)?\[?([A-Za-z][A-Za-z0-9_-]*(?:(?:\.[0-9]{1,4}){1,3}[a-z]?)?)\]??(?:[ \t]*(?:\([^()]{1,20}\)|\[[^\[\]]{1,20}\]))*(?:[ \t]*[:：]|[.)\]][ \t]|[ \t]+[–—·•-])(?:[ \t]*(.*))?$`)
	// numHead is 1. Title, Step 1: Title, or 1.2 Title, in which no mark is needed; a title may be missing behind the word Task.
	numHead  = pattern.New(`^((?i:task|step)[ \t]+)?#?([0-9]{1,6}(?:[.][0-9]{1,4}){0,3}[a-z]?)(?:[ \t]*\([^()]{1,20}\))?([.:)]|[ \t]+[–—·•-]|$|[ \t])[ \t]*(.*)$`)
	own      = pattern.New(`^(?i:task[ \t]+)?\[?T-?[0-9]+[a-z]?\]?[ \t]*[:：]`)
	markedID = pattern.New("^([\\w.\\[\\]-]+)[`*]+")
	version  = pattern.New(`^[vV][0-9]+\.`)
	frontKey = pattern.New(`^[A-Za-z_][A-Za-z0-9_-]*$`)
	section  = pattern.New(`^(?i:[0-9.]+[.)]?[ \t]+)?(?i:(?:implementation|development|detailed|engineering) )*(?i:tasks?|work)(?i: list| breakdown| items)?[: ]*$`)
)

// IsSection reports whether a heading is that of the section with the tasks.
func IsSection(text string) bool {
	text = inline.Plain(text)
	return section.MatchString(text) && !strings.EqualFold(strings.TrimRight(text, ": "), "work")
}

// IsOwn reports whether a heading begins with an id as relay's own plans have it: T1: Title.
func IsOwn(heading string) bool { return own.MatchString(headText(heading)) }

// headText is a heading without formatting, and without the marks that it begins with.
func headText(text string) string {
	text = strings.TrimLeftFunc(inline.Plain(text), func(r rune) bool { return r != '[' && r != '#' && !isWord(r) })
	return markedID.ReplaceAllString(text, "$1")
}

// head reads a task's id and title from a heading. A number alone is one only in the section of tasks.
func head(text string, inside bool) (id, title string, ok bool) {
	text = headText(text)
	if m := numHead.FindStringSubmatch(text); m != nil {
		named := strings.HasPrefix(strings.ToLower(m[1]), "task")
		marked := m[1] != "" || strings.TrimSpace(m[3]) != "" || strings.Contains(m[2], ".")
		if named || inside && marked && m[4] != "" {
			return names.ID(m[2]), inline.Plain(m[4]), true
		}
	}
	if m := idHead.FindStringSubmatch(text); m != nil && !version.MatchString(m[1]) {
		if strings.EqualFold(m[1], "task") {
			m[1] = "" // Task: Title has no id
		}
		return names.ID(m[1]), inline.Plain(m[2]), true
	}
	return "", "", false
}

func (p *parser) document(blocks []block) {
	p.preamble = true
	for k, b := range blocks { // the first is the title, also if it is Tasks
		p.sections = p.sections || b.kind == heading && IsSection(b.text) && (b.level > 1 || k > 0)
	}
	for k := range blocks {
		b := &blocks[k]
		if b.kind == heading {
			p.heading(b, blocks[k+1:])
		} else {
			p.content(b)
		}
	}
	p.close()
	p.finish()
	whole := p.whole.draft
	p.epic.Checks, p.epic.Protected = whole.task.Checks, whole.task.Protected
	p.epicDesc = append(p.epicDesc, whole.desc...)
	if len(p.done) > 0 {
		p.epicDesc = append(p.epicDesc, "Done before this epic:\n"+strings.Join(p.done, "\n"))
	}
	texts, empty := p.prose.described()
	for _, line := range empty {
		p.skip(line, "the section is empty")
	}
	p.epic.Description = strings.Join(append(p.epicDesc, texts...), "\n\n")
}

func (p *parser) heading(b *block, rest []block) {
	at := epic.Place{Line: b.line, Column: 1}
	p.aside = asideAt(p.aside, b)
	if id, title, ok := p.task(b, rest); ok && !p.isTitle(b) {
		p.beginTask(id, title, b, rest)
		return
	}
	switch {
	case IsSection(b.text) && !p.isTitle(b):
		p.close()
		p.section, p.preamble, p.sectAt, p.prose.open = b.level, false, at, false
	case p.cur != nil && b.level > p.cur.level:
		p.cur.block(b)
	case b.level == 1 && !p.titled && p.section == 0:
		p.close()
		p.titled = true
		p.epic.Title = inline.Plain(b.text)
	default:
		p.close()
		p.preamble = p.preamble && b.level == 1
		if p.section > 0 && b.level <= p.section {
			p.section = 0
		}
		if p.section == 0 && !p.preamble {
			p.prose.begin(b)
			return
		}
		p.between = b
	}
}

// asideAt returns the level of the section beside the work that a heading is in, or begins, given that before it; 0: none.
func asideAt(before int, b *block) int {
	switch {
	case before > 0 && before < b.level:
		return before
	case IsAside(b.text):
		return b.level
	}
	return 0
}

// isTitle tells the heading that is the epic's title: the first of level 1, whatever it looks like.
func (p *parser) isTitle(b *block) bool {
	return b.level == 1 && !p.titled && p.section == 0 && len(p.drafts) == 0 && p.cur == nil
}

// beginTask begins a task with a heading.
func (p *parser) beginTask(id, title string, b *block, rest []block) {
	at := epic.Place{Line: b.line, Column: 1}
	p.close()
	p.preamble, p.prose.open = false, false
	title = cmp.Or(title, firstWords(rest))
	if title == "" {
		p.add(at, "write "+strings.Repeat("#", b.level)+" "+id+": and a few words", "task %s has no title", id)
		title = unreadable
	}
	p.begin(id, title, b.level, at)
	p.cur.draft.ended = p.cur.draft.ended || IsTicked(b.text)
}

func (p *parser) begin(id, title string, level int, at epic.Place) {
	p.cur = &taskReader{parser: p, level: level, draft: newDraft(id, title, at)}
	p.cur.draft.cutDepends()
}

// firstWords returns a title for a task whose heading has none: the first sentence of its text, "" if it begins otherwise.
func firstWords(rest []block) string {
	if len(rest) == 0 || rest[0].kind != paragraph {
		return ""
	}
	first := rest[0].split()[0]
	if len(pairs(first)) > 0 {
		return ""
	}
	sentence, _, _ := strings.Cut(first.text, ". ")
	return plaintext.Head(strings.TrimRight(inline.Plain(sentence), ".:"), 100)
}

// task tells whether a heading begins a task. In the section of tasks, and in a document without one, T1: is enough; any
// other word before a colon, and any heading elsewhere, has to be followed by a task's fields. So has a heading of any other form in that
// section; below a task it needs checks of its own, beside one boxes do.
func (p *parser) task(b *block, rest []block) (id, title string, ok bool) {
	id, title, ok = head(b.text, p.section > 0 && b.level > p.section)
	here := p.section > 0 || !p.sections && (b.level > 1 || p.titled) && p.aside == 0
	switch {
	case ok && here && (id == "" || strings.ContainsAny(id, "0123456789")):
		return id, title, !isGroup(b, rest)
	case ok:
		return id, title, hasFields(rest, "")
	}
	return "", inline.Plain(b.text), p.looseTask(b, rest)
}

// looseTask reports whether a heading without an id begins a task.
func (p *parser) looseTask(b *block, rest []block) bool {
	name := ""
	if p.cur != nil && b.level > p.cur.level {
		name = "checks"
	}
	_, field := fieldName(strings.TrimRight(inline.Plain(b.text), ": "))
	beside := p.cur != nil && b.level == p.cur.level && !IsAside(b.text) && !namesChecks(b.text) && hasLine(rest, line.boxed)
	return !field && (beside || p.section > 0 && b.level > p.section && hasFields(rest, name))
}

// isGroup reports whether a heading has headings such as T1: Title below it, and is none.
func isGroup(b *block, rest []block) bool {
	for k := range rest {
		if rest[k].kind == heading && rest[k].level <= b.level {
			return false
		}
		if rest[k].kind == heading && IsOwn(rest[k].text) {
			return !IsOwn(b.text) && !hasFields(rest, "")
		}
	}
	return false
}

// hasFields looks for a task's fields before the next heading: any, or one of a name.
func hasFields(rest []block, name string) bool {
	return hasLine(rest, func(l line) bool {
		return slices.ContainsFunc(pairs(l), func(f pair) bool {
			field, known := fieldName(f.key)
			return known && (name == "" || field == name)
		})
	})
}

func hasLine(rest []block, is func(line) bool) bool {
	end := slices.IndexFunc(append(rest, block{kind: heading}), func(b block) bool { return b.kind == heading })
	return slices.ContainsFunc(rest[:end], func(b block) bool { return slices.ContainsFunc(b.first(), is) })
}

// content reads a block that is not a heading.
func (p *parser) content(b *block) {
	if b.kind == paragraph && readMatrix(p, b) {
		return
	}
	if p.cur == nil {
		p.lines = append(p.lines, strings.Split(b.raw, "\n")...)
	}
	switch {
	case p.cur != nil:
		p.cur.block(b)
	case (p.preamble || p.section > 0) && len(p.drafts) == 0 && p.ofEpic(b, false):
	case p.section > 0 && readChecklist(p, b):
	case p.section > 0:
		if p.between != nil {
			p.skip(p.between.line, "the heading %s is not a task, and its text is part of the description of the epic", epic.Quoted(inline.Plain(p.between.text)))
			p.epicDesc = append(p.epicDesc, p.between.raw)
			p.between = nil
		}
		p.epicDesc = append(p.epicDesc, b.raw)
	case p.preamble:
		p.epicDesc = append(p.epicDesc, b.raw)
	case p.prose.open:
		addProse(p, b)
	}
}

func (p *parser) close() {
	if p.cur != nil {
		p.drafts = append(p.drafts, p.cur.draft)
	}
	if p.between != nil {
		p.skip(p.between.line, "the heading %s is not a task, and briefs leave it out", epic.Quoted(inline.Plain(p.between.text)))
	}
	p.cur, p.between = nil, nil
}

// finish hands the tasks to the epic, all with ids.
func (p *parser) finish() {
	if len(p.drafts) == 0 {
		p.taskless = true
		p.add(p.sectAt, "write tasks like this:\n"+Form, "the blueprint has no task that relay recognises")
		p.drafts = append(p.drafts, newDraft("T1", unreadable, p.sectAt))
		p.groups, p.epic.Groups = nil, nil
	}
	identify(p.drafts)
	settleReferences(p)
	p.taskless = p.taskless || len(p.drafts) == 0
	if len(p.drafts) == 0 && len(p.done) > 0 {
		p.add(p.sectAt, "", "nothing is left to do in it: %s done", plaintext.Count(len(p.done), "item"))
	}
	for _, d := range p.drafts {
		d.task.Description = strings.Join(d.desc, "\n\n")
		if d.task.Kind == epic.KindPerson && !d.given["kind"] && len(d.task.Checks) > 0 {
			d.task.Kind = epic.KindFeature // what commands prove needs no person
		}
		p.epic.Tasks = append(p.epic.Tasks, d.task)
	}
}

// identify gives ids to the tasks without.
func identify(drafts []*draft) {
	taken := map[string]int{}
	for _, d := range drafts {
		taken[strings.ToUpper(d.task.ID)]++
	}
	next := 0
	for _, d := range drafts {
		for d.task.ID == "" {
			next++
			if id := fmt.Sprintf("T%d", next); taken[id] == 0 {
				d.task.ID = id
			}
		}
	}
}

// place answers validation.
func (p *parser) place(ref epic.Ref) epic.Place {
	switch ref.Part {
	case epic.TaskPart:
		return p.drafts[ref.N].place(ref)
	case epic.GroupPart:
		return p.groups[ref.N].place(ref)
	default: // the epic itself
		return p.whole.draft.place(ref)
	}
}
