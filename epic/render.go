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
		levels = max(levels, g.level[i]+1)
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
		members[g.level[i]] = append(members[g.level[i]], i)
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

// drawing writes the parts of a drawing in the language of a tool.
type drawing struct {
	node   func(indent string, i int)
	begin  func(k int) // a group
	end    string      // of a group
	edge   func(from, to int)
	groups func(from, to int)
}

// draw draws the tasks outside of groups, the groups, the dependencies that tasks name, and those of groups.
func (g *Graph) draw(out *bufio.Writer, d drawing) {
	grouped := map[int]bool{}
	for _, group := range g.groups {
		for _, i := range group.tasks {
			grouped[i] = true
		}
	}
	for i := range g.ids {
		if !grouped[i] {
			d.node("  ", i)
		}
	}
	for k, group := range g.groups {
		if len(group.tasks) == 0 {
			continue
		}
		d.begin(k)
		for _, i := range group.tasks {
			d.node("    ", i)
		}
		fmt.Fprintln(out, d.end)
	}
	for i, named := range g.named {
		for _, on := range named {
			d.edge(on, i)
		}
	}
	for k, group := range g.groups {
		for _, b := range group.after {
			if len(group.tasks) > 0 {
				d.groups(b, k)
			}
		}
	}
}

// mermaid numbers its nodes: an id such as "end" is a word of that language.
func (g *Graph) mermaid(out *bufio.Writer, e *Epic) {
	fmt.Fprintln(out, "flowchart TD")
	g.draw(out, drawing{
		node: func(indent string, i int) {
			fmt.Fprintf(out, "%st%d[\"%s\"]\n", indent, i, mermaidText(g.ID(i)+": "+e.Tasks[i].Title))
		},
		begin:  func(k int) { fmt.Fprintf(out, "  subgraph g%d[\"%s\"]\n", k, mermaidText(e.Groups[k].Name)) },
		end:    "  end",
		edge:   func(from, to int) { fmt.Fprintf(out, "  t%d --> t%d\n", from, to) },
		groups: func(from, to int) { fmt.Fprintf(out, "  g%d ==> g%d\n", from, to) },
	})
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
	g.draw(out, drawing{
		node: func(indent string, i int) {
			style := ""
			if slices.Contains(critical, i) {
				style = ", penwidth=3"
			}
			fmt.Fprintf(out, "%s%s [label=%s%s];\n", indent, dotText(g.ID(i)), dotText(g.ID(i)+": "+e.Tasks[i].Title), style)
		},
		begin: func(k int) {
			fmt.Fprintf(out, "  subgraph cluster_%d {\n    label=%s;\n", k, dotText(e.Groups[k].Name))
		},
		end:  "  }",
		edge: func(from, to int) { fmt.Fprintf(out, "  %s -> %s;\n", dotText(g.ID(from)), dotText(g.ID(to))) },
		groups: func(b, k int) {
			from, to := g.groups[b].tasks[0], g.groups[k].tasks[0]
			fmt.Fprintf(out, "  %s -> %s [ltail=cluster_%d, lhead=cluster_%d, style=bold];\n", dotText(g.ID(from)), dotText(g.ID(to)), b, k)
		},
	})
	fmt.Fprintln(out, "}")
}

// dotText returns a quoted string of the dot language, in which only the quote, the backslash and what begins an entity
// mean something.
func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "&", "&amp;").Replace(printable(s)) + `"`
}
