package importer

import (
	"cmp"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"relay/epic/blueprint/names"
	"relay/epic/importer/internal/markdown"
	"relay/epic/importer/internal/placed"
	"relay/epic/pattern"
)

var (
	bmadStory = pattern.New(`^([a-z]*\d+)-(\d+[a-z]?)-(.+)$`)
	bmadEpic  = pattern.New(`^epic-(\d+)$`)
	bmadFile  = pattern.New(`^(?i:story-)?(\d{1,3})[.-](\d{1,3}[a-z]?)(?:[.-].*)?\.md$`)
)

func claimsBmad(s source) bool {
	switch name := path.Base(s.name); path.Ext(name) {
	case ".yaml", ".yml":
		return strings.Contains("\n"+string(s.data), "\ndevelopment_status:") || strings.HasPrefix(name, "sprint-status")
	case ".md":
		files, story := bmadFiles(s, path.Dir(s.name)), bmadFile.MatchString(name)
		if story && s.alone && slices.ContainsFunc(s.body, func(l markdown.Line) bool { return l.Box != 0 }) { // which are the work
			return false
		}
		first := !story || slices.Min(slices.Collect(maps.Values(files))) == s.name
		first = first && !boxesOpen.MatchString(strings.TrimSuffix(name, ".md")) // TODO.md may name stories
		return first && len(markdown.Stories(s.list)) > 0 && (s.unclaimed() || story && len(files) > 1 && !s.isOwn())
	}
	return false
}

// readBmad reads sprint-status.yaml of BMAD with the stories beside it and with epics.md for those that have no file yet; else epics.md
// or a folder of stories, by its first one; a story that is named itself is a checklist. A story waits for those that it names as
// prerequisites, else for the one before it, and epics come in their order. Retrospectives are for people, and left out.
func readBmad(s source, d *draft) {
	r := bmadReader{d: d, from: s, texts: map[string]bmadText{}}
	d.title = "Stories"
	if path.Ext(s.name) != ".md" {
		r.sprint()
		r.order()
		return
	}
	if bmadFile.MatchString(path.Base(s.name)) {
		r.files(path.Dir(s.name), true)
	} else {
		title, _ := markdown.FirstHeading(s.list)
		d.title = cmp.Or(markdown.Unformatted(title), d.title)
		r.gather(s.name, "")
		r.files(path.Join(path.Dir(path.Dir(s.name)), "stories"), false)
		r.files(path.Join(path.Dir(s.name), "stories"), false)
	}
	numbers := slices.SortedFunc(maps.Keys(r.texts), func(a, b string) int { return cmp.Compare(names.Padded(a), names.Padded(b)) })
	for _, number := range numbers {
		epic, story, _ := strings.Cut(number, ".")
		r.add(epic, story, "story "+number, nil)
	}
	r.order()
}

// order has stories that wait for an epic wait for all of its stories.
func (r *bmadReader) order() {
	epics := map[string][]*item{}
	for _, it := range r.d.items {
		epics[it.group] = append(epics[it.group], it)
	}
	for _, it := range r.d.items {
		r.d.wholes(it, epics)
	}
	r.d.chain(r.d.items)
}

// bmadReader goes through the stories.
type bmadReader struct {
	d    *draft
	from source

	texts map[string]bmadText // of stories, by their numbers
}

// bmadText is what a file says of a story.
type bmadText struct {
	markdown.Story
	file string
}

// gather adds the texts of the stories in a file, or of one, in the place of those that are there.
func (r *bmadReader) gather(file, only string) {
	found := markdown.Stories(r.d.read(r.from, file))
	if len(found) > 0 && only == "" {
		r.d.tellOf(file, 0, "briefs include only its stories")
	}
	for number, story := range found {
		if only == "" || only == number {
			if story.After == nil {
				story.After = r.texts[number].After
			}
			r.texts[number] = bmadText{*story, file}
		}
	}
}

// sprint takes the states of stories.
func (r *bmadReader) sprint() {
	d, s := r.d, r.from
	root, err := placed.YAMLBelow(s.data, "development_status")
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
	for _, name := range []string{"epic*.md", "../planning-artifacts/epic*.md", "../epic*.md", "epics/*.md", "../epics/*.md"} {
		for _, file := range pattern.Glob(s.files, path.Join(folder, path.Dir(name)), path.Base(name)) {
			r.gather(file, "")
		}
	}
	for _, place := range []string{path.Join(path.Dir(folder), "stories"), path.Join(folder, "stories"), folder} {
		r.files(place, true)
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
	for _, file := range pattern.Glob(s.files, folder, "*.md") {
		if m := bmadFile.FindStringSubmatch(path.Base(file)); m != nil {
			found[m[1]+"."+m[2]] = file
		}
	}
	return found
}

// files gathers the files of stories in a folder: all, or those of known stories.
func (r *bmadReader) files(folder string, all bool) {
	for number, file := range bmadFiles(r.from, folder) {
		if all || r.texts[number].file != "" {
			r.gather(file, number)
		}
	}
}

// add takes a story, with what its text says of it. State is where a sprint file says how far it is; nil: its text does.
func (r *bmadReader) add(epic, number, title string, state *placed.Node) {
	it := &item{id: epic + "." + number, as: "S" + strings.ReplaceAll(epic+"-"+number, ".", "-"), priority: normal, group: "epic-" + epic}
	text := r.texts[it.id]
	it.title = cmp.Or(text.Title, title)
	if state != nil {
		it.line, it.state = state.Line, state.Becomes("done")
		r.d.state(it, state.String())
	} else {
		it.line, it.file = text.Line, text.file
		r.d.state(it, text.State)
	}
	r.d.items = append(r.d.items, it)
	if !it.open() {
		return
	}
	it.say(text.Text)
	it.criteria = text.Criteria
	for _, l := range text.Records {
		r.d.tellOf(text.file, l.N, "briefs leave out "+markdown.Clip(l.Rest, 60)+", the record of an agent")
	}
	waitsFor(it, text.After)
}
