package importer

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"relay/epic/importer/internal/markdown"
	"relay/epic/importer/internal/placed"
	"relay/epic/pattern"
)

var (
	bmadStory    = pattern.New(`^(\d+)-(\d+[a-z]?)-(.+)$`)
	bmadEpic     = pattern.New(`^epic-(\d+)$`)
	bmadHeading  = pattern.New(`(?i)^story\s+(\d+)\.(\d+[a-z]?)\s*(?:[:.–—-]\s*)?(.*)$`)
	bmadBold     = pattern.New(`^\*\*Story \d+\..*\*\*$`)
	bmadFile     = pattern.New(`^(?i:story-)?(\d{1,3})[.-](\d{1,3}[a-z]?)(?:[.-].*)?\.md$`)
	bmadCriteria = pattern.New(`(?i)^acceptance criteria\b[^:]{0,30}:?$`)
	bmadTasks    = pattern.New(`(?i)^tasks\b`)
	bmadOfAgent  = pattern.New(`(?i)^(dev agent record|change log|file list|status|qa results)\b`)
	bmadStatus   = pattern.New(`(?i)^\**status\**:?\**\s*(.*)$`)
	bmadDigits   = pattern.New(`[0-9]+`)
	bmadAfter    = pattern.New(`(?i)^[-*\s]*(?:prerequisites?|depends on|dependencies|blocked by)\**:\**\s*(.*)$`)
	bmadNumber   = pattern.New(`\b(\d+)\.(\d+[a-z]?)\b`)
	bmadClause   = pattern.New(`(?i)^(given|when|then|and|but)\b`)
	bmadLabel    = pattern.New(`^\*\*([A-Z][^*:]{2,40})(?::\*\*|\*\*\s*:)\s*$`)
)

func claimsBmad(s source) bool {
	switch ext := path.Ext(s.name); {
	case s.data == nil: // a folder
		for _, file := range bmadFiles(s, s.name) {
			data, err := s.text(file)
			title, _ := markdown.FirstHeading(markdown.Lines(data))
			return err == nil && bmadHeading.MatchString(markdown.Unformatted(title))
		}
	case ext == ".yaml" || ext == ".yml":
		return strings.Contains("\n"+string(s.data), "\ndevelopment_status:") || strings.HasPrefix(path.Base(s.name), "sprint-status")
	case ext == ".md":
		return s.unclaimed() && len(bmadTexts(&draft{}, s.name, markdown.Lines(s.data))) > 0
	}
	return false
}

// readBmad reads sprint-status.yaml of BMAD with the stories beside it and with epics.md for those that have no file yet; else epics.md
// or a folder of stories. A story waits for those that it names as prerequisites, else for the one before it, and epics come in their
// order. Retrospectives are for people, and left out.
func readBmad(s source, d *draft) {
	r := bmadReader{d: d, from: s, stories: map[string]*item{}, files: map[string]string{}}
	d.title = "Stories"
	switch {
	case s.data == nil:
		r.files = bmadFiles(s, s.name)
		for number, file := range r.files {
			r.stories[number] = &item{file: file, line: 1}
		}
	case path.Ext(s.name) == ".md":
		title, _ := markdown.FirstHeading(markdown.Lines(s.data))
		d.title = cmp.Or(markdown.Unformatted(title), d.title)
		r.stories = bmadTexts(d, s.name, markdown.Lines(s.data))
	default:
		r.sprint()
		return
	}
	padded := func(number string) string { // so that 1.10 comes after 1.9
		return bmadDigits.ReplaceAllStringFunc(number, func(n string) string { return fmt.Sprintf("%9s", n) })
	}
	numbers := slices.SortedFunc(maps.Keys(r.stories), func(a, b string) int { return cmp.Compare(padded(a), padded(b)) })
	for _, number := range numbers {
		epic, story, _ := strings.Cut(number, ".")
		r.add(epic, story, "story "+number, placed.Node{})
	}
	r.order()
}

// bmadReader goes through the stories.
type bmadReader struct {
	d    *draft
	from source

	stories map[string]*item  // as epics.md has them, by their numbers
	files   map[string]string // of stories, by their numbers
}

// sprint takes the states of stories.
func (r *bmadReader) sprint() {
	d, s := r.d, r.from
	root, err := placed.YAML(s.data)
	if wrong, ok := errors.AsType[*placed.Error](err); ok {
		d.fail(wrong.Line, "%v", wrong.Err)
		return
	}
	d.title = cmp.Or(root.Get("project").String(), "Stories")
	states := root.Get("development_status")
	if states == nil || states.Kind != placed.Object {
		d.fail(1, "it has no development_status, so it is not a sprint file of BMAD: name the file or folder that has the stories")
		return
	}
	d.unread(true, root)
	folder := path.Dir(s.name)
	for _, place := range []string{folder, path.Join(folder, "stories"), path.Join(path.Dir(folder), "stories")} {
		for number, file := range bmadFiles(s, place) {
			r.files[number] = cmp.Or(r.files[number], file)
		}
	}
	for _, name := range []string{"epics.md", "../planning-artifacts/epics.md", "../epics.md", "epic*.md", "epics/*.md", "../planning-artifacts/epic*.md"} {
		for _, file := range glob(s.files, path.Join(folder, path.Dir(name)), path.Base(name)) {
			if data, err := s.text(file); err == nil && len(r.stories) == 0 {
				r.stories = bmadTexts(d, file, markdown.Lines(data))
			}
		}
	}
	for i, key := range states.Keys {
		m := bmadStory.FindStringSubmatch(key)
		switch value := states.Values[i]; {
		case m != nil:
			r.add(m[1], m[2], strings.ReplaceAll(m[3], "-", " "), *value)
		case bmadEpic.MatchString(key), strings.HasSuffix(key, "-retrospective"):
		default:
			d.tell(value.Line, key+" is neither an epic nor a story")
		}
	}
	r.order()
}

// bmadFiles returns the files of stories in a folder, by their numbers.
func bmadFiles(s source, folder string) map[string]string {
	found := map[string]string{}
	for _, file := range glob(s.files, folder, "*.md") {
		if m := bmadFile.FindStringSubmatch(path.Base(file)); m != nil {
			found[m[1]+"."+m[2]] = file
		}
	}
	return found
}

// add takes a story, with what its file, else epics.md, says of it. State is where a sprint file says how far it is.
func (r *bmadReader) add(epic, number, title string, state placed.Node) {
	it := &item{id: epic + "." + number, as: "S" + epic + "-" + number, line: state.Line, priority: normal, group: "epic-" + epic}
	if state.Line > 0 {
		it.state = becomes(&state, "done")
		r.d.state(it, state.String())
	}
	text := cmp.Or(r.stories[it.id], &item{})
	if it.line == 0 {
		it.line, it.file = max(text.line, 1), text.file
	}
	if file := r.files[it.id]; file != "" && it.open() {
		r.file(it, file, state.Line == 0)
	}
	if len(it.description)+len(it.criteria) == 0 {
		it.description, it.criteria = text.description, text.criteria
	}
	if !it.ordered {
		it.ordered, it.after = text.ordered, text.after
	}
	it.title = cmp.Or(it.title, text.title, title)
	r.d.items = append(r.d.items, it)
}

// file reads the file of a story. Alone says that nothing else has its state.
func (r *bmadReader) file(it *item, file string, alone bool) {
	data, err := r.from.text(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.d.tellOf(file, 0, "it cannot be read: "+err.Error())
		return
	}
	title, list := markdown.FirstHeading(markdown.Lines(data))
	if h := bmadHeading.FindStringSubmatch(title); h != nil {
		it.title = h[3]
	}
	_, sections := markdown.Cut(list, 2)
	if alone {
		if r.d.state(it, bmadState(list)); !it.open() {
			return
		}
	}
	bmadPrerequisites(it, list)
	for _, part := range sections {
		name := markdown.Unformatted(part.Heading.Rest)
		text := markdown.Join(part.Body)
		switch {
		case bmadCriteria.MatchString(name):
			it.criteria = clauses(part.Body)
		case bmadOfAgent.MatchString(name):
			if text != "" && !strings.EqualFold(name, "status") {
				r.d.tellOf(file, part.Heading.N, "briefs leave out "+markdown.Clip(name, 60)+", the record of an agent")
			}
		case bmadTasks.MatchString(name):
			it.say(titled("Tasks", markdown.Join(slices.DeleteFunc(slices.Clone(part.Body), func(l markdown.Line) bool { return l.Done() }))))
		default:
			it.say(titled(name, text))
		}
	}
}

// bmadState returns the word with which a file says how far its story is: Status: done, or below a heading.
func bmadState(list []markdown.Line) string {
	below := false
	for _, l := range list {
		m := bmadStatus.FindStringSubmatch(cmp.Or(l.Rest, l.Text))
		switch {
		case below && l.Kind != markdown.Blank:
			return strings.Trim(l.Text, " .*_")
		case m != nil && m[1] == "":
			below = true
		case m != nil:
			return strings.Trim(m[1], " .*_")
		}
	}
	return ""
}

// bmadTexts returns the stories of epics.md by their numbers. They begin with a heading, or a line in bold.
func bmadTexts(d *draft, file string, list []markdown.Line) map[string]*item {
	found := map[string]*item{}
	bodies := map[*item][]markdown.Line{}
	var it *item
	level := 0
	for _, l := range list {
		if bmadBold.MatchString(l.Text) {
			l.Kind, l.Level, l.Rest = markdown.Heading, 4, l.Text
		}
		heading := l.Kind == markdown.Heading
		switch m := bmadHeading.FindStringSubmatch(markdown.Unformatted(l.Rest)); {
		case heading && m != nil && l.Level > 1:
			it, level = &item{file: file, line: l.N, title: m[3]}, l.Level
			found[m[1]+"."+m[2]] = it
		case heading && l.Level <= level:
			it = nil
		case it != nil:
			bodies[it] = append(bodies[it], l)
		}
	}
	for it, body := range bodies {
		bmadText(it, body)
	}
	if len(found) > 0 {
		d.told = append(d.told, Told{File: d.at(file), Why: "briefs include only its stories"})
	}
	return found
}

// bmadText takes the lines of a story: its criteria, what it waits for, and its description.
func bmadText(it *item, body []markdown.Line) {
	var said, criteria []markdown.Line
	bmadPrerequisites(it, body)
	inside := false
	for _, l := range body {
		label := l.Kind == markdown.Heading || bmadLabel.MatchString(l.Text)
		switch {
		case bmadCriteria.MatchString(markdown.Unformatted(cmp.Or(l.Rest, l.Text))):
			inside = true
		case bmadAfter.MatchString(markdown.Unformatted(l.Text)):
			inside = false
		case inside && !label:
			criteria = append(criteria, l)
		default:
			inside = false
			said = append(said, l)
		}
	}
	it.criteria = clauses(criteria)
	it.say(markdown.Join(said))
}

// bmadPrerequisites takes the stories that a text waits for.
func bmadPrerequisites(it *item, list []markdown.Line) {
	for _, l := range list {
		m := bmadAfter.FindStringSubmatch(markdown.Unformatted(l.Text))
		if m == nil {
			continue
		}
		it.ordered = it.ordered || gsdNothing.MatchString(m[1])
		for _, on := range bmadNumber.FindAllStringSubmatch(m[1], -1) {
			it.ordered = true
			it.after = append(it.after, reference{id: on[1] + "." + on[2], line: l.N})
		}
	}
}

// order has stories wait for one another: where no story of an epic names what it waits for, the epic waits for the one before it.
func (r *bmadReader) order() {
	var before string
	var last *item // that is open
	for from := 0; from < len(r.d.items); {
		name := r.d.items[from].group
		to := from
		for to < len(r.d.items) && r.d.items[to].group == name {
			to++
		}
		part := r.d.items[from:to]
		g := group{name: name}
		named := slices.ContainsFunc(part, func(it *item) bool { return it.ordered })
		if before != "" && !named {
			g.after = []string{before}
			last = nil
		}
		for _, it := range part {
			if !it.ordered && last != nil {
				it.follow(last)
			}
			if it.open() {
				last = it
			}
		}
		if !slices.ContainsFunc(r.d.groups, func(o group) bool { return o.name == name }) {
			r.d.groups = append(r.d.groups, g)
		}
		from, before = to, name
	}
}

// clauses returns acceptance criteria: the points of a list, else paragraphs, with what begins with Given up to the next Given as one.
func clauses(list []markdown.Line) (found []string) {
	var now []string
	flush := func() {
		if len(now) > 0 {
			found = append(found, strings.Join(now, " "))
		}
		now = nil
	}
	for _, l := range list {
		text := strings.TrimSpace(strings.NewReplacer("**", "", "__", "").Replace(cmp.Or(l.Rest, l.Text)))
		switch {
		case l.Kind == markdown.Heading:
			flush()
		case l.Kind == markdown.Blank, l.Kind == markdown.Code, strings.Trim(text, "-*") == "":
			continue
		case l.Kind == markdown.Item && l.Indent < 2 && !bmadClause.MatchString(text), strings.HasPrefix(strings.ToLower(text), "given"):
			flush()
		}
		now = append(now, text)
	}
	flush()
	return found
}
