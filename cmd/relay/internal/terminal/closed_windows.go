package terminal

import (
	"errors"
	"syscall"

	"golang.org/x/sys/windows"
)

// isClosed reports an error that means that nobody reads any more.
func isClosed(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, windows.ERROR_NO_DATA) || errors.Is(err, windows.ERROR_BROKEN_PIPE)
}
