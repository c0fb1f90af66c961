package status

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// unmapCode takes the program's code out of the memory of the process: most of it ran only at the start. The kernel brings back from the
// page cache the pages that run again. Nothing ever writes to them.
func unmapCode() {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(maps)) {
		var from, to uintptr
		if _, err := fmt.Sscanf(line, "%x-%x", &from, &to); err == nil && strings.Contains(line, " r-xp ") && strings.Contains(line, "/") {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED) // it only saves memory
		}
	}
}
