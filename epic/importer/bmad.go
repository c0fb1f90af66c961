package importer

import (
	"cmp"
	"errors"
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
	bmadHeading  = pattern.New(`(?i)^story\s+(\d+)\.(\d+[a-z]?)\s*:?\s*(.*)$`)
	bmadCriteria = pattern.New(`(?i)^acceptance criteria:?$`)
	bmadTasks    = pattern.New(`(?i)^tasks\b`)
	bmadOfAgent  = pattern.New(`(?i)^(dev agent record|change log|file list|status|qa results)\b`)
	bmadClause   = pattern.New(`(?i)^(given|when|then|and|but)\b`)
)

func claimsBmad(s source) bool {
	return (path.Ext(s.name) == ".yaml" || path.Ext(s.name) == ".yml") && strings.Contains(string(s.data), "\ndevelopment_status:")
}

// readBmad reads sprint-status.yaml of BMAD with the stories beside it, or with epics.md for those that have no file yet. Stories of an
// epic are done one after the other, epics in their order. Retrospectives are for people, and left out.
func readBmad(s source, d *draft) {
	root, err := placed.YAML(s.data)
	if wrong, ok := errors.AsType[*placed.Error](err); ok {
		d.fail(wrong.Line, "%v", wrong.Err)
		return
	}
	d.title = cmp.Or(root.Get("project").String(), "Stories")
	states := root.Get("development_status")
	if states == nil || states.Kind != placed.Object {
		d.fail(1, "it has no development_status")
		return
	}
	d.unread(true, root)
	planned := bmadPlanned(d, s)
	last := map[string]string{} // the last group that has been
	before := ""
	for i, key := range states.Keys {
		value := states.Values[i]
		m := bmadStory.FindStringSubmatch(key)
		switch {
		case m != nil:
		case bmadEpic.MatchString(key), strings.HasSuffix(key, "-retrospective"):
			continue
		default:
			d.tell(value.Line, key+" is neither an epic nor a story")
			continue
		}
		it := bmadStoryItem(d, s, m, value.Line, value.String())
		it.state = becomes(value, "done")
		if p := planned[m[1]+"."+m[2]]; p != nil && len(it.description)+len(it.criteria) == 0 {
			it.title, it.description, it.criteria = cmp.Or(p.title, it.title), p.description, p.criteria
		}
		it.group = "epic-" + m[1]
		if last[it.group] == "" {
			g := group{name: it.group}
			if before != "" {
				g.after = []string{before}
			}
			d.groups = append(d.groups, g)
			last[it.group], before = it.group, it.group
		}
		d.items = append(d.items, it)
	}
	d.chain(d.items, true)
}

// bmadStoryItem reads a story, and its file when it has one.
func bmadStoryItem(d *draft, s source, m []string, n int, state string) *item {
	it := &item{
		id: m[1] + "." + m[2], as: "S" + m[1] + "-" + m[2], line: n, priority: normal, title: strings.ReplaceAll(m[3], "-", " "),
	}
	if d.state(it, state); !it.open() {
		return it
	}
	file := m[0] + ".md"
	list := d.read(s, file)
	title, list := markdown.FirstHeading(list)
	if h := bmadHeading.FindStringSubmatch(title); h != nil && h[3] != "" {
		it.title = h[3]
	}
	_, sections := markdown.Cut(list, 2)
	for _, part := range sections {
		name := markdown.Unformatted(part.Heading.Rest)
		switch {
		case bmadCriteria.MatchString(name):
			it.criteria = clauses(part.Body)
		case bmadOfAgent.MatchString(name):
			if markdown.Join(part.Body) != "" {
				d.tellOf(path.Join(path.Dir(s.name), file), part.Heading.N, "briefs leave out "+markdown.Clip(name, 60)+", the record of an agent")
			}
		case bmadTasks.MatchString(name):
			it.say(titled("Tasks", markdown.Join(slices.DeleteFunc(slices.Clone(part.Body), func(l markdown.Line) bool { return l.Done() }))))
		default:
			it.say(titled(name, markdown.Join(part.Body)))
		}
	}
	return it
}

// bmadPlanned returns the stories of epics.md, in the folder above or beside, by their numbers.
func bmadPlanned(d *draft, s source) map[string]*item {
	found := map[string]*item{}
	folder := path.Dir(s.name)
	for _, place := range []string{folder, path.Join(path.Dir(folder), "planning-artifacts"), path.Dir(folder)} {
		data, err := s.text(path.Join(place, "epics.md"))
		if err != nil {
			continue
		}
		_, stories := markdown.Cut(markdown.Lines(data), 3)
		for _, part := range stories {
			m := bmadHeading.FindStringSubmatch(markdown.Unformatted(part.Heading.Rest))
			if m == nil {
				continue
			}
			it := &item{title: m[3]}
			var said []markdown.Line
			for i, l := range part.Body {
				if bmadCriteria.MatchString(markdown.Unformatted(l.Text)) {
					it.criteria = clauses(part.Body[i+1:])
					break
				}
				said = append(said, l)
			}
			it.say(markdown.Join(said))
			found[m[1]+"."+m[2]] = it
		}
		d.told = append(d.told, Told{File: d.at(path.Join(place, "epics.md")), Why: "briefs include only its stories"})
		return found
	}
	return found
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
		text := markdown.Unformatted(cmp.Or(l.Rest, strings.TrimSpace(l.Text)))
		switch {
		case l.Kind == markdown.Heading:
			flush()
			return found
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
