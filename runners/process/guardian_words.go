package process

import (
	"io"
	"os"
	"strings"
	"time"
)

// stderrHead are what a guardian writes to its standard error, which is nothing unless it dies of a fault of its own: the
// first line then says of which.
type stderrHead struct {
	from *os.File
	text []byte // once done is closed
	done chan struct{}
}

// maxWords is what is kept of a guardian's words; the trace of a crash is longer.
const maxWords = 1 << 10

// captureStderr returns the file for a guardian to write to, and what it wrote.
func captureStderr() (*stderrHead, *os.File, error) {
	from, to, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	w := &stderrHead{from: from, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		w.text, _ = io.ReadAll(io.LimitReader(from, maxWords))
		_, _ = io.Copy(io.Discard, from)
	}()
	return w, to, nil
}

// first returns the first line that a guardian wrote which has ended; "" when there is none. It ends the listening.
func (w *stderrHead) first() string {
	defer w.from.Close()
	late := time.NewTimer(time.Second) // somebody else may hold its end open
	defer late.Stop()
	select {
	case <-w.done:
	case <-late.C:
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(w.text)), "\n")
	return line
}
