package importer

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"relay/epic/blueprint"
	"relay/epic/importer/internal/markdown"
	"relay/epic/pattern"
)

var (
	stepHeading = pattern.New(`^(?i:(step|story|task|phase|part|milestone)[ \t]+)?#?([0-9]{1,3}(?:\.[0-9]{1,3})?[a-z]?)(?:[.):]|[ \t]+[–—-])[ \t]*(.+)$`)
	stepItem    = pattern.New(`^([ \t]*)([0-9]{1,3})[.)][ \t]+(.+)$`)
	superpowers = pattern.New(`(?i)\bsuperpowers:|\bexecuting-plans\b`)
	stepBox     = pattern.New(`^\**Step \d+\b`)
	stepSection = pattern.New(`(?i)^\W*(?:\d+[.)]\s*)?(?:(?:the|detailed|implementation|proposed|required|execution|step-by-step|technical|recommended) )*(?:steps|plan|changes|phases|implementation|approach)(?: to [\w ]+)?\W*$`)
	ofRelay     = pattern.New(`(?i)^[-*\s]*\*\*(?:depends on|blocked by|checks?|priority|points|protected)\b[^:]{0,3}:`)
	stepEnded   = pattern.New(`(?i)[ \t]*(?:[—–-]+[ \t]*|[\[(])?(?:✅[ \t]*(?:done|completed?)?|(?:—|–|\[|\()[ \t]*(?:done|completed?))[\])]?[ \t]*$`)
	provedBy    = pattern.New(`(?i)^\W*(?:done when|acceptance(?: criteria)?|exit criteria|success criteria|definition of done|verification|criteria)\b[^.]{0,30}$`)
	filesLabel  = pattern.New(`(?i)^\W*files?\b[^:]{0,30}:\**\s*(.*)$`)
)

func claimsPlanmode(s source) bool {
	marked := slices.ContainsFunc(s.list, func(l markdown.Line) bool { return superpowers.MatchString(l.Text) })
	own := !marked && blueprint.HasTasks(s.data) && slices.ContainsFunc(s.list, func(l markdown.Line) bool {
		return l.Kind == markdown.Heading && blueprint.IsSection(l.Rest) || ofRelay.MatchString(l.Text)
	})
	return s.isText() && !own && len(steps(s.list)) > 1
}

// steps returns the lines at which the steps of a plan begin: the numbered headings of a level and word that are the most, else the
// numbered list at the margin, or the headings, of a section of steps. Where boxes below numbered headings are the work, there are none.
func steps(list []markdown.Line) []int {
	type series struct {
		level int
		word  string
	}
	found := map[series][]int{}
	var best series
	rank := func(k series) int { // steps are parts of tasks
		return map[string]int{"task": 2, "story": 2, "step": 1}[k.word] * min(len(found[k])/2, 1)
	}
	for i, l := range list {
		m := stepHeading.FindStringSubmatch(markdown.Unformatted(l.Rest))
		if l.Kind != markdown.Heading || l.Level == 1 || m == nil || blueprint.IsAside(m[3]) {
			continue
		}
		k := series{l.Level, strings.ToLower(m[1])}
		if found[k] = append(found[k], i); cmp.Or(cmp.Compare(rank(k), rank(best)), cmp.Compare(len(found[k]), len(found[best]))) > 0 {
			best = k
		}
	}
	loose := freeBoxes(list)
	if len(found[best]) > 1 && (rank(best) > 0 || !loose) {
		return found[best]
	}
	if loose {
		return nil
	}
	section := 0
	var items, headings []int
	for i, l := range list {
		switch {
		case l.Kind == markdown.Heading && section > 0 && l.Level == section+1:
			headings = append(headings, i)
		case l.Kind == markdown.Heading && section > 0 && l.Level > section:
		case l.Kind == markdown.Heading:
			section = 0
			if l.Level > 1 && len(items)+len(headings) == 0 && stepSection.MatchString(l.Rest) && !blueprint.IsAside(l.Rest) {
				section = l.Level
			}
		case section > 0 && len(headings) == 0 && l.Kind == markdown.Item && l.Indent == 0 && stepItem.MatchString(l.Text):
			items = append(items, i)
		}
	}
	if len(items) > 0 {
		return items
	}
	return headings
}

// freeBoxes reports whether a text has boxes that are more than criteria.
func freeBoxes(list []markdown.Line) bool {
	proof := false
	for _, l := range list {
		text := cmp.Or(l.Rest, l.Text)
		switch {
		case l.Box != 0 && !proof:
			return true
		case provedBy.MatchString(text), l.Kind == markdown.Heading && blueprint.IsAside(markdown.Unformatted(text)):
			proof = true
		case l.Kind == markdown.Heading, l.Kind == markdown.Plain && l.Indent == 0:
			proof = false
		}
	}
	return false
}

// readPlanmode reads what Claude Code writes in its plan mode, and plans like it: steps that are numbered headings, or the numbered list
// or the headings of a section that is called a plan or steps. They are done in their order; everything else is the description of the
// epic. Boxes below one are its criteria or its parts; when all are ticked it is done.
func readPlanmode(s source, d *draft) {
	d.title = cmp.Or(markdown.Unformatted(strings.TrimPrefix(s.title, "Plan:")), strings.TrimSuffix(path.Base(s.name), path.Ext(s.name)))
	starts := steps(s.body)
	if len(starts) == 0 {
		d.fail(1, "no step was found in it: numbered headings, or a numbered list below one such as Steps")
		return
	}
	stepsAt(d, s.body, starts)
	d.chain(d.items, false)
}

// stepsAt takes the steps that begin at some lines. Each ends where the next begins, or a heading that is not below it.
func stepsAt(d *draft, list []markdown.Line, starts []int) {
	rest := slices.Clone(list[:starts[0]])
	for k, at := range starts {
		end := len(list)
		if k+1 < len(starts) {
			end = starts[k+1]
		}
		own := at + 1
		for own < end && !(list[own].Kind == markdown.Heading && (list[at].Kind != markdown.Heading || list[own].Level <= list[at].Level)) {
			own++
		}
		takeStep(d, list[at], list[at+1:own])
		rest = append(rest, list[own:end]...)
	}
	for _, part := range markdown.Headed(rest) {
		aside(d, markdown.Unformatted(part.Heading.Rest), part.Body)
	}
}

func takeStep(d *draft, head markdown.Line, below []markdown.Line) {
	number, title := "", head.Rest
	if m := stepHeading.FindStringSubmatch(markdown.Unformatted(title)); head.Kind == markdown.Heading && m != nil {
		number, title = m[2], m[3]
	} else if m := stepItem.FindStringSubmatch(head.Text); head.Kind == markdown.Item && m != nil {
		number, title = m[2], m[3]
	}
	it := boxItem(d, &markdown.Entry{Title: title, Line: head}, "")
	if number != "" {
		it.id, it.as = number, "T"+number
	}
	boxes, open := 0, 0
	label := ""
	var said []markdown.Line
	for _, l := range below {
		text := cmp.Or(l.Rest, l.Text)
		m := filesLabel.FindStringSubmatch(text)
		switch {
		case m != nil:
			label = "files"
			it.files = blueprint.FilesIn(it.files, m[1], true)
		case label == "files" && l.Kind == markdown.Item && l.Box == 0:
			it.files = blueprint.FilesIn(it.files, l.Rest, true)
		case l.Kind == markdown.Heading, l.Kind == markdown.Plain && l.Indent == 0:
			label = ""
		}
		if l.Box != 0 {
			boxes++
			it.boxes = append(it.boxes, l.N)
			if !l.Done() {
				open++
			}
		}
		if l.Box != 0 && !stepBox.MatchString(l.Rest) {
			it.criteria = append(it.criteria, l.Rest)
			continue
		}
		said = append(said, l)
	}
	it.done = it.done || boxes > 0 && open == 0 || isComplete(below)
	it.say(markdown.Join(said))
}
