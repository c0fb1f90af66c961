package decide

import (
	"fmt"
	"time"

	"relay/attempts"
	"relay/orchestrator/clock"
	"relay/orchestrator/ending"
	"relay/orchestrator/updates"
)

// Free is what a machine has left, in bytes; less than 0 if that is not known.
type Free struct{ Disk, Memory int64 }

// roomPause is how often the free disk and memory are measured while a run waits for them.
const roomPause = 10 * time.Second

// waitForRoom returns what to wait for when the machine has too little disk or memory for another attempt, or nil. It stops the
// run when that lasts longer than FloorWait. The caller holds Mu.
func (m *Limits) waitForRoom(now clock.Instant) (*Waiting, error) {
	reason, lacks, why := m.lacking()
	if reason == "" {
		m.roomUntil = nil
		return nil, nil
	}
	if m.roomUntil == nil {
		until := now.After(m.state.O.Limits.FloorWait)
		m.roomUntil = &until
	}
	rest := m.roomUntil.Rest(now)
	if rest <= 0 && m.state.Plan.CountRunning() == 0 {
		return nil, m.stop(now, reason, why)
	}
	if rest <= 0 || rest > roomPause {
		rest = roomPause
	}
	err := m.waiter.notifyWaiting(now, updates.Cramped, "", attempts.Waiting{Until: m.roomUntil.Day.UTC(), For: lacks, Why: why})
	return &Waiting{Changed: m.state.Changed, Rest: rest}, err
}

// lacking returns what the machine has too little of to start an attempt, "" if nothing.
func (m *Limits) lacking() (reason ending.Reason, lacks, why string) {
	lim := m.state.O.Limits
	if m.state.O.Free == nil || lim.DiskFloor <= 0 && lim.MemoryFloor <= 0 {
		return "", "", ""
	}
	free := m.state.O.Free()
	m.state.steps.free = &free
	switch {
	case free.Disk >= 0 && free.Disk < lim.DiskFloor:
		return ending.DiskFloor, "room on the disk", short(free.Disk, lim.DiskFloor)
	case free.Memory >= 0 && free.Memory < lim.MemoryFloor:
		return ending.MemoryFloor, "memory", short(free.Memory, lim.MemoryFloor)
	}
	return "", "", ""
}

func short(have, want int64) string {
	return fmt.Sprintf("%d MiB are free, and nothing is started below %d", have>>20, want>>20)
}

// Cramped reports whether the machine lacked room when it was last looked at. The caller holds Mu.
func (m *Limits) Cramped() bool { return m.roomUntil != nil }
