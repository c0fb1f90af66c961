package importer

import (
	"slices"
	"strings"

	"relay/epic/importer/internal/placed"
	"relay/epic/pattern"
	"relay/epic/plaintext"
)

// line is one line of a markdown file, outside of code blocks and comments as far as its kind says.
type line struct {
	n      int // from 1
	text   string
	kind   kind
	indent int    // in columns
	level  int    // of a heading
	rest   string // of a heading or item: what follows its mark
	box    byte   // of an item: ' ' or 'x' for a check box, '*' for one that is optional, 0 for none
}

// kind says what a line is.
type kind uint8

const (
	plainLine kind = iota
	blankLine
	headingLine
	itemLine // of a list
	codeLine // in a code block, or its fence
)

var (
	headingForm = pattern.New(`^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$`)
	itemForm    = pattern.New(`^([ \t]*)(?:[-*+]|[0-9]{1,9}[.)])[ \t]+(.*)$`)
	boxForm     = pattern.New(`^\[([ xX-])\](\*?)[ \t]+(.*)$`)
	fenceForm   = pattern.New("^ {0,3}[-*+]?[ \t]*(`{3,}|~{3,})")
)

// lines splits a markdown file.
func lines(data []byte) []line {
	var list []line
	fence := ""
	n := 0
	for raw := range strings.Lines(strings.TrimPrefix(string(data), "\ufeff")) {
		n++
		text := strings.TrimRight(plaintext.Clean(strings.TrimRight(raw, "\r\n")), " \t\r\n")
		l := line{n: n, text: strings.ReplaceAll(text, "\n", " ")}
		mark := ""
		if m := fenceForm.FindStringSubmatch(l.text); m != nil {
			mark = m[1]
		}
		switch {
		case fence != "":
			l.kind = codeLine
			if strings.HasPrefix(mark, fence) && strings.Trim(strings.TrimSpace(l.text), fence[:1]) == "" {
				fence = ""
			}
		case mark != "":
			l.kind, fence = codeLine, mark
		case l.text == "":
			l.kind = blankLine
		default:
			l.classify()
		}
		list = append(list, l)
	}
	return list
}

func (l *line) classify() {
	if m := headingForm.FindStringSubmatch(l.text); m != nil {
		l.kind, l.level, l.rest = headingLine, len(m[1]), m[2]
		return
	}
	for _, r := range l.text {
		if r == ' ' {
			l.indent++
		} else if r == '\t' {
			l.indent += 4
		} else {
			break
		}
	}
	m := itemForm.FindStringSubmatch(l.text)
	if m == nil {
		return
	}
	l.kind, l.rest = itemLine, m[2]
	if box := boxForm.FindStringSubmatch(l.rest); box != nil {
		l.box, l.rest = box[1][0], box[3]
		switch {
		case l.box == 'X':
			l.box = 'x'
		case box[2] != "" && l.box == ' ':
			l.box = '*'
		}
	}
}

// done reports whether an item is ticked.
func (l *line) done() bool { return l.box == 'x' }

// unformatted takes emphasis and code marks out of a short text.
func unformatted(text string) string {
	return strings.TrimSpace(strings.NewReplacer("**", "", "__", "", "`", "").Replace(text))
}

// clip brings a text to one line of at most so many bytes.
func clip(text string, most int) string {
	text = plaintext.Line(text)
	if len(text) <= most {
		return text
	}
	return plaintext.Head(text, most-len("…")) + "…"
}

// section is a heading with what stands below it, up to the next one of its level or above.
type section struct {
	heading line
	body    []line
}

// cut returns what stands before the first heading of a level, and the sections of that level. Headings above it end a section, and are
// part of nothing.
func cut(list []line, level int) (before []line, sections []section) {
	open := false
	for _, l := range list {
		switch {
		case l.kind == headingLine && l.level == level:
			sections, open = append(sections, section{heading: l}), true
		case l.kind == headingLine && l.level < level:
			open = false
			if len(sections) == 0 {
				before = append(before, l)
			}
		case open:
			last := &sections[len(sections)-1]
			last.body = append(last.body, l)
		case len(sections) == 0:
			before = append(before, l)
		}
	}
	return before, sections
}

// join returns lines as text, without blank lines and rules at both ends.
func join(list []line) string {
	var b strings.Builder
	for _, l := range list {
		b.WriteString(l.text + "\n")
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

// frontMatter returns what stands between --- and --- at the top of a file, nil if it is not YAML, and the rest.
func frontMatter(list []line) (matter *placed.Node, rest []line) {
	if len(list) == 0 || list[0].text != "---" {
		return nil, list
	}
	end := slices.IndexFunc(list[1:], func(l line) bool { return l.text == "---" })
	if end < 0 {
		return nil, list
	}
	var b strings.Builder
	for _, l := range list[1 : end+1] {
		b.WriteString(l.text + "\n")
	}
	matter, _ = placed.YAML([]byte(b.String()))
	return matter, list[end+2:]
}

// heading returns the first heading of level 1, and the rest.
func firstHeading(list []line) (title string, rest []line) {
	for i, l := range list {
		if l.kind == headingLine && l.level == 1 {
			return l.rest, append(append([]line(nil), list[:i]...), list[i+1:]...)
		}
	}
	return "", list
}
