//go:build !linux

package punchhole

import (
	"errors"
	"os"
)

func punch(*os.File, int64, int64) error { return errors.ErrUnsupported }
