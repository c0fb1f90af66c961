package importer

import (
	"cmp"
	"errors"
	"fmt"
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
	bmadOfAgent  = pattern.New(`(?i)^(dev agent record|change log|file list|status updates|qa results)\b`)
	bmadStatus   = pattern.New(`(?i)^\**status\**:?\**\s*(.*)$`)
	bmadDigits   = pattern.New(`[0-9]+`)
	bmadAfter    = pattern.New(`(?i)^[-*\s]*(?:prerequisites?|depends on|dependencies|blocked by)\**:\**\s*(.*)$`)
	bmadNumber   = pattern.New(`\b(\d+)\.(\d+[a-z]?)\b`)
	bmadClause   = pattern.New(`(?i)^(given|when|then|and|but)\b`)
	bmadLabel    = pattern.New(`^\*\*[A-Z][^*:]{2,40}(?::\*\*|\*\*\s*:)\s*$`)
)

func claimsBmad(s source) bool {
	switch name := path.Base(s.name); path.Ext(name) {
	case ".yaml", ".yml":
		return strings.Contains("\n"+string(s.data), "\ndevelopment_status:") || strings.HasPrefix(name, "sprint-status")
	case ".md":
		first := !bmadFile.MatchString(name) || slices.Min(slices.Collect(maps.Values(bmadFiles(s, path.Dir(s.name))))) == s.name
		return first && s.unclaimed() && len(bmadTexts(s.name, markdown.Lines(s.data))) > 0
	}
	return false
}

// readBmad reads sprint-status.yaml of BMAD with the stories beside it and with epics.md for those that have no file yet; else epics.md
// or a folder of stories, by its first one. A story waits for those that it names as prerequisites, else for the one before it, and epics
// come in their order. Retrospectives are for people, and left out.
func readBmad(s source, d *draft) {
	r := bmadReader{d: d, from: s, texts: map[string]*bmadText{}}
	d.title = "Stories"
	if path.Ext(s.name) != ".md" {
		r.sprint()
		r.order()
		return
	}
	if bmadFile.MatchString(path.Base(s.name)) {
		r.files(path.Dir(s.name))
	} else {
		title, _ := markdown.FirstHeading(markdown.Lines(s.data))
		d.title = cmp.Or(markdown.Unformatted(title), d.title)
		r.gather(s.name, "")
	}
	padded := func(number string) string { // so that 1.10 comes after 1.9
		return bmadDigits.ReplaceAllStringFunc(number, func(n string) string { return fmt.Sprintf("%9s", n) })
	}
	numbers := slices.SortedFunc(maps.Keys(r.texts), func(a, b string) int { return cmp.Compare(padded(a), padded(b)) })
	for _, number := range numbers {
		epic, story, _ := strings.Cut(number, ".")
		r.add(epic, story, "story "+number, nil)
	}
	r.order()
}

// bmadReader goes through the stories.
type bmadReader struct {
	d    *draft
	from source

	texts map[string]*bmadText // of stories, by their numbers
}

// bmadText is what a file says of a story.
type bmadText struct {
	file, title string
	line        int
	list        []markdown.Line
	other       *bmadText // that this one replaces
}

// gather adds the texts of the stories in a file, or of one, before those that are there.
func (r *bmadReader) gather(file, only string) {
	data, err := r.from.text(file)
	if err != nil {
		r.d.tellOf(file, 0, "it cannot be read: "+err.Error())
	}
	found := bmadTexts(file, markdown.Lines(data))
	if len(found) > 0 && only == "" {
		r.d.tellOf(file, 0, "briefs include only its stories")
	}
	for number, text := range found {
		if only == "" || only == number {
			text.other, r.texts[number] = r.texts[number], text
		}
	}
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
	for _, name := range []string{"epic*.md", "../planning-artifacts/epic*.md", "../epic*.md", "epics/*.md"} {
		for _, file := range glob(s.files, path.Join(folder, path.Dir(name)), path.Base(name)) {
			r.gather(file, "")
		}
	}
	for _, place := range []string{path.Join(path.Dir(folder), "stories"), path.Join(folder, "stories"), folder} {
		r.files(place)
	}
	for i, key := range states.Keys {
		m := bmadStory.FindStringSubmatch(key)
		switch value := states.Values[i]; {
		case m != nil:
			r.add(m[1], m[2], strings.ReplaceAll(m[3], "-", " "), value)
		case bmadEpic.MatchString(key), strings.HasSuffix(key, "-retrospective"):
		default:
			d.tell(value.Line, key+" is neither an epic nor a story")
		}
	}
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

// files gathers the files of stories in a folder.
func (r *bmadReader) files(folder string) {
	for number, file := range bmadFiles(r.from, folder) {
		r.gather(file, number)
	}
}

// add takes a story, with what its text says of it. State is where a sprint file says how far it is; nil: its text does.
func (r *bmadReader) add(epic, number, title string, state *placed.Node) {
	it := &item{id: epic + "." + number, as: "S" + epic + "-" + number, priority: normal, group: "epic-" + epic}
	text := cmp.Or(r.texts[it.id], &bmadText{})
	it.title = cmp.Or(text.title, title)
	if state != nil {
		it.line, it.state = state.Line, becomes(state, "done")
		r.d.state(it, state.String())
	} else {
		it.line, it.file = text.line, text.file
		r.d.state(it, bmadState(text.list))
	}
	if it.open() {
		r.take(it, text)
		if text.other != nil && !it.ordered {
			more := &item{}
			r.take(more, text.other)
			it.ordered, it.after = more.ordered, more.after
		}
	}
	r.d.items = append(r.d.items, it)
}

// take gives a story what its text says: its criteria, what it waits for and its description.
func (r *bmadReader) take(it *item, text *bmadText) {
	var said, criteria []markdown.Line
	mode, level := "", 9
	for _, l := range text.list {
		name, at := markdown.Unformatted(cmp.Or(l.Rest, l.Text)), l.Level
		after := bmadAfter.FindStringSubmatch(name)
		if l.Kind != markdown.Heading && (bmadLabel.MatchString(l.Text) || bmadCriteria.MatchString(name) || after != nil) {
			at = 7
		}
		if at > 0 && at <= level {
			mode, level = "", at
			switch {
			case bmadCriteria.MatchString(name):
				mode = "criteria"
			case bmadOfAgent.MatchString(name):
				mode = "record"
				r.d.tellOf(text.file, l.N, "briefs leave out "+markdown.Clip(name, 60)+", the record of an agent")
			case bmadStatus.MatchString(name):
				mode = "state"
			case bmadTasks.MatchString(name):
				mode = "tasks"
			}
		}
		switch {
		case after != nil:
			it.ordered = it.ordered || gsdNothing.MatchString(after[1])
			for _, on := range bmadNumber.FindAllStringSubmatch(after[1], -1) {
				it.ordered, it.after = true, append(it.after, reference{id: on[1] + "." + on[2], line: l.N})
			}
		case mode == "criteria" && !bmadCriteria.MatchString(name):
			criteria = append(criteria, l)
		case mode == "" && !bmadStatus.MatchString(name) || mode == "tasks" && !l.Done():
			said = append(said, l)
		}
	}
	it.criteria = clauses(criteria)
	it.say(markdown.Join(said))
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

// bmadTexts returns the texts of stories in a file by their numbers. They begin with a heading, or a line in bold.
func bmadTexts(file string, list []markdown.Line) map[string]*bmadText {
	found := map[string]*bmadText{}
	var text *bmadText
	level := 0
	for _, l := range list {
		if bmadBold.MatchString(l.Text) {
			l.Kind, l.Level, l.Rest = markdown.Heading, 4, l.Text
		}
		heading := l.Kind == markdown.Heading
		switch m := bmadHeading.FindStringSubmatch(markdown.Unformatted(l.Rest)); {
		case heading && m != nil && found[m[1]+"."+m[2]] == nil:
			text, level = &bmadText{file: file, title: m[3], line: l.N}, l.Level
			found[m[1]+"."+m[2]] = text
		case heading && l.Level <= level:
			text = nil
		case text != nil:
			text.list = append(text.list, l)
		}
	}
	return found
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
