// Package punchhole gives the middle of a file back to the disk while the file grows.
package punchhole

import "os"

const (
	block    = 4096    // holes begin and end at blocks of the file system
	holeStep = 1 << 20 // bytes worth a system call
)

// Hole is the hole of one file.
type Hole struct {
	keep int64 // bytes of the head, and of what was read last; 0: everything
	end  int64 // punched up to here
}

// New returns the hole of a file that may take so many bytes of the disk; 0: as many as it likes.
func New(limit int64) Hole {
	if limit <= 0 {
		return Hole{}
	}
	keep := (limit/2 + block - 1) / block * block
	return Hole{keep: keep, end: keep}
}

// FreeBefore frees the file's blocks between its head and the last bytes before off.
func (h *Hole) FreeBefore(f *os.File, off int64) {
	end := (off - h.keep) / block * block
	if h.keep == 0 || end < h.end+holeStep {
		return
	}
	if err := punch(f, h.end, end-h.end); err != nil {
		h.keep = 0 // the file system cannot: the file is cut at the end only
		return
	}
	h.end = end
}
