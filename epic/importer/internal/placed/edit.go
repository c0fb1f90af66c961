package placed

import (
	"bytes"
	"slices"
)

// Edit replaces a part of a file.
type Edit struct {
	From, To int // offsets in bytes
	Text     string
}

// LineStarts returns the offset of each line.
func LineStarts(data []byte) []int {
	starts := []int{0}
	for i, c := range data {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// Apply makes changes, which do not overlap.
func Apply(data []byte, edits []Edit) []byte {
	slices.SortFunc(edits, func(a, b Edit) int { return a.From - b.From })
	var out bytes.Buffer
	at := 0
	for _, e := range edits {
		if e.From < at {
			continue // of an item that is there twice
		}
		out.Write(data[at:e.From])
		out.WriteString(e.Text)
		at = e.To
	}
	out.Write(data[at:])
	return out.Bytes()
}
