package planner

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"relay/epic"
	"relay/epic/blueprint"
	"relay/epic/blueprint/outline"
	"relay/epic/each"
	"relay/epic/pattern"
	"relay/epic/plaintext"
)

var (
	// taskLines is the field of a task that names its lines of the request. leftLines is a line above the plan that says why lines have none.
	taskLines = pattern.New(`(?m)^([ \t]*[-*+][ \t]+\*\*Plan lines:\*\*[ \t]*)([0-9]{1,7})(?:[ \t]*[-–][ \t]*([0-9]{1,7}))?()[ \t]*$`)
	leftLines = pattern.New(`(?im)^([ \t]*[-*+][ \t]+)(?:lines?[ \t]+)?([0-9]{1,7})(?:[ \t]*[-–][ \t]*([0-9]{1,7}))?[ \t]*:[ \t]*(\S.*)$`)
	leftDone  = pattern.New(`(?i)^(?:(?:all|both|it|they|tasks?|is|are|already)[ \t]+)*(?:done|finished|completed?)\b`)
)

// part is some lines of the request that an answer names: those of a task or, with the reason, lines that have none.
type part struct {
	from, to int
	why      string
}

func (p part) String() string { return fmt.Sprintf("%d-%d", p.from, p.to) }

func (p part) has(line int) bool { return p.from <= line && line <= p.to }

func partsIn(text string, form *pattern.Regexp) []part {
	return each.Of(form.FindAllStringSubmatch(text, -1), func(m []string) part {
		from, _ := strconv.Atoi(m[2]) // the form has digits
		to, _ := strconv.Atoi(cmp.Or(m[3], m[2]))
		return part{from, max(from, to), m[4]}
	})
}

// keeping compares an answer with its request, which may be a document that names tasks.
type keeping struct {
	from, plan  string
	lines       []string // of the document; nil: there is none
	tasks, left []part
}

func keep(r *Request, answer, plan string) *keeping {
	above := answer[:max(0, strings.Index("\n"+answer, "\n# "))] // as document finds the title
	k := &keeping{from: r.From, plan: plan, tasks: partsIn(plan, taskLines), left: partsIn(above, leftLines)}
	if r.Lines {
		k.lines = strings.Split(r.Text, "\n")
	}
	for i := range k.tasks[:max(0, len(k.tasks)-1)] { // a task ends where the next one begins
		k.tasks[i].to = min(k.tasks[i].to, max(k.tasks[i].from, k.tasks[i+1].from-1))
	}
	return k
}

// text returns the lines of a part, as far as they are there.
func (k *keeping) text(p part) string {
	return strings.Join(k.lines[min(max(p.from-1, 0), len(k.lines)):min(p.to, len(k.lines))], "\n")
}

// wrong says where the tasks of a plan are not those of the request.
func (k *keeping) wrong(plan *epic.Epic) (wrong []string) {
	no := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for i, p := range k.tasks {
		if i > 0 && p.from <= k.tasks[i-1].from {
			no("the task of line %d comes after that of line %d: keep the order of the request, and begin one task in a line", p.from, k.tasks[i-1].from)
		}
		if at := slices.IndexFunc(k.left, func(l part) bool { return l.has(p.from) }); at >= 0 {
			no("lines %s are left out, and a task begins in line %d", k.left[at], p.from)
		}
	}
	headed := len(each.Where(k.tasks, func(p part) (part, bool) { return p, strings.HasPrefix(strings.TrimSpace(k.text(p)), "#") }))
	for _, t := range plan.Tasks {
		own := slices.IndexFunc(k.tasks, func(p part) bool { return k.source(p) == t.Source })
		if own < 0 && len(k.tasks) > 0 {
			no("%s has no Plan lines such as 12-30: add no tasks to those of the request", t.ID)
		} else if own >= 0 && !hasWords(k.text(k.tasks[own]), t.Title) {
			no("the title of %s is not in the words of lines %s", t.ID, k.tasks[own])
		} else if own >= 0 && 2*headed > len(k.tasks) && k.isLine(k.tasks[own], t.ID) {
			no("%s is one line of a list without an id, and most tasks are headings: it is a step, and the heading above it is the task", t.ID)
		}
	}
	marks, _ := outline.Marks(strings.Join(k.lines, "\n"))
	for i := range marks {
		if !k.names(marks, i) {
			no("line %d is neither in a task nor left out: %s", marks[i].Line, plaintext.Fit(k.lines[marks[i].Line-1], 80))
		}
	}
	return wrong
}

// isLine reports whether a task is one line below a heading, without an id.
func (k *keeping) isLine(p part, id string) bool {
	text := strings.TrimSpace(k.text(p))
	return !strings.HasPrefix(text, "#") && !strings.Contains(text, "\n") && !hasWords(text, id)
}

// finished reports whether an answer that makes no plan names all of a document, and its tasks as done.
func (k *keeping) finished() bool {
	made := blueprint.Skim(k.from, []byte(k.quoted()))
	done := made.Done > 0 || len(k.tasks) == 0 && slices.ContainsFunc(k.left, func(p part) bool { return leftDone.MatchString(p.why) })
	return k.lines != nil && !made.Tasks && done && k.wrong(&epic.Epic{}) == nil
}

// names reports whether the answer says what becomes of a mark: it begins a task, is in one, has one below it, or is left out. A line
// that is neither a heading nor a box needs that if it follows a task in a list, and a title of the document never does.
func (k *keeping) names(marks []outline.Mark, at int) bool {
	m := marks[at]
	open := m.Level < 7 && !k.isTitle(marks, at) || m.Box
	for _, p := range k.tasks {
		next, _ := slices.BinarySearchFunc(marks, p.from+1, func(o outline.Mark, line int) int { return o.Line - line })
		below := p.from >= m.Line && !slices.ContainsFunc(marks[at+1:max(at+1, next)], func(o outline.Mark) bool { return o.Level <= m.Level })
		beside := next > 0 && marks[next-1].Line == p.from && m.Level <= marks[next-1].Level
		if below || p.has(m.Line) && !beside {
			return true
		}
		open = open || beside && next <= at && !slices.ContainsFunc(marks[next-1:at], func(o outline.Mark) bool { return o.Level < m.Level })
	}
	return !open || slices.ContainsFunc(k.left, func(p part) bool { return p.has(m.Line) })
}

// isTitle reports whether a mark is the first heading, or of level 1 before the first task.
func (k *keeping) isTitle(marks []outline.Mark, at int) bool {
	return marks[at].Level == 1 && len(k.tasks) > 0 && marks[at].Line < k.tasks[0].from ||
		at == slices.IndexFunc(marks, func(o outline.Mark) bool { return o.Level < 7 })
}

// hasWords reports whether a text has all words of another one.
func hasWords(text, other string) bool {
	words := strings.FieldsFunc(strings.ToLower(other), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	text = strings.ToLower(text)
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// source is where a task comes from.
func (k *keeping) source(p part) string { return fmt.Sprintf("%s:%d", k.from, p.from) }

// quoted returns the plan, in which each task quotes its lines of the document.
func (k *keeping) quoted() string {
	next := 0
	return taskLines.ReplaceAllStringFunc(k.plan, func(string) string {
		p := k.tasks[next]
		next++
		quote := strings.ReplaceAll(strings.ReplaceAll("> "+strings.TrimSpace(k.text(p)), "\n", "\n> "), "> \n", ">\n")
		return fmt.Sprintf("- **Plan lines:** %s\n\n%s\n", strings.ReplaceAll(k.source(p), `\`, `\\`), quote)
	})
}
