package epic

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
)

// Formats are the names that Write accepts.
var formats = []string{"text", "mermaid", "dot"}

// Write draws the graph of e as text for a terminal, or as source for Mermaid or Graphviz (dot). An edge leads from a
// task to one that waits for it. Titles are data: whatever they contain, they cannot leave their place.
func (g *Graph) Write(w io.Writer, e *Epic, format string) error {
	out := bufio.NewWriter(w)
	switch format {
	case "text":
		g.text(out, e)
	case "mermaid":
		g.mermaid(out, e)
	case "dot":
		g.dot(out, e)
	default:
		return fmt.Errorf("graph format %s is not known: use %s", Quoted(format), strings.Join(formats, ", "))
	}
	return out.Flush()
}

// text shows level by level what can run side by side. A bufio.Writer keeps its first error for Flush.
func (g *Graph) text(out *bufio.Writer, e *Epic) {
	critical := make([]bool, g.Len())
	path := g.CriticalPath()
	levels, width := 0, 0
	for i := range g.Len() {
		levels = max(levels, g.Level(i)+1)
		width = max(width, len(g.ID(i)))
	}
	heaviest := 0.0
	if len(path) > 0 {
		heaviest = g.Weight(path[0])
	}
	fmt.Fprintf(out, "%s  %s\n", printable(e.ID), printable(e.Title))
	fmt.Fprintf(out, "%s, %s, critical path %v %s:", counted(g.Len(), "task"), counted(levels, "level"), heaviest, pointWord(heaviest))
	for k, i := range path {
		critical[i] = true
		switch {
		case k == mostNames:
			fmt.Fprintf(out, " and %d more", len(path)-mostNames)
		case k < mostNames && k > 0:
			fmt.Fprint(out, " -> "+printable(g.ID(i)))
		case k == 0:
			fmt.Fprint(out, " "+printable(g.ID(i)))
		}
	}
	fmt.Fprintln(out)

	members := make([][]int, levels)
	for i := range g.Len() {
		members[g.Level(i)] = append(members[g.Level(i)], i)
	}
	for level, tasks := range members {
		fmt.Fprintf(out, "\nlevel %d\n", level+1)
		for _, i := range tasks {
			mark := ' '
			if critical[i] {
				mark = '*'
			}
			t := &e.Tasks[i]
			fmt.Fprintf(out, "%c %-*s  p%d  %s", mark, width, printable(g.ID(i)), t.Priority, printable(t.Title))
			if deps := g.Deps(i); len(deps) > 0 {
				fmt.Fprintf(out, "  <- %s", g.names(deps))
			}
			fmt.Fprintln(out)
		}
	}
}

func pointWord(n float64) string {
	if n == 1 {
		return "point"
	}
	return "points"
}

// mostNames is how many tasks are listed in one line.
const mostNames = 20

// names lists tasks, and counts those beyond the first: a group may make a task wait for thousands.
func (g *Graph) names(tasks []int) string {
	const most = mostNames
	var b strings.Builder
	for k, i := range tasks {
		if k == most {
			fmt.Fprintf(&b, " and %d more", len(tasks)-most)
			break
		}
		if k > 0 {
			b.WriteString(", ")
		}
		b.WriteString(printable(g.ID(i)))
	}
	return b.String()
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// printable makes text safe for a terminal: control characters, and those that turn the direction of writing or do not
// show, become a replacement character.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		if unicode.IsSpace(r) {
			return ' '
		}
		return unicode.ReplacementChar
	}, s)
}

// mermaid numbers its nodes: an id such as "end" is a word of that language.
func (g *Graph) mermaid(out *bufio.Writer, e *Epic) {
	fmt.Fprintln(out, "flowchart TD")
	node := func(indent string, i int) {
		fmt.Fprintf(out, "%st%d[\"%s\"]\n", indent, i, mermaidText(g.ID(i)+": "+e.Tasks[i].Title))
	}
	for i := range g.Len() {
		if g.group(i) < 0 {
			node("  ", i)
		}
	}
	for k := range g.groups {
		if len(g.groups[k].tasks) == 0 {
			continue
		}
		fmt.Fprintf(out, "  subgraph g%d[\"%s\"]\n", k, mermaidText(e.Groups[k].Name))
		for _, i := range g.groups[k].tasks {
			node("    ", i)
		}
		fmt.Fprintln(out, "  end")
	}
	for i := range g.Len() {
		for _, d := range g.deps.at(i) {
			fmt.Fprintf(out, "  t%d --> t%d\n", d, i)
		}
	}
	for k := range g.groups {
		for _, b := range g.groups[k].after {
			if len(g.groups[k].tasks) > 0 {
				fmt.Fprintf(out, "  g%d ==> g%d\n", b, k)
			}
		}
	}
	if path := g.CriticalPath(); len(path) > 0 {
		fmt.Fprintln(out, "  classDef critical stroke-width:3px")
		for _, i := range path {
			fmt.Fprintf(out, "  class t%d critical\n", i)
		}
	}
}

// mermaidText writes everything but letters, digits, spaces and a few harmless marks as character codes: quotes end the
// label, brackets and backticks begin markup, and # begins a code.
func mermaidText(s string) string {
	var b strings.Builder
	for _, r := range printable(s) {
		switch {
		case r > unicode.MaxASCII, unicode.IsLetter(r), unicode.IsDigit(r), strings.ContainsRune(" .,:-_", r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}

func (g *Graph) dot(out *bufio.Writer, e *Epic) {
	fmt.Fprintln(out, "digraph epic {\n  rankdir=LR;\n  compound=true;\n  node [shape=box];")
	critical := g.CriticalPath()
	slices.Sort(critical)
	node := func(indent string, i int) {
		style := ""
		if _, found := slices.BinarySearch(critical, i); found {
			style = ", penwidth=3"
		}
		fmt.Fprintf(out, "%s%s [label=%s%s];\n", indent, dotText(g.ID(i)), dotText(g.ID(i)+": "+e.Tasks[i].Title), style)
	}
	for i := range g.Len() {
		if g.group(i) < 0 {
			node("  ", i)
		}
	}
	for k := range g.groups {
		if len(g.groups[k].tasks) == 0 {
			continue
		}
		fmt.Fprintf(out, "  subgraph cluster_%d {\n    label=%s;\n", k, dotText(e.Groups[k].Name))
		for _, i := range g.groups[k].tasks {
			node("    ", i)
		}
		fmt.Fprintln(out, "  }")
	}
	for i := range g.Len() {
		for _, d := range g.deps.at(i) {
			fmt.Fprintf(out, "  %s -> %s;\n", dotText(g.ID(d)), dotText(g.ID(i)))
		}
	}
	for k := range g.groups {
		for _, b := range g.groups[k].after {
			if len(g.groups[k].tasks) == 0 {
				continue
			}
			from, to := g.groups[b].tasks[0], g.groups[k].tasks[0]
			fmt.Fprintf(out, "  %s -> %s [ltail=cluster_%d, lhead=cluster_%d, style=bold];\n", dotText(g.ID(from)), dotText(g.ID(to)), b, k)
		}
	}
	fmt.Fprintln(out, "}")
}

// dotText returns a quoted string of the dot language, in which only the quote, the backslash and what begins an entity
// mean something.
func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "&", "&amp;").Replace(printable(s)) + `"`
}
