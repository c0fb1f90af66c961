package markdown

import (
	"cmp"
	"strings"

	"relay/epic/blueprint"
	"relay/epic/blueprint/inline"
	"relay/epic/blueprint/names"
	"relay/epic/each"
	"relay/epic/pattern"
)

var (
	stepBox    = pattern.New(`^\**Step \d+\b`)
	filesLabel = pattern.New(`(?i)^[^\pL\d]*files?\b[^:]{0,30}:\**\s*(.*)$`)
)

// Step is a step of a plan.
type Step struct {
	Label
	Line     Line
	Phase    Line // the numbered heading that it is below, or an empty line
	Done     bool
	Files    []string    // that it lists
	After    []Reference // nil: it does not say what it waits for
	Criteria []string
	Boxes    []int // their lines
	Text     string
}

// SplitSteps returns the steps that begin at some lines, and the other lines. A step ends where the next begins, or a heading that is not
// below it.
func SplitSteps(list []Line, starts []int) (steps []Step, rest []Line) {
	head(list, starts)
	rest = append(rest, list[:starts[0]]...)
	var above [8]Line
	seen := 0
	for k, at := range starts {
		for ; seen <= at; seen++ {
			if l := list[seen]; l.Kind == Heading {
				above[l.Level] = l
				clear(above[l.Level+1:])
			}
		}
		end := len(list)
		if k+1 < len(starts) {
			end = starts[k+1]
		}
		own := at + 1
		for own < end && list[at].Kind != Plain && !endsStep(list[at], list[own]) {
			own++
		}
		s := Step{Line: list[at], Label: StepTitle(list[at])}
		s.After = each.Where(append([]Line{{Rest: s.Title, N: s.Line.N}}, list[at+1:own]...), waits)
		s.read(list[at+1 : own])
		s.place(above[:])
		steps, rest = append(steps, s), append(rest, list[own:end]...)
	}
	order(steps, rest)
	return steps, rest
}

// waits returns what a line says that its step waits for, as it is written.
func waits(l Line) (on Reference, ok bool) {
	text, ok := blueprint.Waits(cmp.Or(l.Rest, l.Text))
	return Reference{text, l.N}, ok && l.Kind != Code
}

// Name returns the id of a step, or its title if it has none.
func (s *Step) Name() string {
	title, _ := blueprint.Ended(s.Title)
	return cmp.Or(s.ID, Clip(Unformatted(title), 60))
}

// called returns steps by what their plan calls them.
func called(steps []Step) (known *names.Names, byID map[string]*Step) {
	byID = map[string]*Step{}
	for i := range steps {
		byID[steps[i].Name()] = &steps[i]
	}
	known = names.Of(each.Of(steps, func(s Step) string { return s.Name() }), each.Of(steps, func(s Step) string { return s.Title }))
	for _, s := range steps {
		if word := strings.TrimSuffix(s.Word, "@"); word != "" && s.Number != "" {
			known.Also(word+" "+s.Number, s.Name())
			known.Also(word+"-"+s.Number, s.Name())
		}
	}
	return known, byID
}

// order settles what steps wait for: the tasks that their lines name, else those before them that the text beside them names.
func order(steps []Step, rest []Line) {
	known, byID := called(steps)
	for i := range steps {
		var after []Reference // nil: it does not say
		for _, on := range steps[i].After {
			found := known.List(on.ID)
			if len(found) > 0 || Nothing.MatchString(on.ID) {
				after = append(append([]Reference{}, after...), each.Of(found, func(id string) Reference { return Reference{id, on.Line} })...)
			}
		}
		steps[i].After = after
	}
	drawn := map[*Step][]Reference{}
	for _, pair := range known.Drawn(each.Of(rest, func(l Line) string { return l.Text })) {
		if on, s := byID[pair[0]], byID[pair[1]]; on.Line.N < s.Line.N && s.After == nil {
			drawn[s] = append(drawn[s], Reference{pair[0], s.Line.N})
		}
	}
	for s, after := range drawn {
		s.After = after
	}
}

// head makes headings of steps that are lines in bold.
func head(list []Line, starts []int) {
	above, k := 0, 0
	for i := range list {
		l := &list[i]
		starting := k < len(starts) && starts[k] == i
		if starting {
			k++
		}
		switch {
		case l.Kind == Heading && !starting:
			above = l.Level
		case l.Kind == Plain && starting && !strings.HasPrefix(l.Text, "|"):
			l.Kind, l.Level, l.Rest = Heading, min(above+1, 6), l.Text
		}
	}
}

// endsStep reports whether a line ends the text of a step.
func endsStep(head, l Line) bool {
	if head.Kind == Heading {
		return l.Kind == Heading && l.Level <= head.Level
	}
	return l.Kind == Heading || l.Kind == Plain && labelLine.MatchString(l.Text)
}

// place takes what its own heading and those above say of a step.
func (s *Step) place(above []Line) {
	s.Done = s.Done || len(s.Boxes) == 0 && s.Line.Kind == Heading && blueprint.IsTicked(s.Line.Rest)
	for _, l := range above {
		if l.N == 0 || l.N == s.Line.N {
			continue
		}
		name := Unformatted(l.Rest)
		_, ended := blueprint.Ended(name)
		s.Done = s.Done || blueprint.IsDone(name) || ended && len(s.Boxes) == 0
		if label, ok := labelOf(l.Rest); ok && label.Number != "" {
			s.Phase = l
		}
	}
	if whole := StepTitle(s.Phase); s.Line.Kind == Item && whole.ID != "" && s.ID != "" {
		s.ID = whole.ID + "." + s.ID
	}
}

// read takes what the lines below a step say. Boxes are its criteria, with the lists below them, or steps of it; when all are ticked, it is
// done.
func (s *Step) read(body []Line) {
	var said []Line
	if _, more, bold := boldLabel(s.Line.Rest); s.Line.Kind == Plain {
		said = append(said, s.Line) // the row of a table
	} else if bold && more != "" {
		said = append(said, Line{Text: more, N: s.Line.N})
	}
	open, files, column := false, false, -1 // of the last criterion
	for _, l := range body {
		files = s.lists(l, files)
		if l.Box != 0 {
			s.Boxes, open = append(s.Boxes, l.N), open || !l.Done()
		}
		switch {
		case l.Box != 0 && !stepBox.MatchString(l.Rest):
			s.Criteria, column = append(s.Criteria, l.Rest), l.Indent
		case column >= 0 && l.Kind == Item && l.Indent > column:
			s.Criteria[len(s.Criteria)-1] += "\n" + strings.TrimSpace(l.Text)
		default:
			said, column = append(said, l), -1
		}
	}
	s.Done = !open && len(s.Boxes) > 0 || IsComplete(body)
	s.Text = Join(said)
}

// lists takes the files that a line lists, in a list of files or not, and reports whether the next line goes on with them.
func (s *Step) lists(l Line, files bool) bool {
	switch m := filesLabel.FindStringSubmatch(cmp.Or(l.Rest, l.Text)); {
	case m != nil:
		s.Files, files = inline.FilesIn(s.Files, m[1], true), true
	case files && l.Kind == Item && l.Box == 0:
		s.Files = inline.FilesIn(s.Files, l.Rest, true)
	case l.Kind == Heading, l.Kind == Plain && l.Indent == 0:
		files = false
	}
	return files
}
