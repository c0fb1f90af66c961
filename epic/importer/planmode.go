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
	superpowers = pattern.New(`(?i)\bsuperpowers:|\bexecuting-plans\b`)
	stepBox     = pattern.New(`^\**Step \d+\b`)
	ofRelay     = pattern.New(`(?i)^[-*\s]*\*\*(?:depends on|blocked by|checks?|priority|points|protected)\b[^:]{0,3}:`)
	stepEnded   = pattern.New(`(?i)[ \t]*(?:[—–-]+[ \t]*|[\[(])?(?:✅[ \t]*(?:done|completed?)?|(?:—|–|\[|\()[ \t]*(?:done|completed?))[\])]?[ \t]*$`)
	filesLabel  = pattern.New(`(?i)^\W*files?\b[^:]{0,30}:\**\s*(.*)$`)
)

func claimsPlanmode(s source) bool {
	marked := slices.ContainsFunc(s.list, func(l markdown.Line) bool { return superpowers.MatchString(l.Text) })
	own := !marked && blueprint.HasTasks(s.data) && slices.ContainsFunc(s.list, func(l markdown.Line) bool {
		return l.Kind == markdown.Heading && blueprint.IsSection(l.Rest) || ofRelay.MatchString(l.Text)
	})
	return s.isText() && !own && len(markdown.Steps(s.list)) > 1
}

// readPlanmode reads what Claude Code writes in its plan mode, and plans like it: steps that are numbered headings, or the numbered list
// or the headings of a section that is called a plan or steps. They are done in their order; everything else is the description of the
// epic. Boxes below one are its criteria or its parts; when all are ticked it is done.
func readPlanmode(s source, d *draft) {
	d.title = cmp.Or(markdown.Unformatted(strings.TrimPrefix(s.title, "Plan:")), strings.TrimSuffix(path.Base(s.name), path.Ext(s.name)))
	starts := markdown.Steps(s.body)
	if len(starts) == 0 {
		d.fail(1, "no step was found in it: numbered headings, or a numbered list below one such as Steps")
		return
	}
	stepsAt(d, s.body, starts)
	d.chain(d.items)
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
	number, title := markdown.StepTitle(head)
	it := boxItem(d, &markdown.Entry{Title: title, Line: head}, "")
	it.id, it.as = cmp.Or(number, it.id), "T"+cmp.Or(number, it.as[1:])
	open, files := false, false
	var said []markdown.Line
	for _, l := range below {
		text := cmp.Or(l.Rest, l.Text)
		switch m := filesLabel.FindStringSubmatch(text); {
		case m != nil:
			files, it.files = true, blueprint.FilesIn(it.files, m[1], true)
		case files && l.Kind == markdown.Item && l.Box == 0:
			it.files = blueprint.FilesIn(it.files, l.Rest, true)
		case l.Kind == markdown.Heading, l.Kind == markdown.Plain && l.Indent == 0:
			files = false
		}
		if l.Box != 0 {
			it.boxes = append(it.boxes, l.N)
			open = open || !l.Done()
		}
		if l.Box != 0 && !stepBox.MatchString(l.Rest) {
			it.criteria = append(it.criteria, l.Rest)
		} else {
			said = append(said, l)
		}
	}
	ticked := len(it.boxes) > 0 && !open
	it.done = it.done || ticked || markdown.IsComplete(below)
	it.say(markdown.Join(said))
}
