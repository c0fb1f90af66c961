package slot

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Inhabitant returns a process whose working folder is path or below it, or 0. Only Linux tells.
func Inhabitant(path string) int {
	found, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, f := range found {
		pid, err := strconv.Atoi(f.Name())
		if err != nil {
			continue
		}
		at, err := os.Readlink(filepath.Join("/proc", f.Name(), "cwd"))
		if err == nil && (at == path || strings.HasPrefix(at, path+"/")) {
			return pid
		}
	}
	return 0
}
