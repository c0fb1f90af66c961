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
		boxes[i] = box{n.Level, n.Deps}
		letters = max(letters, utf8.RuneCountInString(n.ID))
	}
	letters = min(letters, 14)
	width := 28 + letter*float64(letters)
	s := layOut(boxes, width)
	label := fmt.Sprintf("Task graph in %s.", plaintext.Count(g.Levels, "level"))
	var path []string
	critical := map[[2]int]bool{}
	for k, i := range g.Critical {
		path = append(path, g.Nodes[i].ID)
		if k > 0 {
			critical[[2]int{g.Critical[k-1], i}] = true
		}
	}
	if len(path) > 0 {
		label += " The critical path is " + plaintext.Listed(path) + "."
	}
	var c canvas
	s.edges(&c, boxHeight, critical)
	for i := range g.Nodes {
		n, x, y := &g.Nodes[i], s.points[i].x-width/2, s.y(i, boxHeight)
		class := classes[n.State.Group()] + " " + string(n.State)
		if n.Critical {
			class += " c"
		}
		end := o.node(&c, n.ID, class, n.ID+" "+n.Title+", "+string(n.State))
		c.draw(`<rect x="%v" y="%v" width="%v" height="%v" rx="%v"/>`, x, y, width, boxHeight, cmp.Or(radius[n.State], 4))
		c.draw(`<path class="s" transform="translate(%v %v)" d="%s"/>`, x+6, y+6, Symbol(n.State))
		c.draw(`<text x="%v" y="%v">%s</text>%s`, x+22, y+16, plaintext.ShortLine(n.ID, letters), raw(end))
	}
	return o.finish(&c, "g", label, phone, s.high(boxHeight))
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
	s := layOut(boxes, width)
	var c canvas
	label := fmt.Sprintf("%s in %s.", plaintext.Count(len(g.Nodes), "task"), plaintext.Count(len(list), "section"))
	s.edges(&c, sectionHeight, nil)
	for k := range list {
		x, y := s.points[k].x-width/2, s.y(k, sectionHeight)
		var words []string
		for _, g := range groups() {
			if n := list[k].Counts.Group(g); n > 0 {
				words = append(words, fmt.Sprintf("%d %s", n, g))
			}
		}
		end := o.node(&c, "", "section", list[k].Name+": "+strings.Join(words, ", "))
		c.draw(`<rect class="o" x="%v" y="%v" width="%v" height="%v" rx="4"/>`, x, y, width, sectionHeight)
		done := fmt.Sprintf("%d/%d", list[k].Counts.Group(view.IsDone), len(list[k].Tasks))
		c.draw(`<text x="%v" y="%v">%s</text>`, x+6, y+15, plaintext.ShortLine(list[k].Name, 23-len(done)))
		c.draw(`<text class="d" x="%v" y="%v" text-anchor="end">%s</text>`, x+width-6, y+15, done)
		bar(&c, list[k].Counts, x+6, y+22, width-12)
		c.draw("%s", raw(end))
	}
	return o.finish(&c, "g", label, phone, s.high(sectionHeight))
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

func (s *sheet) high(box float64) float64 {
	return float64(len(s.rows))*(box+rowGap) - rowGap + 4
}

func (s *sheet) y(i int, box float64) float64 { return 2 + float64(s.points[i].row)*(box+rowGap) }

// edges draws all edges, and over them the critical ones.
func (s *sheet) edges(c *canvas, box float64, critical map[[2]int]bool) {
	var plain, heavy strings.Builder
	heavyPart := map[[2]int]bool{}
	for edge := range critical {
		s.mark(edge[0], edge[1], heavyPart)
	}
	for i := range s.points {
		bottom := s.y(i, box)
		if s.points[i].width > 0 {
			bottom += box
		}
		for _, d := range s.points[i].down {
			a, b, top := s.points[i].x, s.points[d].x, s.y(d, box)
			to := &plain
			if heavyPart[[2]int{i, d}] {
				to = &heavy
			}
			middle := top - rowGap/2
			fmt.Fprintf(to, "M%.0f %.0f", a, bottom)
			if s.points[i].width == 0 {
				fmt.Fprintf(to, "V%.0f", bottom+box)
			}
			fmt.Fprintf(to, "C%.0f %.0f %.0f %.0f %.0f %.0f", a, middle, b, middle, b, top)
		}
	}
	c.draw(`<path class="e" d="%s"/>`, plain.String())
	c.draw(`<path class="e c" d="%s"/>`, heavy.String())
}

// mark finds the parts of an edge.
func (s *sheet) mark(from, to int, parts map[[2]int]bool) bool {
	for _, d := range s.points[from].down {
		if d == to || s.points[d].width == 0 && s.mark(d, to, parts) {
			parts[[2]int{from, d}] = true
			return true
		}
	}
	return false
}
