//go:build !linux

package process

// Conceal does nothing here: this system has no such setting for a process.
func Conceal() {}

// Ancestors are not known here.
func Ancestors() [][]string { return nil }
