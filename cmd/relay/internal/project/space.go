package project

import (
	"bytes"
	"fmt"
	"os"
	"time"

	"relay/orchestrator/decide"
	"relay/runners"
)

// freeEvery is how often a run looks at what the machine has left: thousands of short tasks need not each, and one that fails on a full
// disk must not be judged by what was free before.
const freeEvery = 50 * time.Millisecond

// FreeGauge returns a function that reports what this machine has left for a run, also on the disk of the folder where its
// copy of .git is. It is asked from one goroutine at a time.
func FreeGauge(p *Project, state string, now func() time.Time) func() decide.Free {
	folders := []string{p.Dir, p.Worktrees().Dir, state}
	var last decide.Free
	var measured time.Time
	return func() decide.Free {
		if age := now().Sub(measured); age < 0 || age >= freeEvery {
			last, measured = freeSpaceOn(folders), now()
		}
		return last
	}
}

// freeSpaceOn returns the free memory, and the free space of the fullest disk among those of the folders.
func freeSpaceOn(folders []string) decide.Free {
	f := decide.Free{Disk: -1, Memory: availableMemory("/proc/meminfo")}
	for _, folder := range folders {
		space, err := runners.FreeSpace(folder)
		if err == nil && (f.Disk < 0 || int64(space) < f.Disk) {
			f.Disk = int64(space)
		}
	}
	return f
}

// availableMemory returns how many bytes new programs can have without swapping, as Linux tells; -1 where it is not known.
func availableMemory(meminfo string) int64 {
	text, err := os.ReadFile(meminfo)
	if err != nil {
		return -1
	}
	for line := range bytes.Lines(text) {
		var kib int64
		if _, err := fmt.Sscanf(string(line), "MemAvailable: %d kB", &kib); err == nil {
			return kib << 10
		}
	}
	return -1
}
