package agentlog

import (
	"errors"

	"relay/epic/plaintext"
)

// Window keeps a part of what is written to it, and fails when it has that.
type Window struct {
	From int64 // offset of the part
	Most int   // bytes of it

	seen int64
	kept []byte
}

var errFull = errors.New("the page is full")

// Write keeps what is between From and the end of the part.
func (w *Window) Write(p []byte) (int, error) {
	if w.Full() {
		return 0, errFull
	}
	skip := min(max(w.From-w.seen, 0), int64(len(p)))
	w.seen += int64(len(p))
	w.kept = append(w.kept, p[skip:]...)
	return len(p), nil
}

// Full reports whether there is more than the part.
func (w *Window) Full() bool { return len(w.kept) > w.Most }

// Text returns what was kept, and where the next part begins; 0: there is none.
func (w *Window) Text() (text string, next int64) {
	if !w.Full() {
		return string(w.kept), 0
	}
	cut := plaintext.Head(string(w.kept), w.Most)
	return cut, w.From + int64(len(cut))
}
