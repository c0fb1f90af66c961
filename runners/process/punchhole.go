package process

import "os"

const (
	block    = 4096    // holes begin and end at blocks of the file system
	holeStep = 1 << 20 // bytes worth a system call
)

// punchHole gives the middle of a file back to the disk while the file grows.
type punchHole struct {
	keep int64 // bytes of the head, and of what was read last; 0: everything
	end  int64 // punched up to here
}

func newPunchHole(limit int64) punchHole {
	if limit <= 0 {
		return punchHole{}
	}
	keep := (limit/2 + block - 1) / block * block
	return punchHole{keep: keep, end: keep}
}

// freeBefore frees the file's blocks between its head and the last bytes before off.
func (h *punchHole) freeBefore(f *os.File, off int64) {
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
