package process

import (
	"context"
	"maps"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// recordLimit is how long a sweep waits for the guardian of what it has ended to write down how that ended.
const recordLimit = 3 * time.Second

// Sweep ends every process of this machine that carries a mark for which match is true, with everything below it: the
// stop signal TERM, KILL after grace, again until nothing new turns up. It returns how many it ended. This process, its
// guardians and its ancestors are left alone, and so is what belongs to another user.
//
// A process that has overwritten its own environment is not found; what it did to its parent's does not matter.
func Sweep(ctx context.Context, match func(mark string) bool, grace time.Duration) (ended int, err error) {
	ended = sweep(match, grace, recordLimit, ctx.Done())
	return ended, context.Cause(ctx)
}

// sweep does the work of Sweep and stops early when done is closed. It waits so long for the guardians of what it has
// ended.
func sweep(match func(string) bool, grace, guardians time.Duration, done <-chan struct{}) int {
	k := theProcTable()
	s := &sweeper{match: match, skip: map[int]bool{os.Getpid(): true}, targets: map[member]member{}, unseen: hiddenProcess{}, done: done}
	k.mu.Lock()
	for _, pid := range slices.AppendSeq(ancestors(), maps.Keys(k.guardians)) {
		s.skip[pid] = true
	}
	k.mu.Unlock()
	s.repeat(0, max(grace, appearLimit))
	if len(s.targets) == 0 {
		return 0
	}
	s.repeat(unix.SIGKILL, held)
	s.recorded(guardians)
	k.reapAdopted()
	return len(s.targets) - s.living()
}

// recorded waits until the guardians of what was ended are gone: each writes down first how its processes ended. A parent that is
// no guardian is not waited for longer than the limit.
func (s *sweeper) recorded(limit time.Duration) {
	for id := range s.targets {
		delete(s.parents, id.pid)
	}
	until := time.Now().Add(limit)
	for pause := time.Millisecond; time.Now().Before(until); pause = min(2*pause, 50*time.Millisecond) {
		for pid, m := range s.parents {
			if !m.alive() {
				delete(s.parents, pid)
			}
		}
		if len(s.parents) == 0 {
			return
		}
		select {
		case <-s.done:
			return
		case <-time.After(pause):
		}
	}
}

// appearLimit is how long a sweep looks again at a process that shows nothing of itself.
const appearLimit = 50 * time.Millisecond

type sweeper struct {
	match   func(string) bool
	skip    map[int]bool
	targets map[member]member // by identity
	parents map[int]member    // of what carries a mark, by pid
	unseen  hiddenProcess
	done    <-chan struct{}
}

// repeat calls round until no process is left or the limit has passed, and at least once.
func (s *sweeper) repeat(sig syscall.Signal, limit time.Duration) {
	until := time.Now().Add(limit)
	for pause := time.Millisecond; s.round(sig) && time.Now().Before(until); pause = min(2*pause, 50*time.Millisecond) {
		theProcTable().reapAdopted()
		select {
		case <-s.done:
			return
		case <-time.After(pause):
		}
	}
}

// round searches for processes and sends sig to all found so far; if it is 0, TERM to new ones. It reports whether
// another round is needed: until a look that began when all known ones were dead finds nothing new.
func (s *sweeper) round(sig syscall.Signal) (again bool) {
	before, alive := len(s.targets), s.living() > 0 // who lives now may start another behind our look
	again = s.find(sig)
	for _, m := range s.targets {
		if sig != 0 && m.signal(sig) {
			m.signal(unix.SIGCONT)
		}
	}
	return again || alive || len(s.targets) > before
}

// find adds what carries a mark, and what is below it, and reports whether somebody may carry one that cannot be seen
// yet.
func (s *sweeper) find(sig syscall.Signal) (again bool) {
	for _, pid := range everyPid() {
		if s.skip[pid] {
			continue
		}
		m, ok := findMember(pid) // before its mark: if the pid changes hands between, the start no longer fits
		if !ok || m.zombie {
			continue
		}
		mark := markOf(pid)
		if mark == "" || !s.match(mark) {
			again = again || mark == "" && s.unseen.appears(m, appearLimit)
			continue
		}
		s.addParent(m)
		for _, m := range append(descendants(pid), m) {
			s.add(m, sig)
		}
	}
	return again
}

// addParent records the parent of what carries a mark: it may be a guardian.
func (s *sweeper) addParent(m member) {
	if s.parents == nil {
		s.parents = map[int]member{}
	}
	if parent, ok := findMember(m.ppid); ok && m.ppid > 1 && !s.skip[m.ppid] {
		s.parents[m.ppid] = parent
	}
}

func (s *sweeper) add(m member, sig syscall.Signal) {
	if _, ok := s.targets[m.identity()]; ok || s.skip[m.pid] {
		return
	}
	s.targets[m.identity()] = m
	if sig == 0 && m.signal(unix.SIGTERM) {
		m.signal(unix.SIGCONT)
	}
}

func (s *sweeper) living() int {
	n := 0
	for _, m := range s.targets {
		if m.alive() {
			n++
		}
	}
	return n
}

// ancestors returns the processes that this one runs below, the nearest first.
func ancestors() (pids []int) {
	for pid := os.Getppid(); pid > 0 && !slices.Contains(pids, pid); {
		pids = append(pids, pid)
		m, _ := findMember(pid)
		pid = m.ppid
	}
	return pids
}

// reclaim ends what a lost guardian has left to us, and what carries one of its marks.
func reclaim(grace time.Duration, marks map[string]bool) {
	k := theProcTable()
	until := time.Now().Add(grace)
	asked := map[member]bool{}
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		alive := k.ownerless()
		for _, m := range alive {
			for _, m := range append(descendants(m.pid), m) {
				if id := m.identity(); !asked[id] {
					asked[id] = true
					m.signal(unix.SIGTERM)
					m.signal(unix.SIGCONT)
				}
			}
		}
		if len(alive) == 0 || !time.Now().Before(until) {
			break
		}
		time.Sleep(pause)
	}
	k.cullAll(nil)
	delete(marks, "")
	sweep(func(mark string) bool { return marks[mark] }, max(0, time.Until(until)), 0, nil)
}
