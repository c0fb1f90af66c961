package epic

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"relay/epic/each"
	"relay/epic/plaintext"
)

// Mark says how a task is, in one word, and the color of that, as in "#b4d3c0"; "": it has none.
type Mark struct{ State, Fill string }

// Formats are the names that Write accepts.
var Formats = []string{"text", "mermaid", "dot"}

// Write draws the graph of e as text for a terminal, or as source for Mermaid or Graphviz (dot). An edge leads from a
// task to one that waits for it. Titles are data: whatever they contain, they cannot leave their place. The marks of the tasks are drawn
// too; nil: there are none.
func (g *Graph) Write(w io.Writer, e *Epic, format string, marks []Mark) error {
	if marks == nil {
		marks = make([]Mark, g.Len())
	}
	d := drawing{g, e, marks, bufio.NewWriter(w)}
	switch format {
	case "text":
		d.text()
	case "mermaid":
		d.mermaid()
	case "dot":
		d.dot()
	default:
		return fmt.Errorf("graph format %s is not known: use %s", Quoted(format), strings.Join(Formats, ", "))
	}
	return d.out.Flush()
}

// drawing is a graph and its epic while they are drawn. A bufio.Writer keeps its first error for Flush.
type drawing struct {
	graph *Graph
	epic  *Epic
	marks []Mark
	out   *bufio.Writer
}

// text shows level by level what can run side by side.
func (d drawing) text() {
	g, out := d.graph, d.out
	critical := make([]bool, g.Len())
	path := g.CriticalPath()
	levels, width, wide := 0, 0, 0
	for i := range g.Len() {
		if n := len(d.marks[i].State); n > 0 {
			wide = max(wide, n+2)
		}
		levels = max(levels, g.level[i]+1)
		width = max(width, len(g.ID(i)))
	}
	heaviest := 0.0
	if len(path) > 0 {
		heaviest = g.Weight(path[0])
	}
	for _, i := range path {
		critical[i] = true
	}
	fmt.Fprintf(out, "%s  %s\n", printable(d.epic.ID), printable(d.epic.Title))
	fmt.Fprintf(out, "%s, %s, critical path %v %s: %s\n", plaintext.Count(g.Len(), "task"), plaintext.Count(levels, "level"), heaviest, pointWord(heaviest), d.names(path, " -> "))

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
			t := &d.epic.Tasks[i]
			fmt.Fprintf(out, "%c %-*s  p%d  %-*s%s", mark, width, printable(g.ID(i)), t.Priority, wide, d.marks[i].State, printable(t.Title))
			if deps := g.Deps(i); len(deps) > 0 {
				fmt.Fprintf(out, "  <- %s", d.names(deps, ", "))
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
func (d drawing) names(tasks []int, between string) string {
	names := each.Of(tasks[:min(len(tasks), mostNames)], func(i int) string { return printable(d.graph.ID(i)) })
	list := strings.Join(names, between)
	if more := len(tasks) - mostNames; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
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

// language writes the parts of a drawing as a tool reads them.
type language struct {
	node   func(indent string, i int)
	begin  func(k int) // a group
	end    string      // of a group
	edge   func(from, to int)
	groups func(from, to int)
}

// draw draws the tasks outside of groups, the groups, the dependencies that tasks name, and those of groups.
func (d drawing) draw(in language) {
	g := d.graph
	grouped := map[int]bool{}
	for _, group := range g.groups {
		for _, i := range group.tasks {
			grouped[i] = true
		}
	}
	for i := range g.ids {
		if !grouped[i] {
			in.node("  ", i)
		}
	}
	for k, group := range g.groups {
		if len(group.tasks) == 0 {
			continue
		}
		in.begin(k)
		for _, i := range group.tasks {
			in.node("    ", i)
		}
		fmt.Fprintln(d.out, in.end)
	}
	for i, named := range g.named {
		for _, on := range named {
			in.edge(on, i)
		}
	}
	for k, group := range g.groups {
		for _, b := range group.after {
			if len(group.tasks) > 0 {
				in.groups(b, k)
			}
		}
	}
}

// label returns the text of a node.
func (d drawing) label(i int) string {
	text := d.graph.ID(i) + ": " + d.epic.Tasks[i].Title
	if m := d.marks[i]; m.State != "" {
		text += " (" + m.State + ")"
	}
	return text
}

// mermaid numbers its nodes: an id such as "end" is a word of that language.
func (d drawing) mermaid() {
	fmt.Fprintln(d.out, "flowchart TD")
	d.draw(language{
		node: func(indent string, i int) {
			fmt.Fprintf(d.out, "%st%d[\"%s\"]\n", indent, i, mermaidText(d.label(i)))
		},
		begin:  func(k int) { fmt.Fprintf(d.out, "  subgraph g%d[\"%s\"]\n", k, mermaidText(d.epic.Groups[k].Name)) },
		end:    "  end",
		edge:   func(from, to int) { fmt.Fprintf(d.out, "  t%d --> t%d\n", from, to) },
		groups: func(from, to int) { fmt.Fprintf(d.out, "  g%d ==> g%d\n", from, to) },
	})
	for i, m := range d.marks {
		if m.Fill != "" {
			fmt.Fprintf(d.out, "  style t%d fill:%s,color:#000\n", i, m.Fill)
		}
	}
	if path := d.graph.CriticalPath(); len(path) > 0 {
		fmt.Fprintln(d.out, "  classDef critical stroke-width:3px")
		for _, i := range path {
			fmt.Fprintf(d.out, "  class t%d critical\n", i)
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

func (d drawing) dot() {
	g := d.graph
	fmt.Fprintln(d.out, "digraph epic {\n  rankdir=LR;\n  compound=true;\n  node [shape=box];")
	critical := g.CriticalPath()
	d.draw(language{
		node: func(indent string, i int) {
			style := ""
			if slices.Contains(critical, i) {
				style = ", penwidth=3"
			}
			if m := d.marks[i]; m.Fill != "" {
				style += `, style=filled, fillcolor="` + m.Fill + `"`
			}
			fmt.Fprintf(d.out, "%s%s [label=%s%s];\n", indent, dotText(g.ID(i)), dotText(d.label(i)), style)
		},
		begin: func(k int) {
			fmt.Fprintf(d.out, "  subgraph cluster_%d {\n    label=%s;\n", k, dotText(d.epic.Groups[k].Name))
		},
		end:  "  }",
		edge: func(from, to int) { fmt.Fprintf(d.out, "  %s -> %s;\n", dotText(g.ID(from)), dotText(g.ID(to))) },
		groups: func(b, k int) {
			from, to := g.groups[b].tasks[0], g.groups[k].tasks[0]
			fmt.Fprintf(d.out, "  %s -> %s [ltail=cluster_%d, lhead=cluster_%d, style=bold];\n", dotText(g.ID(from)), dotText(g.ID(to)), b, k)
		},
	})
	fmt.Fprintln(d.out, "}")
}

// dotText returns a quoted string of the dot language, in which only the quote, the backslash and what begins an entity
// mean something.
func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "&", "&amp;").Replace(printable(s)) + `"`
}
