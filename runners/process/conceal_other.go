//go:build !linux

package process

// Conceal does nothing: this system has no such setting for a process.
func Conceal() {}

// Ancestors returns nil: they are not known on this system.
func Ancestors() [][]string { return nil }
