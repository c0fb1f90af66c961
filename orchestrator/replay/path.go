package replay

import "slices"

// path is how long each task takes, to find those that depend on each other and take longest.
type path struct {
	night *Night
	takes map[string]float64
}

func newPath(n *Night) *path { return &path{n, map[string]float64{}} }

func (p *path) add(id string, minutes float64) { p.takes[id] += minutes }

// longest returns the tasks of the longest path, the first of them first, and how long that is.
func (p *path) longest() (ids []string, minutes float64) {
	g := p.night.graph
	length, from := make([]float64, g.Len()), make([]int, g.Len())
	last := -1
	for _, i := range g.Order() {
		from[i] = -1
		for _, d := range g.Deps(i) {
			if length[d] > 0 && (from[i] < 0 || length[d] > length[from[i]]) {
				from[i] = d
			}
		}
		if length[i] = p.takes[g.ID(i)]; length[i] > 0 && from[i] >= 0 {
			length[i] += length[from[i]]
		}
		if length[i] > 0 && (last < 0 || length[i] > length[last]) {
			last = i
		}
	}
	ids = []string{}
	for i := last; i >= 0; i = from[i] {
		ids = append(ids, g.ID(i))
	}
	slices.Reverse(ids)
	if last >= 0 {
		minutes = length[last]
	}
	return ids, minutes
}
