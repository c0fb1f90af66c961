//go:build unix

package terminal

import (
	"errors"
	"syscall"
)

// isClosed reports an error that means that nobody reads any more: a closed pipe, a terminal that is gone.
func isClosed(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.EIO)
}
