package blueprint

import (
	"bytes"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	markdown "github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"relay/epic"
	"relay/epic/blueprint/inline"
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
	behind   []line  // lines right below it that begin with a field: markdown takes them for a part of it
	children []block // what is nested in it
	raw      string  // its source, marker and children included
}

// line is a line of text and where it stands.
type line struct {
	text         string
	line, column int
}

func (l line) boxed() bool {
	_, _, boxed := inline.Checkbox(l.text)
	return boxed
}

func (l line) place() epic.Place { return epic.Place{Line: l.line, Column: l.column} }

// document is the source with an index of its lines.
type document struct {
	src   []byte
	text  string // the same, for pieces that need no copy: what is nested would be copied at every level
	begin []int  // offset of each line
}

// blocks parses markdown into its parts. Only the structure of blocks is goldmark's: what stands inside a paragraph is
// data for relay, so it is read as it is written.
func blocks(src []byte) []block {
	d := document{src: src, text: string(src), begin: []int{0}}
	for i, c := range src {
		if c == '\n' {
			d.begin = append(d.begin, i+1)
		}
	}
	root := markdown.NewParser(markdown.WithBlockParsers(markdown.DefaultBlockParsers()...)).Parse(text.NewReader(d.shallow()))
	return d.children(root, 0, len(src))
}

// mostMarks bounds the bytes of marks that a line begins with: goldmark's time grows with their square.
const mostMarks = 1000

// shallow returns the source with letters in place of the marks beyond the bound. Offsets stay.
func (d *document) shallow() []byte {
	src := d.src
	for _, from := range d.begin {
		rest := bytes.TrimLeft(d.src[from:], " \t>-+*.)0123456789")
		if to := len(d.src) - len(rest); to > from+mostMarks {
			if &src[0] == &d.src[0] {
				src = bytes.Clone(src)
			}
			for i := from + mostMarks; i < to; i++ {
				src[i] = 'x'
			}
		}
	}
	return src
}

// children lists the blocks in a node whose source lies between two offsets.
func (d *document) children(parent ast.Node, from, to int) []block {
	var list []block
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Type() != ast.TypeBlock {
			continue
		}
		end := to
		if next := n.NextSibling(); next != nil && next.Pos() >= 0 {
			end = max(d.lineStart(next.Pos()), from)
		}
		list = append(list, d.block(n, from, end))
		from = end
	}
	return list
}

func (d *document) block(n ast.Node, from, to int) block {
	start := max(d.lineStart(max(n.Pos(), from)), from) // what lies before is blank
	b := block{raw: strings.TrimRight(d.text[start:max(start, to)], " \t\n"), line: d.lineOf(start)}
	switch n := n.(type) {
	case *ast.Heading:
		b.kind, b.level = heading, n.Level
		b.text = strings.TrimSpace(string(n.Lines().Value(d.src)))
	case *ast.Paragraph, *ast.TextBlock:
		b.kind = paragraph
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		b.kind = code
		b.text = string(n.Lines().Value(d.src))
	case *ast.List:
		b.kind = list
		d.items(&b, n, from, to)
	}
	return b
}

func (d *document) items(b *block, n *ast.List, from, to int) {
	for entry := n.FirstChild(); entry != nil; entry = entry.NextSibling() {
		end := to
		if next := entry.NextSibling(); next != nil {
			end = max(d.lineStart(next.Pos()), from)
		}
		i := item{raw: strings.TrimRight(d.text[from:end], "\n")}
		first := entry.FirstChild()
		if first != nil && (first.Kind() == ast.KindTextBlock || first.Kind() == ast.KindParagraph) {
			i.lines = d.lines(first)
			if k := slices.IndexFunc(i.lines, func(l line) bool { found := pairs(l); return len(found) > 0 && found[0].known }); k > 0 {
				i.lines, i.behind = i.lines[:k], i.lines[k:]
			}
		}
		rest := d.children(entry, from, end)
		if len(i.lines) > 0 {
			rest = rest[1:]
		}
		i.children = rest
		b.items = append(b.items, i)
		from = end
	}
}

// lines are the lines of a paragraph without the marks of what it is nested in.
func (d *document) lines(n ast.Node) []line {
	var all []line
	for i := range n.Lines().Len() {
		s := n.Lines().At(i)
		at := d.lineOf(s.Start)
		all = append(all, line{
			text: strings.TrimSpace(d.text[s.Start:s.Stop]),
			line: at, column: utf8.RuneCount(d.src[d.begin[at-1]:s.Start]) + 1,
		})
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

func (d *document) lineStart(offset int) int {
	return bytes.LastIndexByte(d.src[:min(offset, len(d.src))], '\n') + 1
}

// lineOf is the number of the line that holds an offset, from 1.
func (d *document) lineOf(offset int) int { return sort.SearchInts(d.begin, offset+1) }
