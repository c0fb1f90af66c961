// Package picture draws the two pictures of a night as SVG: the graph of its tasks and its timeline. Their colours are classes, which
// [Style] gives to a page; a picture that is a file of its own has its style in it.
//
// It is pure: the model in, bytes out. It escapes every text.
package picture

import (
	"cmp"
	_ "embed"
	"fmt"
	"html"
	"slices"
	"strings"
	"time"

	"relay/epic"
	"relay/epic/plaintext"
	"relay/orchestrator/view"
)

// Options say for what a picture is drawn.
type Options struct {
	File bool                     // a file of its own: with its style, and without links to the tasks in the page
	Zone *time.Location           // of times; nil: UTC
	Link func(task string) string // address of a task; nil: its id in the page
}

// canvas is a picture while it is drawn.
type canvas struct{ strings.Builder }

// raw is markup among values.
type raw string

// draw writes markup. Every text among the values is escaped.
func (c *canvas) draw(format string, values ...any) {
	for i, v := range values {
		switch v := v.(type) {
		case string:
			values[i] = html.EscapeString(plaintext.Line(v)) // control characters are no XML
		case float64:
			values[i] = strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.1f", v), "0"), ".")
		}
	}
	fmt.Fprintf(c, format+"\n", values...)
}

// node begins a task or a section, and returns its end. In a page a task is a link to its id.
func (o *Options) node(c *canvas, task, class, title string) (end string) {
	if task == "" || o.File {
		c.draw(`<g class="n %s"><title>%s</title>`, class, title)
		return "</g>"
	}
	to := "#" + task
	if o.Link != nil {
		to = o.Link(task)
	}
	c.draw(`<a href="%s" class="n %s"><title>%s</title>`, to, class, title)
	return "</a>"
}

// symbols are drawn in 12 by 12 pixels. A state without its own waits.
var symbols = map[view.State]string{
	view.Done:    "M2 6.5 5 9.5 10.5 3",
	view.Look:    "M1 6C3 2.3 9 2.3 11 6 9 9.7 3 9.7 1 6ZM6 5v2M5 6h2",
	view.Gated:   "M3.8 1h4.4L11 3.8v4.4L8.2 11H3.8L1 8.2V3.8ZM3.8 6h4.4",
	view.Held:    "M3.8 1h4.4L11 3.8v4.4L8.2 11H3.8L1 8.2V3.8ZM3.8 6h4.4",
	view.Asks:    "M3.3 4C3.3 .5 8.9 .8 8.7 3.8 8.5 5.7 6 5.6 6 7.6M6 10.6v.1",
	view.Running: "M3 1.8 10 6 3 10.2Z",
}

// Symbol returns the path of a state's symbol, in 12 by 12 pixels.
func Symbol(s view.State) string { return cmp.Or(symbols[s], waits) }

// radius rounds the corners of boxes, where they are not as others.
var radius = map[view.State]float64{view.Gated: 0.1, view.Held: 0.1, view.Asks: boxHeight / 2}

const waits = "M3 2.5A4.6 4.6 0 0 1 5 1.5M7.5 1.7A4.6 4.6 0 0 1 10 3.7M10.6 6A4.6 4.6 0 0 1 9.6 8.8M7.5 10.3A4.6 4.6 0 0 1 4.8 10.4M2.4 8.8A4.6 4.6 0 0 1 1.4 6"

// classes are those of the groups of states.
var classes = map[view.Group]string{view.IsDone: "done", view.NeedsYou: "needs", view.Working: "working", view.Waiting: "waiting"}

// Mark returns the mark of a state for the text forms of a graph.
func Mark(s view.State) epic.Mark {
	fill := map[string]string{"done": "#b4d3c0", "needs": "#e9b595", "working": "#a9c8ea"}[classes[s.Group()]]
	return epic.Mark{State: string(s), Fill: fill}
}

// palette has each color by its name in a page, light and dark.
const palette = "bg #fcfcfa #14171a ink #1a1d21 #e6e8ea dim #565d66 #a2a9b1 line #dcdedf #333a41 edge #8d949b #68727b " +
	"needs #a3390c #f5a077 work #1a5aa8 #8dbcf5 done #2c6a47 #86c9a2 needs-f #e9b595 #74391c work-f #a9c8ea #27486e done-f #b4d3c0 #27503a"

// Style has the rules of both pictures for a page that has the colors as --ink, --bg and so on.
//
//go:embed style.css
var Style string

// colored returns the rules with the light colors, or with the dark ones.
func colored(dark int) string {
	var pairs []string
	for color := range slices.Chunk(strings.Fields(palette), 3) {
		pairs = append(pairs, "var(--"+color[0]+")", color[1+dark])
	}
	return strings.NewReplacer(pairs...).Replace(Style)
}

// finish returns a picture around what is drawn.
func (o *Options) finish(c *canvas, kind, label string, width, height float64) string {
	var all canvas
	switch {
	case o.File:
		all.draw(`<svg xmlns="http://www.w3.org/2000/svg" class="relay" width="%v" height="%v" role="group" aria-label="%s">`, width+16, height+16, label)
		all.WriteString("<style>\n" + colored(0) + "@media(prefers-color-scheme:dark){\n" + colored(1) + "}\n</style>\n")
		all.draw(`<title>%s</title><rect class="bg" width="100%%" height="100%%"/>`, label)
		all.draw(`<svg x="8" y="8" width="%v" height="%v" overflow="visible">`+"\n%s</svg></svg>", width, height, raw(c.String()))
	case kind == "t":
		all.draw(`<svg class="relay t" width="100%%" height="%v" role="img" aria-label="%s">`+"\n%s</svg>", height, label, raw(c.String()))
	default:
		all.draw(`<svg class="relay g" viewBox="0 0 %v %v" role="group" aria-label="%s">`+"\n%s</svg>", width, height, label, raw(c.String()))
	}
	return all.String()
}
