//go:build unix

package terminal

import (
	"errors"
	"io"
	"syscall"
)

// isClosed reports an error that means that nobody reads any more: a closed pipe, a terminal that is gone.
func isClosed(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.EIO)
}

// obeys reports whether a terminal obeys escape sequences: TERM says so already.
func obeys(io.Writer) bool { return true }
