package process

import (
	"bytes"
	"encoding/binary"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// adopts: macOS has no subreaper. Orphans go to process 1 and are known by their group or their mark; one that cleared
// its environment and left its group is not found.
const adopts = false

const stateZombie = 5 // SZOMB of <sys/proc.h>

func becomeReaper() {}

func startClock() uint64 { return uint64(time.Now().UnixMicro()) }

// awaitDeath returns when the process is dead; it stays a zombie until it is waited for. It asks kqueue, because
// waitid returns too early at times there (golang.org/issue/19314).
func awaitDeath(pid int) {
	if queueDeath(pid) {
		return
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for m, ok := findMember(pid); ok && !m.zombie; m, ok = findMember(pid) {
		<-tick.C
	}
}

// queueDeath waits for the death of pid and reports whether it could.
func queueDeath(pid int) bool {
	queue, err := unix.Kqueue()
	if err != nil {
		return false
	}
	defer unix.Close(queue)
	unix.CloseOnExec(queue)
	var event unix.Kevent_t
	unix.SetKevent(&event, pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	event.Fflags = unix.NOTE_EXIT
	got := make([]unix.Kevent_t, 1)
	err = retry(func() error {
		_, err := unix.Kevent(queue, []unix.Kevent_t{event}, got, nil)
		return err
	})
	// A process that is dead already cannot be watched: ESRCH, in the event or as the error.
	return err == nil || err == unix.ESRCH
}

// orphans lists those of this user: process 1 has them.
func orphans(func(pid int) bool) (found []member) {
	for _, m := range processes("kern.proc.uid", os.Getuid()) {
		if m.ppid == 1 && !m.zombie {
			m.sid, _ = unix.Getsid(m.pid)
			found = append(found, m)
		}
	}
	return found
}

// reapOrphan does nothing: process 1 reaps them.
func reapOrphan(int) bool { return false }

// descendants lists everything below a process, as far as parents still live.
func descendants(pid int) []member {
	children := map[int][]member{}
	for _, m := range processes("kern.proc.all") {
		children[m.ppid] = append(children[m.ppid], m)
	}
	var found []member
	for next := []int{pid}; len(next) > 0; next = next[1:] {
		for _, m := range children[next[0]] {
			found, next = append(found, m), append(next, m.pid)
		}
		delete(children, next[0])
	}
	return found
}

// executing returns false: the arguments there are those of one program or of the other.
func executing(int) bool { return false }

func everyPid() []int {
	var pids []int
	for _, m := range processes("kern.proc.uid", os.Getuid()) {
		pids = append(pids, m.pid)
	}
	return pids
}

func findMember(pid int) (member, bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid {
		return member{}, false
	}
	return memberOf(info), true
}

func processes(name string, args ...int) []member {
	infos, err := unix.SysctlKinfoProcSlice(name, args...)
	if err != nil {
		return nil
	}
	members := make([]member, 0, len(infos))
	for i := range infos {
		members = append(members, memberOf(&infos[i]))
	}
	return members
}

func memberOf(info *unix.KinfoProc) member {
	start := info.Proc.P_starttime
	return member{
		pid: int(info.Proc.P_pid), ppid: int(info.Eproc.Ppid), pgrp: int(info.Eproc.Pgid),
		zombie: info.Proc.P_stat == stateZombie,
		start:  uint64(start.Sec)*1_000_000 + uint64(start.Usec),
	}
}

// markOf reads the mark from what the system keeps of a process's arguments: their number, the program's path, the
// arguments, the environment, each ended by NUL.
func markOf(pid int) string {
	data, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(data) < 4 {
		return ""
	}
	count := int(binary.NativeEndian.Uint32(data))
	_, data, _ = bytes.Cut(data[4:], []byte{0})
	data = bytes.TrimLeft(data, "\x00")
	for ; count > 0; count-- {
		_, data, _ = bytes.Cut(data, []byte{0})
	}
	return findMark(data)
}
