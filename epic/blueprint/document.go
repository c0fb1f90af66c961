package blueprint

import (
	"strings"
	"unicode/utf8"

	"relay/epic"
	"relay/epic/pattern"
)

// block is one part of the document at its top level, with all of its source up to the next: nothing lies between blocks.
type block struct {
	kind  kind
	level int    // of a heading
	text  string // of a heading
	line  int
	raw   string
	items []item // of a list
}

type kind uint8

const (
	other kind = iota
	heading
	paragraph
	list
	code
)

// item is one entry of a list.
type item struct {
	lines    []line  // its own text
	children []block // what is nested in it
	raw      string  // its source, marker and children included
}

// line is a line of text and where it stands.
type line struct {
	text         string
	line, column int
}

func (l line) place() epic.Place { return epic.Place{Line: l.line, Column: l.column} }

// document is the source by its lines.
type document struct {
	text   string
	begin  []int // offset of each line, and of the end
	indent []int // columns before each line's text
}

// region is a part of a document: lines without a margin, the first of which may begin behind the mark of an item.
type region struct {
	from, to int
	margin   int // in columns
	skip     int // bytes of the first line
}

var (
	atxForm   = pattern.New(`^(#{1,6})(?:[ \t]+(.*))?$`)
	codeFence = pattern.New("^(?:`{3,}[^`]*|~{3,}.*)$")
	ruleForm  = pattern.New(`^(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$`)
	markForm  = pattern.New(`^([-*+]|[0-9]{1,9}[.)])(?:[ \t]+|$)`)
	htmlForm  = pattern.New(`^(?:<!--|</?[A-Za-z][A-Za-z0-9-]*(?:[ \t/>]|$)|>)`)
)

// deepest is how far into a line marks of items are read that stand in one another.
const deepest = 64

// blocks parses the structure of markdown as far as plans use it. relay reads the
// text of a paragraph as it is written: it is data.
func blocks(src []byte) []block {
	d := document{text: string(src)}
	at := 0
	for line := range strings.Lines(d.text) {
		columns := 0
		for _, c := range line[:len(line)-len(strings.TrimLeft(line, " \t"))] {
			if columns++; c == '\t' {
				columns = (columns + 3) / 4 * 4
			}
		}
		d.begin, d.indent = append(d.begin, at), append(d.indent, columns)
		at += len(line)
	}
	d.begin = append(d.begin, at)
	return d.blocks(region{to: len(d.indent)})
}

// isProse tells a line that can only be a paragraph from what its first letter says.
func isProse(text string) bool {
	return text != "" && !strings.ContainsAny(text[:1], "#`~-*_+<>0123456789")
}

// raw returns lines as they are written.
func (d *document) raw(from, to int) string {
	return strings.TrimRight(d.text[d.begin[from]:d.begin[to]], " \t\n")
}

// line returns the text of a line of a region, and the columns before it.
func (d *document) line(r region, i int) (text string, indent int) {
	if i == r.from && r.skip > 0 {
		return strings.TrimSpace(d.text[d.begin[i]+r.skip : d.begin[i+1]]), 0
	}
	return strings.TrimSpace(d.text[d.begin[i]:d.begin[i+1]]), max(0, d.indent[i]-r.margin)
}

// until returns the first line of a region from i on that is as it is wanted, or its end.
func (d *document) until(r region, i int, is func(text string, indent int) bool) int {
	for i < r.to && !is(d.line(r, i)) {
		i++
	}
	return i
}

// interrupts tells a line that no paragraph goes on in.
func interrupts(text string, indent int) bool {
	if isProse(text) {
		return false
	}
	m := markForm.FindStringSubmatch(text)
	item := m != nil && m[0] != text && (len(m[1]) == 1 || m[1][:1] == "1" && len(m[1]) == 2)
	return text == "" || indent < 4 && (item || atxForm.MatchString(text) || codeFence.MatchString(text) ||
		ruleForm.MatchString(text) || htmlForm.MatchString(text))
}

// blocks lists the blocks of a region.
func (d *document) blocks(r region) (all []block) {
	for i := r.from; i < r.to; {
		text, indent := d.line(r, i)
		if text == "" {
			i++
			continue
		}
		b := block{line: i + 1}
		end := d.block(&b, r, i, indent, text)
		b.raw = d.raw(i, end)
		all, i = append(all, b), end
	}
	return all
}

// block reads the block that begins in a line, and returns the line behind it.
func (d *document) block(b *block, r region, i, indent int, text string) int {
	switch {
	case indent > 3:
		end := d.until(r, i, func(t string, indent int) bool { return t != "" && indent < 4 })
		b.kind, b.text = code, d.raw(i, end)
		return end
	case !isProse(text):
		if end := d.marked(b, r, i, text); end > 0 {
			return end
		}
	}
	if i+1 < r.to {
		if under, _ := d.line(r, i+1); under != "" && strings.Trim(under, "=") == "" {
			b.kind, b.level, b.text = heading, 1, text
			return i + 2
		}
	}
	b.kind = paragraph
	return d.until(r, i+1, interrupts)
}

// marked reads a block that begins with a mark, and returns the line behind it; 0 if there is none.
func (d *document) marked(b *block, r region, i int, text string) int {
	switch m := atxForm.FindStringSubmatch(text); {
	case m != nil:
		b.kind, b.level, b.text = heading, len(m[1]), m[2]
		if t := strings.TrimRight(m[2], "#"); strings.TrimRight(t, " \t") != t || t == "" {
			b.text = strings.TrimSpace(t)
		}
		return i + 1
	case codeFence.MatchString(text):
		mark := text[:len(text)-len(strings.TrimLeft(text, text[:1]))]
		end := d.until(r, i+1, func(t string, indent int) bool {
			return indent < 4 && strings.HasPrefix(t, mark) && strings.Trim(t, mark[:1]) == ""
		})
		b.kind, b.text = code, d.code(r, i+1, end)
		return min(end+1, r.to)
	case ruleForm.MatchString(text):
		return i + 1
	case r.skip < deepest && markForm.MatchString(text):
		b.kind = list
		return d.list(b, r, i)
	case strings.HasPrefix(text, "<!--"):
		return min(d.until(r, i, func(t string, _ int) bool { return strings.Contains(t, "-->") })+1, r.to)
	case htmlForm.MatchString(text):
		return d.until(r, i, func(t string, _ int) bool { return t == "" })
	}
	return 0
}

// code returns the text of a block of code, without the margin of what it is nested in.
func (d *document) code(r region, from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		text, indent := d.line(r, i)
		b.WriteString(strings.Repeat(" ", indent) + text + "\n")
	}
	return b.String()
}

// list reads the items of a list, which have marks of one kind.
func (d *document) list(b *block, r region, i int) int {
	kind := byte(0)
	for i < r.to {
		text, indent := d.line(r, i)
		m := markForm.FindStringSubmatch(text)
		if m == nil || indent > 3 || kind != 0 && m[1][len(m[1])-1] != kind || ruleForm.MatchString(text) {
			break
		}
		kind = m[1][len(m[1])-1]
		inner := region{from: i, margin: r.margin + indent + len(m[0]), skip: strings.Index(d.text[d.begin[i]:], text) + len(m[0])}
		if i == r.from && r.skip > 0 {
			inner.skip = r.skip + strings.Index(d.text[d.begin[i]+r.skip:], text) + len(m[0])
		}
		if len(m[0])-len(m[1]) > 4 || m[0] == text {
			inner.margin = r.margin + indent + len(m[1]) + 1
		}
		inner.to = d.itemEnd(r, inner)
		entry := item{raw: strings.TrimRight(d.text[d.begin[i]:d.begin[inner.to]], "\n"), children: d.blocks(inner)}
		if first := entry.children; len(first) > 0 && first[0].kind == paragraph {
			entry.lines, entry.children = d.lines(inner, first[0]), first[1:]
		}
		b.items = append(b.items, entry)
		i = inner.to
	}
	return i
}

// itemEnd returns the line behind an item: the next one that is not further in, and that its last paragraph does not go on in.
func (d *document) itemEnd(r, inner region) int {
	text, _ := d.line(inner, inner.from)
	open, fence := !interrupts(text, 0), fenceAfter("", text)
	for i := inner.from + 1; i < r.to; i++ {
		text, _ := d.line(r, i)
		switch further := d.indent[i] >= inner.margin; {
		case text == "":
			open = false
		case further:
			fence = fenceAfter(fence, text)
			open = fence == "" && !atxForm.MatchString(text) && !strings.HasPrefix(text, "```") && !strings.HasPrefix(text, "~~~")
		case !open || interrupts(text, 0) || markForm.MatchString(text):
			return i
		}
	}
	return r.to
}

// lines are the lines of a paragraph without the marks of what it is nested in.
func (d *document) lines(r region, b block) (all []line) {
	for i := b.line - 1; i < b.line+strings.Count(b.raw, "\n"); i++ {
		text, _ := d.line(r, i)
		before := strings.Index(d.text[d.begin[i]:d.begin[i+1]], text)
		if i == r.from {
			before = max(before, r.skip)
		}
		all = append(all, line{text, i + 1, utf8.RuneCountInString(d.text[d.begin[i]:d.begin[i]+before]) + 1})
	}
	return all
}

// split cuts the source of a paragraph into its lines.
func (b *block) split() []line {
	var all []line
	for text := range strings.Lines(b.raw) {
		trimmed := strings.TrimSpace(text)
		indent := len(text) - len(strings.TrimLeft(text, " \t"))
		all = append(all, line{text: trimmed, line: b.line + len(all), column: indent + 1})
	}
	return all
}
