package process

import (
	"maps"
	"os"
	"slices"
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

// whose returns the running command that m belongs to; nil by age: one that is over.
func (k *procTable) whose(m member) (owner *child, how evidence) {
	if c := k.leaders[m.sid]; c != nil {
		return c, proven
	}
	if c := k.leaders[m.pgrp]; c != nil {
		return c, proven
	}
	mark := markOf(m.pid)
	if mark == "" && k.unseen.appears(m, time.Second) {
		return nil, notYet
	}
	candidates, how := k.bearers(mark), proven
	if len(candidates) == 0 && adopts {
		candidates, how = slices.Collect(maps.Values(k.leaders)), byAge
	}
	n := 0
	for _, c := range candidates {
		if m.start >= c.startInfo.start {
			owner = c
			n++
		}
	}
	switch {
	case n == 1:
		return owner, how
	case n == 0 && adopts:
		return nil, byAge
	default:
		return nil, unknown
	}
}

// bearers returns the running commands with a mark.
func (k *procTable) bearers(mark string) (found []*child) {
	for _, c := range k.leaders {
		if mark != "" && c.cmd.Mark == mark {
			found = append(found, c)
		}
	}
	return found
}
