package picture

import (
	"cmp"
	"slices"
)

// sheet is a graph in rows, from top to bottom. Edges go down; one over several rows passes a point on each row between.
type sheet struct {
	points []point // the first are the boxes
	rows   [][]int
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
	phone   = 388.0 // no graph is wider
	between = 8.0   // boxes
	passing = 5.0   // edges
)

// box is what is laid out: it stands below all the boxes it depends on.
type box struct {
	level int
	deps  []int
}

// layOut places boxes of one width in rows.
func layOut(boxes []box, width float64) *sheet {
	s := &sheet{points: make([]point, len(boxes))}
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
			s.lead(d, i)
		}
	}
	s.order()
	for i := range s.points {
		s.points[i].x = phone / 2
	}
	for pass := range 12 {
		s.place(pass%2 == 0)
	}
	return s
}

// lead makes an edge. Edges of one box share their points.
func (s *sheet) lead(from, to int) {
	for s.points[from].row+1 < s.points[to].row {
		next := slices.IndexFunc(s.points[from].down, func(i int) bool { return s.points[i].width == 0 })
		if next < 0 {
			row := s.points[from].row + 1
			s.points = append(s.points, point{row: row})
			s.rows[row] = append(s.rows[row], len(s.points)-1)
			s.join(from, len(s.points)-1)
			from = len(s.points) - 1
			continue
		}
		from = s.points[from].down[next]
	}
	s.join(from, to)
}

func (s *sheet) join(from, to int) {
	s.points[from].down = append(s.points[from].down, to)
	s.points[to].up = append(s.points[to].up, from)
}

// order sorts each row by the barycentre of the row before, down and up in turn, and keeps the order with the fewest crossings.
func (s *sheet) order() {
	best, fewest := s.copyRows(), s.crossings()
	for pass := range 16 {
		down := pass%2 == 0
		rows := slices.Clone(s.rows)
		if !down {
			slices.Reverse(rows)
		}
		for _, row := range rows {
			place := s.places()
			slices.SortStableFunc(row, func(a, b int) int {
				return cmp.Compare(mean(s.neighbours(a, down), place, place[a]), mean(s.neighbours(b, down), place, place[b]))
			})
		}
		if n := s.crossings(); n < fewest {
			best, fewest = s.copyRows(), n
		}
	}
	s.rows = best
}

func (s *sheet) copyRows() [][]int {
	rows := make([][]int, len(s.rows))
	for i, row := range s.rows {
		rows[i] = slices.Clone(row)
	}
	return rows
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

func (s *sheet) neighbours(i int, above bool) []int {
	if above {
		return s.points[i].up
	}
	return s.points[i].down
}

func mean(of []int, value []float64, otherwise float64) float64 {
	if len(of) == 0 {
		return otherwise
	}
	sum := 0.0
	for _, i := range of {
		sum += value[i]
	}
	return sum / float64(len(of))
}

func (s *sheet) crossings() (n int) {
	place := s.places()
	for _, row := range s.rows {
		var ends []float64 // of the edges so far
		for _, i := range row {
			own := []float64{}
			for _, d := range s.points[i].down {
				own = append(own, place[d])
				after, _ := slices.BinarySearch(ends, place[d]+1e-9)
				n += len(ends) - after
			}
			ends = append(ends, own...)
			slices.Sort(ends)
		}
	}
	return n
}

// place moves the points of each row towards those before it, as far as their order and the width allow.
func (s *sheet) place(down bool) {
	value := make([]float64, len(s.points))
	for i := range s.points {
		value[i] = s.points[i].x
	}
	rows := slices.Clone(s.rows)
	if !down {
		slices.Reverse(rows)
	}
	for _, row := range rows {
		offset := s.offsets(row) // from the first to each
		room := phone - 2 - s.points[row[0]].width/2 - s.points[row[len(row)-1]].width/2 - offset[len(row)-1]
		left, right := make([]float64, len(row)), make([]float64, len(row))
		for k, i := range row { // slack from the left edge, which may not shrink from point to point
			wish := mean(s.neighbours(i, down), value, value[i]) - offset[k] - 1 - s.points[row[0]].width/2
			left[k] = min(max(wish, 0), room)
			right[k] = left[k]
			if k > 0 {
				left[k] = max(left[k], left[k-1])
			}
		}
		for k := len(row) - 2; k >= 0; k-- {
			right[k] = min(right[k], right[k+1])
		}
		for k, i := range row {
			s.points[i].x = (left[k]+right[k])/2 + offset[k] + 1 + s.points[row[0]].width/2
			value[i] = s.points[i].x
		}
	}
}

// offsets returns the least distance of the middle of each point of a row from that of the first.
func (s *sheet) offsets(row []int) []float64 {
	boxes, gaps := 0.0, 0.0
	gap := func(k int) float64 {
		if s.points[row[k]].width == 0 || s.points[row[k-1]].width == 0 {
			return passing
		}
		return between
	}
	for k, i := range row {
		boxes += s.points[i].width
		if k > 0 {
			gaps += gap(k)
		}
	}
	shrink := min(1, (phone-2-boxes)/max(gaps, 1))
	offset := make([]float64, len(row))
	for k := 1; k < len(row); k++ {
		offset[k] = offset[k-1] + s.points[row[k-1]].width/2 + gap(k)*shrink + s.points[row[k]].width/2
	}
	return offset
}
