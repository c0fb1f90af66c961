package process

import (
	"io"
	"os"
	"strings"
)

// maxWords is what is kept of a guardian's words; the trace of a crash is longer.
const maxWords = 1 << 10

// captureStderr returns a file without a name for a guardian's standard error, which stays empty unless it dies of a fault of its own.
func captureStderr() (*os.File, error) {
	f, err := os.CreateTemp("", "relay-guardian-")
	if err != nil { // what it writes is lost, and nothing else
		return os.OpenFile(os.DevNull, os.O_RDWR, 0)
	}
	return f, os.Remove(f.Name())
}

// firstLine returns the first line that a guardian which has ended wrote; "" when there is none. It closes the file.
func firstLine(stderr *os.File) string {
	defer stderr.Close()
	text, _ := io.ReadAll(io.NewSectionReader(stderr, 0, maxWords))
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	return line
}
