//go:build unix

package main

import (
	"errors"
	"syscall"
)

// isHungUp reports an error that means that nobody reads any more: a closed pipe, a terminal that is gone.
func isHungUp(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.EIO)
}
