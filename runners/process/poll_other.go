//go:build !linux

package process

import "io"

func pollable(r io.Reader) io.Reader { return r }
