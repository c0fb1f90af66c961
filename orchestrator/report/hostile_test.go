package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"relay/epic/plaintext"
)

// skeleton is all of a document but what stands in code, a line for each node: its headings, tables, lists, links, raw HTML
// and words.
func skeleton(source string) []string {
	src := []byte(source)
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(src))
	var nodes []string
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		node := fmt.Sprintf("%v %s", entering, n.Kind())
		switch n := n.(type) {
		case *ast.Heading:
			node += fmt.Sprint(n.Level)
		case *ast.Text:
			node += fmt.Sprintf(" %q", n.Segment.Value(src))
		}
		nodes = append(nodes, node)
		if n.Kind() == ast.KindCodeSpan || n.Kind() == ast.KindFencedCodeBlock {
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	return nodes
}

// firstOff is the first place where two lists differ.
func firstOff(got, want []string) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return "it lacks " + want[i]
		case i >= len(want) || got[i] != want[i]:
			return got[i] + " after " + strings.Join(got[max(i-3, 0):i], ", ")
		}
	}
	return ""
}

// Whatever an agent writes, wherever it can: the report has the headings, tables and lists that it would have without, and
// not one more; nothing in it is HTML, a link or emphasis of theirs.
func FuzzHostileText(f *testing.F) {
	for _, seed := range []string{
		hostile, "plain", "two words", "`", "``` \n# x\n```", "a|b\\|c\\\\|d", "| a |\n|---|", "<b>", "~~~\n", "\x1b[0m`\x00`", "\u202e", "- x", "1. x", "    code", "> q",
		"x\n===", "&#60;script&#62;", "[a]: http://x", "\ufeff#", "\u2028# x", "www.example.com", "a@example.com", "\\", "x\\", "`` ` ``", " ` ", "\t", "_a_", "*", "<!--", "]]>", "\r\n\r\n# x", strings.Repeat("`", 300),
		strings.Repeat("a|", 300),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, said string) {
		if strings.Trim(plaintext.Capped(said, 4<<10), " \n\t_\u00a0\u3000") == "" {
			t.Skip("it says nothing")
		}
		got, want := Make(night(t, said)), Make(night(t, "x"))
		md := markdown(t, got)
		if off := firstOff(skeleton(md), skeleton(markdown(t, want))); off != "" {
			t.Fatalf("%q makes something of the report: %s", said, off)
		}
		if strings.ContainsFunc(md, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == 0x202e }) {
			t.Errorf("%q: a control character gets through", said)
		}
	})
}
