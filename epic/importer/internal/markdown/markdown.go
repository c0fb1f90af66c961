// Package markdown reads the lines, headings, lists and check boxes of markdown files, as plans use them.
package markdown

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"relay/epic/blueprint"
	"relay/epic/each"
	"relay/epic/importer/internal/placed"
	"relay/epic/pattern"
	"relay/epic/plaintext"
)

// Line is one line of a markdown file, outside of code blocks and comments as far as its kind says.
type Line struct {
	N        int // from 1
	Text     string
	Kind     Kind
	Indent   int    // in columns
	Level    int    // of a heading
	Rest     string // of a heading or item: what follows its mark
	Numbered bool   // an item of a numbered list
	Box      byte   // of an item: ' ' or 'x' for a check box, '*' for one that is optional, 0 for none
}

// Kind says what a line is.
type Kind uint8

// The kinds of lines.
const (
	Plain Kind = iota
	Blank
	Heading
	Item // of a list
	Code // in a code block, or its fence
)

var (
	headingForm     = pattern.New(`^ {0,3}(#{1,6})[ \t]+(.*)$`)
	itemForm        = pattern.New(`^([ \t]*)(?:[-*+]|[0-9]{1,9}[.)])[ \t]+(.*)$`)
	boxForm         = pattern.New(`^(?:\[([ xX~/✅✓✔☑-]?)\](\*?)[ \t]+|[⬜☐🔲]\x{fe0f}?[ \t]*)(.*)$`)
	fenceForm       = pattern.New("^ {0,3}[-*+]?[ \t]*(`{3,}|~{3,})")
	priorityWords   = pattern.New(`(?i)\bp(?:riority\s*)?:?\s*([0-4])\b|\b(critical|urgent|high|medium|low)\b[ -]*(?:priority\b|[^\pL\d]*$)|\bpriority\W*(critical|high|medium|low)\b`)
	requirementHead = pattern.New(`(?i)^(?:requirement|要件|要求|需求)\s*(\d+)`)
	numberedClause  = pattern.New(`^[ \t]*(\d+(?:\.\d+)?)[.)]?\s+(.+)$`)
)

// Lines splits a markdown file.
func Lines(data []byte) []Line {
	var list []Line
	fence, nested, depth := "", false, 0 // depth: blocks of code in one of markdown
	raws := slices.Collect(strings.Lines(strings.TrimPrefix(string(data), "\ufeff")))
	for i, raw := range raws {
		text := strings.TrimRight(plaintext.Clean(strings.TrimRight(raw, "\r\n")), " \t\r\n")
		l := Line{N: i + 1, Text: strings.ReplaceAll(text, "\n", " ")}
		mark := fenceMark(l.Text)
		switch {
		case fence != "":
			l.Kind = Code
			switch rest := strings.Trim(strings.TrimSpace(l.Text), fence[:1]); {
			case !strings.HasPrefix(mark, fence):
			case rest == "" && depth > 0:
				depth--
			case rest == "":
				fence = ""
			case nested || paired(raws[i+1:], fence):
				depth++
			}
		case mark != "":
			l.Kind, fence, nested = Code, mark, strings.HasSuffix(l.Text, "`markdown")
		case l.Text == "":
			l.Kind = Blank
		default:
			l.classify()
		}
		list = append(list, l)
	}
	return list
}

// fenceMark returns the mark that a line begins or ends a block of code with.
func fenceMark(text string) string {
	if !strings.Contains(text, "```") && !strings.Contains(text, "~~~") {
		return ""
	}
	return strings.TrimLeft(fenceForm.FindString(text), "-*+ \t")
}

// paired reports whether the marks up to the next block of code end an even number of blocks: one is inside another.
func paired(raws []string, fence string) bool {
	ends := 0
	for _, raw := range raws {
		text := strings.TrimSpace(raw)
		if !strings.HasPrefix(fenceMark(text), fence) {
			continue
		}
		if strings.Trim(text, fence[:1]) != "" {
			break
		}
		ends++
	}
	return ends > 0 && ends%2 == 0
}

func (l *Line) classify() {
	text := strings.TrimLeft(l.Text, " \t")
	margin := l.Text[:len(l.Text)-len(text)]
	l.Indent = len(margin) + 3*strings.Count(margin, "\t") // a tab has 4 columns
	if !strings.ContainsAny(text[:1], "#-*+0123456789") {
		return
	}
	if m := headingForm.FindStringSubmatch(l.Text); m != nil {
		l.Kind, l.Level, l.Rest, l.Indent = Heading, len(m[1]), strings.TrimRight(strings.TrimRight(m[2], "#"), " \t"), 0
		return
	}
	m := itemForm.FindStringSubmatch(l.Text)
	if m == nil {
		return
	}
	l.Kind, l.Rest, l.Numbered = Item, m[2], text[0] >= '0'
	if box := boxForm.FindStringSubmatch(l.Rest); box != nil && (l.Rest[0] == '[' || !strings.HasPrefix(box[3], "=")) { // ⬜ = not begun
		if l.Box, l.Rest = strings.ToLower(cmp.Or(box[1], " "))[0], box[3]; l.Box >= utf8.RuneSelf {
			l.Box = 'x'
		}
		if box[2] != "" && l.Box == ' ' {
			l.Box = '*'
		}
	}
}

// Done reports whether an item is ticked.
func (l *Line) Done() bool { return l.Box == 'x' }

// Unformatted takes emphasis and code marks out of a short text.
func Unformatted(text string) string {
	if !strings.ContainsAny(text, "*_`") {
		return strings.TrimSpace(text)
	}
	return strings.TrimSpace(strings.NewReplacer("**", "", "__", "", "`", "").Replace(text))
}

// Clip brings a text to one line of at most so many bytes.
func Clip(text string, most int) string {
	text = plaintext.Line(text)
	if len(text) <= most {
		return text
	}
	return plaintext.Head(text, most-len("…")) + "…"
}

// Section is a heading with what stands below it, up to the next one of its level or above.
type Section struct {
	Heading Line
	Body    []Line
	Beside  bool // it is, or is in, a section beside the work; known of all levels
}

// Cut returns the sections of a level, or of every level if it is 0, behind one without a heading: what stands before them. Headings above
// the level end a section, and are part of nothing.
func Cut(list []Line, level int) []Section {
	parts, open := []Section{{}}, true
	at := outline(list)
	for i, l := range list {
		heading := l.Kind == Heading
		if heading && (level == 0 || l.Level == level) {
			parts, open = append(parts, Section{Heading: l, Beside: at[i].beside}), true
			continue
		}
		if open = open && (len(parts) == 1 || !heading || l.Level > level); open {
			last := &parts[len(parts)-1]
			last.Body = append(last.Body, l)
		}
	}
	return parts
}

// Join returns lines as text, without their common margin, repeated blank lines, and blank lines and rules at both ends.
func Join(list []Line) string {
	margin, blank := "", true
	for _, l := range list {
		if own := l.Text[:len(l.Text)-len(strings.TrimLeft(l.Text, " \t"))]; l.Kind != Blank && (blank || strings.HasPrefix(margin, own)) {
			margin, blank = own, false
		}
	}
	var b strings.Builder
	for _, l := range list {
		if l.Kind != Blank || !blank {
			b.WriteString(strings.TrimPrefix(l.Text, margin) + "\n")
		}
		blank = l.Kind == Blank
	}
	text := strings.TrimSpace(b.String())
	for _, rule := range []string{"---", "***"} {
		text = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(text, rule+"\n"), "\n"+rule))
		if text == rule {
			return ""
		}
	}
	return text
}

// Titled returns a text below its heading, which may be empty.
func Titled(heading, text string) string {
	if heading == "" || text == "" {
		return text
	}
	return heading + ":\n\n" + text
}

// WithoutHeading takes the heading of what follows off the end of some lines.
func WithoutHeading(list []Line) []Line {
	n := len(list)
	for n > 0 && list[n-1].Kind == Blank {
		n--
	}
	if n > 0 && list[n-1].Kind == Heading {
		return list[:n-1]
	}
	return list
}

// FrontMatter returns what stands between --- and --- at the top of a file, nil if it is not YAML, and the rest.
func FrontMatter(list []Line) (matter *placed.Node, rest []Line) {
	if len(list) == 0 || list[0].Text != "---" {
		return nil, list
	}
	end := slices.IndexFunc(list[1:], func(l Line) bool { return l.Text == "---" })
	if end < 0 {
		return nil, list
	}
	matter, _ = placed.YAML([]byte(strings.Join(each.Of(list[1:end+1], func(l Line) string { return l.Text }), "\n") + "\n"))
	return matter, list[end+2:]
}

// FirstHeading returns the first heading of level 1, and the rest without front matter.
func FirstHeading(list []Line) (title string, rest []Line) {
	if matter, below := FrontMatter(list); matter != nil && matter.Kind == placed.Object {
		list = below
	}
	for i, l := range list {
		if l.Kind == Heading && l.Level == 1 {
			return l.Rest, append(append([]Line(nil), list[:i]...), list[i+1:]...)
		}
	}
	return "", list
}

// Numbered matches an item of a checklist that begins with a number: 1. Title, 1.2 Title.
var Numbered = pattern.New(`^(?:\*\*)?(?:(?:Task|Step) )?(\d+(?:\.\d+)*)[.)]?(?:\*\*:?)?(\*?)\s+(?:[–—-]\s+)?(.+)$`)

// Entry is one box of a checklist with what stands below it.
type Entry struct {
	Number   string // "" : it has none
	Title    string
	Line     Line
	Below    []Line // items and text that belong to it, not the boxes
	Optional bool
}

// Parent returns the number that an entry belongs to: 1 for 1.2; "" for 1.
func (e *Entry) Parent() string {
	i := strings.LastIndexByte(e.Number, '.')
	return e.Number[:max(i, 0)]
}

// Checklist takes the boxes out of some lines. Lines below a box and further in belong to it; it returns the rest.
func Checklist(list []Line) (entries []Entry, rest []Line) {
	var open []int // boxes in one another
	for _, l := range list {
		for len(open) > 0 && l.Kind != Blank && l.Kind != Code && entries[open[len(open)-1]].Line.Indent >= l.Indent {
			open = open[:len(open)-1]
		}
		switch {
		case l.Box != 0:
			e := Entry{Line: l, Title: l.Rest, Optional: l.Box == '*'}
			if m := Numbered.FindStringSubmatch(l.Rest); m != nil {
				e.Number, e.Title, e.Optional = m[1], m[3], e.Optional || m[2] != ""
			}
			open, entries = append(open, len(entries)), append(entries, e)
		case len(open) == 0:
			rest = append(rest, l)
		default:
			last := &entries[open[len(open)-1]]
			last.Below = append(last.Below, l)
		}
	}
	return entries, rest
}

// PriorityIn returns the priority that a text names, else another one.
func PriorityIn(text string, other int) int {
	if m := priorityWords.FindStringSubmatch(text); m != nil {
		return Urgency(cmp.Or(m[2], m[3], "p"+m[1]))
	}
	return other
}

// IsComplete reports whether a section says that its work is done: **Status:** ✅ Complete.
func IsComplete(list []Line) bool {
	return slices.ContainsFunc(list, func(l Line) bool { return l.Kind != Code && blueprint.SaysDone(l.Text) })
}

// Points splits a text that is a list into its points.
func Points(texts []string) (list []string) {
	for _, text := range texts {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "-*")); line != "" {
				list = append(list, line)
			}
		}
	}
	return list
}

// Urgency returns the priority that a word means, of 0 to 3.
func Urgency(word string) int {
	if urgency, known := blueprint.Priorities[strings.ToLower(word)]; known {
		return urgency
	}
	return blueprint.Priorities["normal"]
}

// Requirements returns the clauses of requirements.md by their numbers, 2.3 for the third of requirement 2, and what stands before the
// first requirement; nothing if there is none.
func Requirements(list []Line) (found map[string]string, before []Line) {
	found = map[string]string{}
	requirement, last := "", ""
	for i, l := range list {
		if l.Kind == Heading {
			if m := requirementHead.FindStringSubmatch(Unformatted(l.Rest)); m != nil {
				if requirement == "" {
					_, before = FirstHeading(list[:i])
				}
				requirement = m[1]
			}
			continue
		}
		m := numberedClause.FindStringSubmatch(l.Text)
		if m == nil || requirement == "" {
			if l.Kind == Plain && last != "" { // a clause that goes on
				found[last] += " " + Unformatted(l.Text)
			} else {
				last = ""
			}
			continue
		}
		number := m[1]
		if !strings.Contains(number, ".") {
			number = requirement + "." + number
		}
		found[number], last = Unformatted(m[2]), number
	}
	return found, before
}

// Boxed makes boxes of the points of a list at the margin.
func Boxed(list []Line) []Line {
	for i := range list {
		if l := &list[i]; l.Kind == Item && l.Indent == 0 {
			l.Box = ' '
		}
	}
	return list
}
