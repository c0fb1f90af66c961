package picture

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"relay/epic/plaintext"
	"relay/orchestrator/view"
)

// Sizes of the graph in pixels.
const (
	boxHeight     = 24.0
	sectionHeight = 40.0
	rowGap        = 26.0
	letter        = 6.7 // of a monospaced font of 11 pixels
	mostTasks     = 150 // more are drawn as their sections
)

// Graph draws a plan in levels from top to bottom, at most as wide as a phone. Of a large plan it draws the sections, each with a bar of
// its tasks; a plan without sections is cut by levels.
func Graph(g *view.Graph, o Options) string {
	if len(g.Nodes) > mostTasks {
		return sections(g, o)
	}
	boxes := make([]box, len(g.Nodes))
	letters := 3
	for i := range g.Nodes {
		n := &g.Nodes[i]
		boxes[i] = box{level: n.Level, deps: n.Deps}
		letters = max(letters, utf8.RuneCountInString(n.ID))
	}
	label := fmt.Sprintf("Task graph in %s.", plaintext.Count(g.Levels, "level"))
	var path []string
	for k, i := range g.Critical {
		if path = append(path, g.Nodes[i].ID); k > 0 {
			boxes[i].critical = []int{g.Critical[k-1]}
		}
	}
	if len(path) > 0 {
		label += " The critical path is " + plaintext.Listed(path) + "."
	}
	letters = min(letters, 14)
	width := 28 + letter*float64(letters)
	return drawing{o, boxes, width, boxHeight}.draw(label, func(c *canvas, i int, x, y float64) {
		n := &g.Nodes[i]
		class := classes[n.State.Group()] + " " + string(n.State)
		if n.Critical {
			class += " c"
		}
		end := o.node(c, n.ID, class, n.ID+" "+n.Title+", "+string(n.State))
		c.draw(`<rect x="%v" y="%v" width="%v" height="%v" rx="%v"/>`, x, y, width, boxHeight, cmp.Or(radius[n.State], 4))
		c.draw(`<path class="s" transform="translate(%v %v)" d="%s"/>`, x+6, y+6, Symbol(n.State))
		c.draw(`<text x="%v" y="%v">%s</text>%s`, x+22, y+16, plaintext.ShortLine(n.ID, letters), raw(end))
	})
}

// sections draws a box for each section.
func sections(g *view.Graph, o Options) string {
	list := g.Sections
	if len(list) == 0 {
		list = byLevel(g)
	}
	boxes := make([]box, len(list))
	for k := range list {
		for _, d := range list[k].Deps {
			if d < k { // sections may wait for each other: those later in the plan stand lower
				boxes[k].deps = append(boxes[k].deps, d)
				boxes[k].level = max(boxes[k].level, boxes[d].level+1)
			}
		}
	}
	const width = 164.0
	label := fmt.Sprintf("%s in %s.", plaintext.Count(len(g.Nodes), "task"), plaintext.Count(len(list), "section"))
	return drawing{o, boxes, width, sectionHeight}.draw(label, func(c *canvas, k int, x, y float64) {
		var words []string
		for _, g := range groups() {
			if n := list[k].Counts.Group(g); n > 0 {
				words = append(words, fmt.Sprintf("%d %s", n, g))
			}
		}
		end := o.node(c, "", "section", list[k].Name+": "+strings.Join(words, ", "))
		c.draw(`<rect class="o" x="%v" y="%v" width="%v" height="%v" rx="4"/>`, x, y, width, sectionHeight)
		done := fmt.Sprintf("%d/%d", list[k].Counts.Group(view.IsDone), len(list[k].Tasks))
		c.draw(`<text x="%v" y="%v">%s</text>`, x+6, y+15, plaintext.ShortLine(list[k].Name, 23-len(done)))
		c.draw(`<text class="d" x="%v" y="%v" text-anchor="end">%s</text>`, x+width-6, y+15, done)
		bar(c, list[k].Counts, x+6, y+22, width-12)
		c.draw("%s", raw(end))
	})
}

// byLevel makes a section of each level.
func byLevel(g *view.Graph) []view.Section {
	list := make([]view.Section, g.Levels)
	for i := range list {
		list[i] = view.Section{Name: fmt.Sprintf("level %d", i+1), Counts: view.Counts{}}
		if i > 0 {
			list[i].Deps = []int{i - 1}
		}
	}
	for i := range g.Nodes {
		of := &list[g.Nodes[i].Level]
		of.Tasks = append(of.Tasks, i)
		of.Counts[g.Nodes[i].State]++
	}
	return list
}

// groups are in the order of bars.
func groups() []view.Group {
	return []view.Group{view.IsDone, view.NeedsYou, view.Working, view.Waiting}
}

// bar draws tasks by group. None is narrower than 6 pixels.
func bar(c *canvas, counts view.Counts, x, y, width float64) {
	const least = 6.0
	shown := slices.DeleteFunc(groups(), func(g view.Group) bool { return counts.Group(g) == 0 })
	for _, g := range shown {
		w := least + (width-least*float64(len(shown)))*float64(counts.Group(g))/float64(counts.Total())
		c.draw(`<rect class="bar %s" x="%v" y="%v" width="%v" height="10" rx="2"/>`, classes[g], x+1, y, w-2)
		x += w
	}
}

// drawing is a graph of boxes of one size.
type drawing struct {
	o             Options
	boxes         []box
	width, height float64
}

// draw draws the edges, those of the critical path over the others, and each box by its place with its left upper corner.
func (d drawing) draw(label string, one func(c *canvas, i int, x, y float64)) string {
	s := layOut(d.boxes, d.width)
	y := func(row int) float64 { return 2 + float64(row)*(d.height+rowGap) }
	edges := map[bool]*strings.Builder{false: {}, true: {}}
	for i := range s.points {
		p := &s.points[i]
		for _, k := range p.down {
			to, top := edges[s.critical[[2]int{i, k}]], y(p.row+1)
			middle := top - rowGap/2
			if p.width > 0 {
				fmt.Fprintf(to, "M%.0f %.0f", p.x, y(p.row)+d.height)
			} else {
				fmt.Fprintf(to, "M%.0f %.0fV%.0f", p.x, y(p.row), y(p.row)+d.height)
			}
			fmt.Fprintf(to, "C%.0f %.0f %.0f %.0f %.0f %.0f", p.x, middle, s.points[k].x, middle, s.points[k].x, top)
		}
	}
	var c canvas
	c.draw(`<path class="e" d="%s"/>`, edges[false].String())
	c.draw(`<path class="e c" d="%s"/>`, edges[true].String())
	for i := range d.boxes {
		one(&c, i, s.points[i].x-d.width/2, y(s.points[i].row))
	}
	return d.o.finish(&c, "g", label, phone, y(len(s.rows))-rowGap+2)
}
