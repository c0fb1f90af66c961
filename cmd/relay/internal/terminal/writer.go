// Package terminal is how relay speaks to a person: text, colours and the width of screens, and what an error means, with its hint and
// exit code.
//
// writer.go writes text to people: harmless for a terminal, free of secrets, broken to the width of the screen.
//
// exit.go maps errors to an exit code, messages and a hint.
package terminal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"unicode/utf8"

	"golang.org/x/term"

	"relay/epic/plaintext"
)

// Writer writes text with every character that could drive a terminal turned into a visible escape. The escapes are
// those of JSON, so that a JSON document keeps its meaning. After a failed write it swallows everything: whoever must
// know asks failure.
type Writer struct {
	Dest     io.Writer
	Redact   func(string) string // takes secrets out; nil: nothing is taken out
	Palette  Palette             // marks what is to be coloured; the zero Palette: nothing is
	tail     []byte              // begin of a character or mark whose end has not been written yet
	Err      error
	Optional bool // lost output is not an error
}

// NewWriter returns a Writer that writes to w and removes no secrets.
func NewWriter(w io.Writer) *Writer { return &Writer{Dest: w} }

// Write never fails: a reader that is gone does not end a run.
func (s *Writer) Write(p []byte) (int, error) {
	n := len(p)
	if s.Err != nil {
		return n, nil //nolint:nilerr // kept, and told by Failure
	}
	if len(s.tail) > 0 {
		p = append(s.tail, p...)
		s.tail = nil
	}
	if whole := completeRunes(p); whole < len(p) {
		s.tail = append([]byte(nil), p[whole:]...)
		p = p[:whole]
	}
	out := string(p)
	if s.Redact != nil {
		out = s.Redact(out)
	}
	_, s.Err = io.WriteString(s.Dest, s.Palette.Render(plaintext.Escape(out)))
	return n, nil
}

// Failure is the first error of writing, unless it only says that the reader is gone.
func (s *Writer) Failure() error {
	if s.Err == nil || s.Optional || errors.Is(s.Err, syscall.EPIPE) || errors.Is(s.Err, syscall.EIO) {
		return nil
	}
	return fmt.Errorf("write the output: %w", s.Err)
}

// completeRunes returns the length of p without a character that is cut off at its end.
func completeRunes(p []byte) int {
	for back := 1; back < utf8.UTFMax && back <= len(p); back++ {
		if b := p[len(p)-back]; utf8.RuneStart(b) {
			if !utf8.FullRune(p[len(p)-back:]) {
				return len(p) - back
			}
			break
		}
	}
	if n := len(p); n > 0 && p[n-1] == '\r' {
		return n - 1
	}
	return len(p)
}

// IsTerminal reports whether a person sees what is written to w.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Rows returns the height of the terminal behind w, or 24.
func Rows(w io.Writer) int {
	_, height := size(w)
	return height
}

// Columns returns the width of the terminal behind w, or 80.
func Columns(w io.Writer) int {
	width, _ := size(w)
	return width
}

func size(w io.Writer) (width, height int) {
	if f, ok := w.(*os.File); ok {
		width, height, _ = term.GetSize(int(f.Fd()))
	}
	return cmp.Or(max(width, 0), 80), cmp.Or(max(height, 0), 24)
}
