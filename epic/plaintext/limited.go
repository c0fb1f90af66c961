package plaintext

import (
	"cmp"
	"io"
)

// Limited passes what is written to it on, and refuses what is too much.
type Limited struct {
	To      io.Writer
	Left    int   // bytes
	TooMuch error // with which it refuses
	Err     error // the first error of a write
}

// Write fails as a whole for what does not fit.
func (l *Limited) Write(p []byte) (n int, err error) {
	if l.Left -= len(p); l.Left < 0 {
		err = l.TooMuch
	} else {
		n, err = l.To.Write(p)
	}
	l.Err = cmp.Or(l.Err, err)
	return n, err
}
