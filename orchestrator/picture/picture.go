// Package picture draws the two pictures of a night as SVG: the graph of its tasks and its timeline. Their colours are classes, which
// [Style] gives to a page; a picture that is a file of its own has its style in it.
//
// It is pure: the model in, bytes out. It escapes every text.
package picture

import (
	"fmt"
	"html"
	"strings"
	"time"
	"unicode/utf8"

	"relay/epic"
	"relay/epic/plaintext"
	"relay/orchestrator/view"
)

// Options say for what a picture is drawn.
type Options struct {
	File bool                     // a file of its own: with its style, and without links unless Link names them
	Link func(task string) string // where a task leads to; nil: its anchor in the page
	Zone *time.Location           // of times; nil: UTC
}

// canvas is a picture while it is drawn.
type canvas struct{ strings.Builder }

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

// node begins a task or a section at a place: it is a link if it leads anywhere.
func (o *Options) node(c *canvas, task, class, title string) (end string) {
	link := ""
	switch {
	case o.Link != nil:
		link = o.Link(task)
	case !o.File:
		link = "#" + task
	}
	if link == "" || task == "" {
		c.draw(`<g class="n %s"><title>%s</title>`, class, title)
		return "</g>"
	}
	c.draw(`<a href="%s" class="n %s"><title>%s</title>`, link, class, title)
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

const waits = "M3 2.5A4.6 4.6 0 0 1 5 1.5M7.5 1.7A4.6 4.6 0 0 1 10 3.7M10.6 6A4.6 4.6 0 0 1 9.6 8.8M7.5 10.3A4.6 4.6 0 0 1 4.8 10.4M2.4 8.8A4.6 4.6 0 0 1 1.4 6"

// groups are the classes of the groups of states, in the order of bars.
var groups = []struct {
	group view.Group
	class string
}{{view.IsDone, "done"}, {view.NeedsYou, "needs"}, {view.Working, "working"}, {view.Waiting, "waiting"}}

func classOf(s view.State) string {
	for _, g := range groups {
		if g.group == s.Group() {
			return g.class
		}
	}
	return ""
}

// Mark returns the mark of a state for the text forms of a graph.
func Mark(s view.State) epic.Mark {
	fill := map[string]string{"done": "#b4d3c0", "needs": "#e9b595", "working": "#a9c8ea"}[classOf(s)]
	return epic.Mark{State: string(s), Fill: fill}
}

// fit cuts a text to so many characters.
func fit(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:max(most-1, 0)]) + "…"
}

// palette are the colours by their names in a page: light and dark.
var palette = [][3]string{
	{"bg", "#fcfcfa", "#14171a"},
	{"ink", "#1a1d21", "#e6e8ea"},
	{"dim", "#565d66", "#a2a9b1"},
	{"line", "#dcdedf", "#333a41"},
	{"edge", "#8d949b", "#68727b"},
	{"needs", "#a3390c", "#f5a077"},
	{"work", "#1a5aa8", "#8dbcf5"},
	{"done", "#2c6a47", "#86c9a2"},
	{"needs-f", "#e9b595", "#74391c"},
	{"work-f", "#a9c8ea", "#27486e"},
	{"done-f", "#b4d3c0", "#27503a"},
}

const rules = `svg.relay text{font:11px ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;fill:{ink}}
svg.relay .d{fill:{dim}}
.relay .e{fill:none;stroke:{edge};stroke-width:.8}
.relay .e.c{stroke:{ink};stroke-width:1.8}
.relay .done>rect,.relay .bar,.relay .w{fill:{done-f}}
.relay .needs>rect,.relay .bar.needs{fill:{needs-f}}
.relay .working>rect,.relay .bar.working{fill:{work-f}}
.relay .waiting>rect,.relay .bar.waiting{fill:{bg};stroke:{dim};stroke-dasharray:3 2}
.relay .look>rect{fill:{done-f};stroke:{needs};stroke-width:2}
.relay .o{fill:{bg};stroke:{edge}}
.relay .c>rect{stroke:{ink};stroke-width:1.6}
.relay .s{fill:none;stroke:{ink};stroke-width:1.8;stroke-linecap:round;stroke-linejoin:round}
.relay .running .s{fill:{ink}}
.relay a.n:focus-visible{outline:0}
.relay a.n:focus-visible>rect{stroke:{work};stroke-width:3}
.relay .k,.relay .l{fill:{done};opacity:.75}
.relay .v{fill:{done};opacity:.45}
.relay .k.needs,.relay .v.needs{fill:{needs}}
.relay .w{stroke:{bg}}
.relay .w.needs{fill:{needs-f}}
.relay .w.working{fill:{work-f}}
.relay .h{stroke:{dim};stroke-width:1.6;opacity:.6}
.relay .hatch{fill:url(#hatch)}
.relay .bg{fill:{bg}}
.relay .grid{stroke:{line}}
.relay .x{stroke:{needs};stroke-width:2;stroke-linecap:round}
`

const narrow = "@media(max-width:520px){.relay .sm{display:none}}\n"

// Style returns the rules of both pictures for a page that has the colours as --ink, --bg and so on.
func Style() string {
	return coloured(func(colour [3]string) string { return "var(--" + colour[0] + ")" }) + narrow
}

func coloured(value func(colour [3]string) string) string {
	var pairs []string
	for _, colour := range palette {
		pairs = append(pairs, "{"+colour[0]+"}", value(colour))
	}
	return strings.NewReplacer(pairs...).Replace(rules)
}

// finish returns a picture around what is drawn.
func (o *Options) finish(c *canvas, kind, label string, width, height float64) string {
	var all canvas
	switch {
	case o.File:
		all.draw(`<svg xmlns="http://www.w3.org/2000/svg" class="relay" width="%v" height="%v" role="group" aria-label="%s">`, width+16, height+16, label)
		light := coloured(func(colour [3]string) string { return colour[1] })
		dark := coloured(func(colour [3]string) string { return colour[2] })
		all.WriteString("<style>\n" + light + "@media(prefers-color-scheme:dark){\n" + dark + "}\n</style>\n")
		all.draw(`<title>%s</title><rect class="bg" width="100%%" height="100%%"/>`, label)
		all.draw(`<svg x="8" y="8" width="%v" height="%v" overflow="visible">`+"\n%s</svg></svg>", width, height, raw(c.String()))
	case kind == "t":
		all.draw(`<svg class="relay t" width="100%%" height="%v" role="img" aria-label="%s">`+"\n%s</svg>", height, label, raw(c.String()))
	default:
		all.draw(`<svg class="relay g" viewBox="0 0 %v %v" role="group" aria-label="%s">`+"\n%s</svg>", width, height, label, raw(c.String()))
	}
	return all.String()
}
