//go:build !linux

package durable

// BootID names the start of the operating system, or is empty where it has no name.
func BootID() string { return "" }
