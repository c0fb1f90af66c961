package process

import (
	"cmp"
	"os"
	"syscall"
	"time"
)

// member is one process as the system shows it. Pid and start together are never used twice.
type member struct {
	pid, ppid, pgrp, sid int
	zombie, kernel       bool // dead and not reaped; a thread of the kernel
	start                uint64
}

func (m member) identity() member { return member{pid: m.pid, start: m.start} }

// signal sends sig to m, and not to a process that got its pid since. It reports whether m could receive it.
func (m member) signal(sig syscall.Signal) bool {
	p, err := os.FindProcess(m.pid) // a pidfd where the system has them
	if err != nil {
		return false
	}
	defer p.Release()
	now, ok := findMember(m.pid)
	if !ok || now.zombie || now.start != m.start {
		return false
	}
	return p.Signal(sig) == nil
}

func (m member) alive() bool {
	now, ok := findMember(m.pid)
	return ok && !now.zombie && now.start == m.start
}

// hiddenProcess holds since when processes, by identity, have shown neither arguments nor environment. Most are just between
// their old program and their new one.
type hiddenProcess map[member]time.Time

// appears reports whether m may yet show its mark. One that hides it for good is believed to have none after the limit.
func (u hiddenProcess) appears(m member, limit time.Duration) bool {
	if m.kernel || !executing(m.pid) {
		return false
	}
	since, ok := u[m.identity()]
	if !ok {
		since = time.Now()
		u[m.identity()] = since
	}
	return time.Since(since) < limit
}

// evidence says how a process's command was found out.
type evidence int

const (
	unknown evidence = iota // it could be of several
	notYet                  // it is just being executed and its environment cannot be seen
	byAge                   // what is older than a command is not its, and only one was left, or none
	proven                  // by its session, group or mark
)

// leaders are the commands that run, by the pid of their first process.
type leaders map[int]*child

// of returns the command that a process belongs to by its session or group.
func (l leaders) of(m member) *child { return cmp.Or(l[m.sid], l[m.pgrp]) }

// bearers returns the commands with a mark.
func (l leaders) bearers(mark string) (found []*child) {
	for _, c := range l {
		if mark != "" && c.cmd.Mark == mark {
			found = append(found, c)
		}
	}
	return found
}

// claim reports whether a process that is not our child is of a command: it is younger and has its session, group or mark.
func (l leaders) claim(m member) bool {
	for _, c := range l {
		if m.start >= c.startInfo.start {
			return l.of(m) != nil || len(l.bearers(markOf(m.pid))) > 0
		}
	}
	return false
}
