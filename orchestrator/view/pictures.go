package view

import (
	"slices"

	"relay/epic"
)

// graphOf lays the plan out in levels, without states.
func graphOf(e *epic.Epic, of *epic.Graph, sections []string) *Graph {
	g := &Graph{Nodes: make([]Node, of.Len()), Critical: of.CriticalPath()}
	deps := direct(of)
	for _, i := range of.Order() {
		n := &g.Nodes[i]
		*n = Node{ID: of.ID(i), Title: e.Tasks[i].Title, Section: sections[i], Deps: deps[i]}
		for _, d := range n.Deps {
			n.Level = max(n.Level, g.Nodes[d].Level+1)
		}
		g.Levels = max(g.Levels, n.Level+1)
	}
	for _, i := range g.Critical {
		g.Nodes[i].Critical = true
	}
	place := map[string]int{}
	for i := range g.Nodes {
		name := g.Nodes[i].Section
		if name == "" {
			continue
		}
		at, known := place[name]
		if !known {
			at = len(g.Sections)
			place[name] = at
			g.Sections = append(g.Sections, Section{Name: name, Deps: []int{}})
		}
		g.Sections[at].Tasks = append(g.Sections[at].Tasks, i)
	}
	g.connect(place)
	return g
}

// connect finds which sections, whose places are given, wait for which, without what others of them wait for anyway.
func (g *Graph) connect(place map[string]int) {
	for k := range g.Sections {
		s := &g.Sections[k]
		for _, i := range s.Tasks {
			for _, d := range g.Nodes[i].Deps {
				if at, ok := place[g.Nodes[d].Section]; ok && at != k && !slices.Contains(s.Deps, at) {
					s.Deps = append(s.Deps, at)
				}
			}
		}
		slices.Sort(s.Deps)
	}
	for k := range g.Sections {
		s := &g.Sections[k]
		for _, d := range slices.Clone(s.Deps) {
			if others := slices.DeleteFunc(slices.Clone(s.Deps), func(o int) bool { return o == d }); g.reaches(others, d, map[int]bool{k: true}) {
				s.Deps = others
			}
		}
	}
}

// reaches reports whether some sections depend on another one at any distance, without those that were seen. Sections may depend on each
// other in a circle.
func (g *Graph) reaches(from []int, to int, seen map[int]bool) bool {
	for _, k := range from {
		if k == to {
			return true
		}
		if !seen[k] {
			seen[k] = true
			if g.reaches(g.Sections[k].Deps, to, seen) {
				return true
			}
		}
	}
	return false
}

// direct returns the dependencies of each task without those that another of its dependencies needs anyway. A set of bits holds what each
// task needs at any distance.
func direct(g *epic.Graph) [][]int {
	words := (g.Len() + 63) / 64
	all, kept := make([]uint64, words*g.Len()), make([][]int, g.Len())
	needs := func(i int) []uint64 { return all[i*words : (i+1)*words] }
	for _, i := range g.Order() {
		mine, deps := needs(i), g.Deps(i)
		for _, d := range deps {
			for w, bits := range needs(d) {
				mine[w] |= bits
			}
		}
		kept[i] = []int{}
		for _, d := range deps {
			if mine[d/64]&(1<<(d%64)) == 0 {
				kept[i] = append(kept[i], d)
			}
		}
		for _, d := range deps {
			mine[d/64] |= 1 << (d % 64)
		}
		slices.Sort(kept[i])
	}
	return kept
}
