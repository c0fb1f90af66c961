package secrets

import (
	"bytes"
	"io"
)

// piece is how much of a stream is looked at together, in bytes. A secret that lies across the end of one is found all
// the same when it holds no white space and no quotation mark.
const piece = 64 << 10

// Stream blanks secrets on the way to w. Flush writes the part that Write holds back.
type Stream struct {
	w    io.Writer
	r    *Redactor
	held []byte
	err  error
}

// Stream returns a writer that blanks secrets on the way to w.
func (r *Redactor) Stream(w io.Writer) *Stream { return &Stream{w: w, r: r} }

// Write takes what it is given; after the first failed write to w it returns that error.
func (s *Stream) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0 && s.err == nil; {
		n := min(len(rest), piece-len(s.held))
		s.held = append(s.held, rest[:n]...)
		rest = rest[n:]
		if len(s.held) == piece {
			s.pass(border(s.held))
		}
	}
	return len(p), s.err
}

// Flush writes the rest.
func (s *Stream) Flush() error {
	s.pass(len(s.held))
	return s.err
}

func (s *Stream) pass(n int) {
	if n > 0 && s.err == nil {
		_, s.err = io.WriteString(s.w, s.r.Text(string(s.held[:n])))
	}
	s.held = append(s.held[:0], s.held[n:]...)
}

// border returns where a piece is best cut: behind its last line, else between words, else at its end.
func border(p []byte) int {
	if i := bytes.LastIndexByte(p, '\n'); i > piece/2 {
		return i + 1
	}
	if i := bytes.LastIndexAny(p, " \t\"'"); i > piece/2 {
		return i + 1
	}
	return len(p)
}
