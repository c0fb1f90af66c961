package markdown

import (
	"cmp"
	"strings"

	"relay/epic/blueprint"
	"relay/epic/pattern"
)

var (
	stepAfter  = pattern.New(`(?i)^\W*(?:depends on|blocked by|dependencies|requires|prerequisites|depende de|dependências|abhängig von|dépend de|依存(?:関係)?|依赖)\W*?[:：]\W*(.*)$`)
	stepRef    = pattern.New(`(?i)(?:\b(?:task|step|story|stories|tarea|tarefa|aufgabe|schritt|paso|passo|pr)s?\s*#?|(?:タスク|任务|步骤|작업)\s*|^[\W_]*|[,、，&]\s*|\band\s+)#?((?:[A-Z]{1,2}\.?)?\d+(?:\.\d+){0,3}[a-z]?)(?:\s*[-–—]\s*(\d+(?:\.\d+)?))?\b`)
	coded      = pattern.New(`\b([A-Z]{1,2})-(\d)`)
	dashed     = pattern.New(`\b\d+-\d+\b`)
	stepBox    = pattern.New(`^\**Step \d+\b`)
	filesLabel = pattern.New(`(?i)^\W*files?\b[^:]{0,30}:\**\s*(.*)$`)
)

// Step is a step of a plan.
type Step struct {
	Number, Title string // a step without a number has none
	Line          Line
	Phase         Line // the numbered heading that it is below, or an empty line
	Done          bool
	Files         []string    // that it lists
	After         []Reference // nil: it does not say what it waits for
	Criteria      []string
	Boxes         []int // their lines
	Text          string
}

// SplitSteps returns the steps that begin at some lines, and the other lines. A step ends where the next begins, or a heading that is not
// below it.
func SplitSteps(list []Line, starts []int) (steps []Step, rest []Line) {
	head(list, starts)
	rest = append(rest, list[:starts[0]]...)
	known := map[string]bool{} // numbers
	for _, at := range starts {
		number, _ := StepTitle(list[at])
		known[number] = true
	}
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
		s := Step{Line: list[at]}
		s.Number, s.Title = StepTitle(s.Line)
		s.read(list[at+1:own], known)
		s.place(above[:])
		steps, rest = append(steps, s), append(rest, list[own:end]...)
	}
	return steps, rest
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

// place takes what the headings above a step say of it.
func (s *Step) place(above []Line) {
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
	if whole, _ := StepTitle(s.Phase); s.Line.Kind == Item && whole != "" && s.Number != "" {
		s.Number = whole + "." + s.Number
	}
}

// read takes what the lines below a step say. Boxes are its criteria, with the lists below them, or steps of it; when all are ticked, it is
// done.
func (s *Step) read(body []Line, known map[string]bool) {
	var said []Line
	if _, more, bold := boldLabel(s.Line.Rest); s.Line.Kind == Plain {
		said = append(said, s.Line) // the row of a table
	} else if bold && more != "" {
		said = append(said, Line{Text: more, N: s.Line.N})
	}
	open, files, column := false, false, -1 // of the last criterion
	for _, l := range body {
		files = s.lists(l, files)
		if on := After(l, known); on != nil {
			s.After = append(append([]Reference{}, s.After...), on...)
		}
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
	s.Done = len(s.Boxes) > 0 && !open || IsComplete(body)
	s.Text = Join(said)
}

// lists takes the files that a line lists, in a list of files or not, and reports whether the next line goes on with them.
func (s *Step) lists(l Line, files bool) bool {
	switch m := filesLabel.FindStringSubmatch(cmp.Or(l.Rest, l.Text)); {
	case m != nil:
		s.Files, files = blueprint.FilesIn(s.Files, m[1], true), true
	case files && l.Kind == Item && l.Box == 0:
		s.Files = blueprint.FilesIn(s.Files, l.Rest, true)
	case l.Kind == Heading, l.Kind == Plain && l.Indent == 0:
		files = false
	}
	return files
}

// After returns what a line such as Depends on: Task 1 names; empty and not nil if it says that there is nothing. Known are the numbers
// that steps have: 2-1 may be one, or a range.
func After(l Line, known map[string]bool) []Reference {
	switch m := stepAfter.FindStringSubmatch(cmp.Or(l.Rest, l.Text)); {
	case m == nil:
		return nil
	case Nothing.MatchString(m[1]):
		return []Reference{}
	default:
		return references(stepRef, dashed.ReplaceAllStringFunc(coded.ReplaceAllString(m[1], "$1.$2"), func(number string) string {
			if dotted := strings.Replace(number, "-", ".", 1); known[dotted] {
				return dotted
			}
			return number
		}), l.N)
	}
}
