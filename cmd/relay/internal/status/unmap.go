//go:build !linux

package status

func unmapCode() {}
