//go:build unix

package main

import (
	"os"
	"syscall"
)

// peakKiB is the peak resident memory of an ended process.
func peakKiB(s *os.ProcessState) int64 {
	if usage, ok := s.SysUsage().(*syscall.Rusage); ok {
		return usage.Maxrss
	}
	return 0
}
