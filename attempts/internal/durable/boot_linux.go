package durable

import (
	"os"
	"strings"
)

// BootID names the start of the operating system, or is empty where it has no name. Two containers of one machine
// share it, and share its locks.
func BootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}
