package process

import (
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"relay/runners/sandbox"
)

// held is how long a killed process may take to be gone: the kernel can hold one longer (a dead network file system).
const held = 30 * time.Second

// child is one command that Local started.
type child struct {
	local     *Local
	cmd       Command
	proc      *os.Process
	pid       int
	began     time.Time
	startInfo startInfo // what the system knows it by
	network   *sandbox.Link

	mu         sync.Mutex
	stopping   bool      // Stop was asked for in time
	deadline   time.Time // the grace ends here; set with stopping
	asked      time.Time // when it was stopped, set with stopping, and
	stdoutSize int64     // how long Stdout was then
	over       bool      // the leader is dead
	ending     sync.WaitGroup

	killed  atomic.Bool
	hurry   chan struct{} // closed: no more grace
	hurried sync.Once
	dead    chan struct{}   // closed when the leader is dead
	left    map[member]bool // what it has left behind and was killed, by identity; used by who ends it

	once sync.Once
	done chan struct{}
	exit Exit
}

// Wait implements [Process].
func (c *child) Wait() Exit {
	<-c.done
	return c.exit
}

// Stop implements [Process].
func (c *child) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopping || c.over {
		return
	}
	c.stopping = true
	c.asked = time.Now()
	c.deadline = c.asked.Add(c.cmd.StopGrace)
	if info, err := os.Lstat(c.cmd.Stdout); err == nil {
		c.stdoutSize = info.Size()
	}
	c.ending.Go(c.terminate)
}

// kill stops the process without a grace period, also one that is being stopped.
func (c *child) kill() {
	c.hurried.Do(func() { close(c.hurry) })
	c.Stop()
}

// terminate asks the process to end and kills it when its grace is over. The leader cannot be reaped meanwhile.
func (c *child) terminate() {
	c.ask()
	if c.obeys() {
		return
	}
	c.killed.Store(true)
	c.killGroup()
	stuck := time.NewTimer(held)
	defer stuck.Stop()
	select {
	case <-c.dead:
	case <-stuck.C:
		lost := Exit{Code: -1, Killed: true, Stopped: true, Lost: true, Elapsed: time.Since(c.began)}
		c.local.finish(c, c.when(lost))
	}
}

// when adds when the process was stopped, if it was.
func (c *child) when(exit Exit) Exit {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopping {
		exit.StoppedAt, exit.Said = c.asked.UTC().Round(0), c.stdoutSize
	}
	return exit
}

// obeys waits until the leader is dead, and asks it again meanwhile if that is wanted. It returns false when its time is over.
func (c *child) obeys() bool {
	grace := time.NewTimer(time.Until(c.deadline))
	defer grace.Stop()
	var again <-chan time.Time
	if every := c.cmd.StopAgain; every > 0 {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		again = ticker.C
	}
	for {
		select {
		case <-c.dead:
			return true
		case <-again:
			c.ask()
		case <-grace.C:
			return false
		case <-c.hurry:
			return false
		}
	}
}

// leaderDied closes the time in which a stop counts, and reports whether there was one.
func (c *child) leaderDied() (stopped bool) {
	close(c.dead)
	c.mu.Lock()
	c.over = true
	stopped = c.stopping
	c.mu.Unlock()
	c.ending.Wait()
	return stopped
}

// linger leaves the rest of the grace to what the leader left behind: a wrapper dies at once of the signal that its agent is still
// obeying. Halfway through it signals them again: a starting process can lose a signal. It reports whether something was left.
func (c *child) linger() (left bool) {
	rest := time.Until(c.deadline)
	halfway, over := time.NewTimer(rest/2), time.NewTimer(rest)
	defer halfway.Stop()
	defer over.Stop()
	again := false
	for pause := time.Millisecond; c.remind(again); pause = min(2*pause, 20*time.Millisecond) {
		again = false
		select {
		case <-halfway.C:
			again = true
		case <-over.C:
			return true
		case <-c.hurry:
			return true
		case <-time.After(pause):
		}
	}
	return false
}

// ask sends the stop signal to the group and to everything else that is the command's.
func (c *child) ask() {
	sig := c.cmd.stopSignal()
	c.startInfo.asked, c.startInfo.reminded = startClock(), map[member]bool{}
	rest := descendants(c.pid)
	for _, m := range c.local.procTable.owned(c) {
		rest = append(append(rest, m), descendants(m.pid)...)
	}
	alone := c.cmd.Wall.Wraps() // bubblewrap dies of the signal, and takes along who obeys it: each process gets its own
	if !alone {
		_ = unix.Kill(-c.pid, sig)
	}
	for _, m := range rest {
		if alone || m.pgrp != c.pid {
			m.signal(sig)
		}
	}
	_ = unix.Kill(-c.pid, unix.SIGCONT) // a stopped process obeys when it goes on
}

// remind reports whether anything of c lives on after its leader. It signals processes that were started since the
// stop; with again, all.
func (c *child) remind(again bool) (left bool) {
	rest := c.local.procTable.owned(c)
	for _, m := range rest {
		// Within one tick of the clock it may have heard: some take the second signal for a wish to hurry.
		if again || m.start > c.startInfo.asked && !c.startInfo.reminded[m.identity()] {
			c.startInfo.reminded[m.identity()] = true
			m.signal(unix.SIGTERM)
		}
	}
	return len(rest) > 0
}

func (c *child) killGroup() { _ = unix.Kill(-c.pid, unix.SIGKILL) }
