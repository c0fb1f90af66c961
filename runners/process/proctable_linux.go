package process

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// adopts: orphans of our commands become our children, whatever they did to their environment.
const adopts = true

// bootTick is the unit of start times in /proc: USER_HZ is 100 on every Linux that Go runs on.
const bootTick = 10_000_000

// kernelThread is PF_KTHREAD in the flags of a process.
const kernelThread = 0x200000

// maxEnviron bounds what is read of one process's environment to find its mark.
const maxEnviron = 4 << 20

// becomeReaper makes orphans below this process its children. Without it (a kernel that refuses) they are lost to
// attempts' ends and found by Sweep only.
func becomeReaper() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

func startClock() uint64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return 0 // older than everything: nothing is taken for another command's by age
	}
	return uint64(now.Nano()) / bootTick
}

// awaitDeath returns when the process is dead; it stays a zombie, so its pid and its group stay its own.
func awaitDeath(pid int) {
	_ = retry(func() error { return unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) })
}

// orphans lists the children of this process that it did not start itself. They are handed to the first thread of their
// new parent, and a Go program never ends that one: one small file lists them all.
func orphans(started func(pid int) bool) (found []member) {
	pid := os.Getpid()
	pids, err := childrenOf("/proc/self/task/" + strconv.Itoa(pid) + "/children")
	if errors.Is(err, fs.ErrNotExist) {
		pids = scanChildren(pid)
	}
	for _, pid := range pids {
		if started(pid) {
			continue
		}
		if m, ok := findMember(pid); ok {
			found = append(found, m)
		}
	}
	return found
}

// reapOrphan takes the exit status of a child that is dead, and reports whether it could.
func reapOrphan(pid int) bool {
	var got int
	err := retry(func() (err error) {
		got, err = unix.Wait4(pid, nil, unix.WNOHANG, nil)
		return err
	})
	return err == nil && got == pid
}

// descendants lists everything below a process, as far as parents still live.
func descendants(pid int) []member {
	var found []member
	seen := map[int]bool{pid: true}
	for next := []int{pid}; len(next) > 0; {
		pid, next = next[0], next[1:]
		task := "/proc/" + strconv.Itoa(pid) + "/task"
		threads, _ := os.ReadDir(task)
		for _, thread := range threads {
			pids, _ := childrenOf(task + "/" + thread.Name() + "/children")
			for _, p := range pids {
				if m, ok := findMember(p); ok && !seen[p] {
					seen[p] = true
					found, next = append(found, m), append(next, p)
				}
			}
		}
	}
	return found
}

func childrenOf(file string) ([]int, error) {
	data, err := readProc(file, maxEnviron)
	if err != nil {
		return nil, err
	}
	var pids []int
	for field := range bytes.FieldsSeq(data) {
		if pid, err := strconv.Atoi(string(field)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// scanChildren finds the children of a process where the kernel does not list them.
func scanChildren(parent int) []int {
	var pids []int
	for _, pid := range everyPid() {
		if m, ok := findMember(pid); ok && m.ppid == parent {
			pids = append(pids, pid)
		}
	}
	return pids
}

func everyPid() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// findMember reads one process's line in /proc.
func findMember(pid int) (member, bool) {
	data, err := readProc("/proc/"+strconv.Itoa(pid)+"/stat", 4096)
	if err != nil {
		return member{}, false
	}
	// The name in the second field may hold anything, spaces and parentheses too: what follows the last one counts.
	end := bytes.LastIndexByte(data, ')')
	fields := bytes.Fields(data[end+1:])
	if end < 0 || len(fields) < 20 {
		return member{}, false
	}
	number := func(i int) int {
		n, _ := strconv.Atoi(string(fields[i]))
		return n
	}
	start, err := strconv.ParseUint(string(fields[19]), 10, 64)
	if err != nil {
		return member{}, false
	}
	state := fields[0][0]
	return member{
		pid: pid, ppid: number(1), pgrp: number(2), sid: number(3),
		zombie: state == 'Z' || state == 'X', kernel: number(6)&kernelThread != 0, start: start,
	}, true
}

// markOf returns the mark a process was started with; "" when it has none or hides it.
func markOf(pid int) string {
	data, err := readProc("/proc/"+strconv.Itoa(pid)+"/environ", maxEnviron)
	if err != nil {
		return ""
	}
	return findMark(data)
}

// executing reports whether a process shows no arguments: it has cut them off, or is between two programs.
func executing(pid int) bool {
	data, err := readProc("/proc/"+strconv.Itoa(pid)+"/cmdline", 1)
	return err == nil && len(data) == 0
}

// readProc reads at most limit bytes of a file of /proc. It is on the path of every process that ends.
func readProc(path string, limit int64) ([]byte, error) {
	f, err := openFile(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}
