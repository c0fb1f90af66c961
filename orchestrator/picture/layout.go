package picture

import (
	"cmp"
	"slices"
)

// sheet is a graph in rows, from top to bottom. Edges go down; one over several rows passes a point on each row between.
type sheet struct {
	points   []point // the first are the boxes
	rows     [][]int
	critical map[[2]int]bool // edges, and parts of them
}

// point is a box, or where an edge passes a row.
type point struct {
	row      int
	width    float64 // 0: an edge passes
	x        float64 // of its middle
	up, down []int
}

// Distances in pixels.
const (
	phone   = 374.0 // no graph is wider, and a file has a margin
	between = 8.0   // boxes
	passing = 5.0   // edges
)

// box is what is laid out: it stands below all the boxes it depends on.
type box struct {
	level    int
	deps     []int
	critical []int // those whose edges are critical
}

// layOut places boxes of one width in rows.
func layOut(boxes []box, width float64) *sheet {
	s := &sheet{points: make([]point, len(boxes)), critical: map[[2]int]bool{}}
	most := max(1, int((phone-30)/(width+between))) // boxes in a row: some room is for edges
	var levels [][]int
	for i, b := range boxes {
		for len(levels) <= b.level {
			levels = append(levels, nil)
		}
		levels[b.level] = append(levels[b.level], i)
	}
	for _, level := range levels {
		rows := (len(level) + most - 1) / most
		for at, i := range level {
			s.points[i] = point{row: len(s.rows) + at*rows/len(level), width: width}
		}
		s.rows = append(s.rows, make([][]int, rows)...)
	}
	for i := range boxes {
		s.rows[s.points[i].row] = append(s.rows[s.points[i].row], i)
	}
	for i, b := range boxes {
		for _, d := range b.deps {
			s.lead(d, i, slices.Contains(b.critical, d))
		}
	}
	s.order()
	s.place()
	return s
}

// lead makes an edge. Edges of one box share their points.
func (s *sheet) lead(from, to int, critical bool) {
	for from != to {
		row, next := s.points[from].row+1, to
		if row < s.points[to].row {
			at := slices.IndexFunc(s.points[from].down, func(i int) bool { return s.points[i].width == 0 })
			if at >= 0 {
				next = s.points[from].down[at]
			} else {
				next = len(s.points)
				s.points = append(s.points, point{row: row})
				s.rows[row] = append(s.rows[row], next)
			}
		}
		if !slices.Contains(s.points[from].down, next) {
			s.points[from].down = append(s.points[from].down, next)
			s.points[next].up = append(s.points[next].up, from)
		}
		if critical {
			s.critical[[2]int{from, next}] = true
		}
		from = next
	}
}

// order sorts each row by the barycentre of the row before, down and up in turn, and keeps the order with the fewest crossings.
func (s *sheet) order() {
	best, fewest := s.places(), s.crossings()
	for pass := range 16 {
		for _, row := range s.sweep(pass) {
			place := s.places()
			slices.SortStableFunc(row, func(a, b int) int { return cmp.Compare(s.wish(a, pass, place), s.wish(b, pass, place)) })
		}
		if n := s.crossings(); n < fewest {
			best, fewest = s.places(), n
		}
	}
	for _, row := range s.rows {
		slices.SortFunc(row, func(a, b int) int { return cmp.Compare(best[a], best[b]) })
	}
}

// sweep returns the rows from the top, or in every other pass from the bottom.
func (s *sheet) sweep(pass int) [][]int {
	rows := slices.Clone(s.rows)
	if pass%2 == 1 {
		slices.Reverse(rows)
	}
	return rows
}

// wish returns the mean of a value over the points that a point is joined to in the row before.
func (s *sheet) wish(i, pass int, value []float64) float64 {
	before := [][]int{s.points[i].up, s.points[i].down}[pass%2]
	sum := 0.0
	for _, k := range before {
		sum += value[k] / float64(len(before))
	}
	if len(before) == 0 {
		return value[i]
	}
	return sum
}

// places returns where each point stands in its row, from 0 to 1.
func (s *sheet) places() []float64 {
	place := make([]float64, len(s.points))
	for _, row := range s.rows {
		for at, i := range row {
			place[i] = (float64(at) + 0.5) / float64(len(row))
		}
	}
	return place
}

func (s *sheet) crossings() (n int) {
	place := s.places()
	for _, row := range s.rows {
		var ends []float64 // of the edges so far
		for _, i := range row {
			own := len(ends)
			for _, d := range s.points[i].down {
				after, _ := slices.BinarySearch(ends[:own], place[d]+1e-9)
				n += own - after
				ends = append(ends, place[d])
			}
			slices.Sort(ends)
		}
	}
	return n
}

// place moves the points of each row towards those before it, as far as their order and the width allow.
func (s *sheet) place() {
	x := make([]float64, len(s.points))
	for i := range x {
		x[i] = phone / 2
	}
	for pass := range 12 {
		for _, row := range s.sweep(pass) {
			offset, room := s.offsets(row)
			left, right := make([]float64, len(row)), make([]float64, len(row))
			for k, i := range row { // shifts, which may not shrink from point to point
				right[k] = min(max(s.wish(i, pass, x)-offset[k], 0), room)
				left[k] = max(right[k], left[max(k-1, 0)])
			}
			for k := len(row) - 1; k >= 0; k-- {
				right[k] = min(right[k], right[min(k+1, len(row)-1)])
				x[row[k]] = offset[k] + (left[k]+right[k])/2
			}
		}
	}
	for i := range x {
		s.points[i].x = x[i]
	}
}

// offsets returns the least x of each point of a row, and how far all of them can move.
func (s *sheet) offsets(row []int) (offset []float64, room float64) {
	gaps := make([]float64, len(row)) // before each
	boxes, sum := 2.0, 0.0
	for k, i := range row {
		boxes += s.points[i].width
		switch {
		case k == 0:
		case s.points[i].width == 0 || s.points[row[k-1]].width == 0:
			gaps[k] = passing
		default:
			gaps[k] = between
		}
		sum += gaps[k]
	}
	shrink, end := min(1, (phone-boxes)/max(sum, 1)), 1.0
	for k, i := range row {
		end += gaps[k]*shrink + s.points[i].width
		offset = append(offset, end-s.points[i].width/2)
	}
	return offset, max(phone-1-end, 0)
}
