package process

import (
	"maps"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// Origin reports whether this process or a guardian of it has started a process: it descends from one of them, or is in the session
// of a guardian. A process that is gone counts as started, for its parents cannot be known. The mark is that of the process or of its
// oldest ancestor that shows one; any of them can have changed it.
func Origin(pid int) (mark string, started bool) {
	k := theProcTable()
	k.mu.Lock()
	ours := maps.Clone(k.guardians)
	k.mu.Unlock()
	ours[os.Getpid()] = true
	for youngest := uint64(math.MaxUint64); pid > 0; {
		m, ok := findMember(pid)
		if !ok || m.zombie || m.start > youngest { // another process has its pid by now
			return mark, true
		}
		if ours[pid] {
			return mark, true
		}
		if own := markOf(pid); own != "" {
			mark = own
		}
		if session, err := unix.Getsid(pid); err == nil && session != os.Getpid() && ours[session] {
			return mark, true
		}
		pid, youngest = m.ppid, m.start
	}
	return mark, false
}
