//go:build !linux

package provision

import (
	"errors"
	"os"
)

// clone does nothing: the file is copied.
func clone(_, _ *os.File) error { return errors.ErrUnsupported }
