package process

import (
	"errors"
	"maps"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const noFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK // and no waiting for the other end of a pipe

// startInfo records when the leader started, on the clock of member.start. It was taken just before the start, so it is never too
// late.
type startInfo struct {
	start    uint64
	asked    uint64          // when it was asked to stop
	reminded map[member]bool // who was started later and asked by itself, by identity
}

// openFile opens a file as os.OpenFile does, without registering it with the poller: it is only handed on.
func openFile(path string, flag int) (*os.File, error) {
	fd := -1
	err := retry(func() (err error) {
		fd, err = unix.Open(path, flag|unix.O_CLOEXEC, 0o600)
		return err
	})
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	if flag&unix.O_NONBLOCK != 0 { // that was for opening it
		err = unix.SetNonblock(fd, false)
	}
	return os.NewFile(uintptr(fd), path), err
}

// procTable records which processes of this machine belong to which command. Its lock is held while a child is started and
// while one is reaped, so that under it the children of this process are exactly what the system lists.
type procTable struct {
	mu        sync.Mutex
	leaders   map[int]*child
	condemned map[int]*child  // what we killed, until we reap it
	doubtful  map[member]bool // could have been of several commands when first seen: blamed on none
	unseen    hiddenProcess
	guardians map[int]bool // living guardian processes that we started
	session   int          // ours: unless alone, whatever lives in it is not an agent's
	alone     bool         // this process is a guardian: all its children are commands or come from them
}

// theProcTable is the one table of this process: the subreaper attribute, waiting and the list of children are shared by
// all that runs in it, so two tables would kill each other's children.
//
//nolint:gochecknoglobals // what it describes, the children of this process, is one and global too
var theProcTable = sync.OnceValue(func() *procTable {
	becomeReaper()
	session, _ := unix.Getsid(0)
	return &procTable{
		leaders: map[int]*child{}, condemned: map[int]*child{}, doubtful: map[member]bool{},
		unseen: hiddenProcess{}, guardians: map[int]bool{}, session: session,
	}
})

// launch starts the program of c.
func (k *procTable) launch(c *child, path string, attr *os.ProcAttr) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	// A guardian has a session without a terminal already, and a group is enough for its commands. One more session
	// each would be scheduled as one more user: on a busy Linux that doubles the time of a short command.
	attr.Sys = &syscall.SysProcAttr{Setsid: !k.alone, Setpgid: k.alone}
	c.startInfo.start, c.began = startClock(), time.Now()
	proc, err := os.StartProcess(path, c.cmd.Argv, attr)
	if err != nil {
		return err
	}
	c.proc, c.pid = proc, proc.Pid
	k.leaders[c.pid] = c
	return nil
}

// markGuardian records that nothing else in this process starts children.
func (k *procTable) markGuardian() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.alone = true
}

// launchGuardian starts a guardian in a session of its own, so that neither Ctrl-C nor the end of the terminal reaches
// it or its commands, and those have no terminal to ask questions on.
func (k *procTable) launchGuardian(argv []string, attr *os.ProcAttr) (*os.Process, error) {
	attr.Sys = &syscall.SysProcAttr{Setsid: true}
	k.mu.Lock()
	defer k.mu.Unlock()
	proc, err := os.StartProcess(argv[0], argv, attr)
	if err == nil {
		k.guardians[proc.Pid] = true
	}
	return proc, err
}

// guardianGone records that a guardian has been reaped.
func (k *procTable) guardianGone(pid int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.guardians, pid)
}

// resumeGuardian continues a guardian that somebody has stopped. It has no effect on one that runs.
func resumeGuardian(guardian *os.Process) { _ = guardian.Signal(unix.SIGCONT) }

func (c *child) awaitDeath() { awaitDeath(c.pid) }

// ask sends the stop signal to the group and to everything else that is the command's.
func (k *procTable) ask(c *child) {
	sig := c.cmd.stopSignal()
	c.startInfo.asked, c.startInfo.reminded = startClock(), map[member]bool{}
	rest := descendants(c.pid)
	k.mu.Lock()
	for _, m := range k.adopted() {
		if owner, _ := k.whose(m); owner == c {
			rest = append(rest, m)
			rest = append(rest, descendants(m.pid)...)
		}
	}
	k.mu.Unlock()
	_ = unix.Kill(-c.pid, sig)
	_ = unix.Kill(-c.pid, unix.SIGCONT) // a stopped process obeys when it goes on
	for _, m := range rest {
		if m.pgrp != c.pid {
			m.signal(sig)
		}
	}
}

func (k *procTable) killGroup(c *child) { _ = unix.Kill(-c.pid, unix.SIGKILL) }

// remind reports whether anything of c lives on after its leader. It signals processes that were started since the
// stop; with again, all.
func (k *procTable) remind(c *child, again bool) (left bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, m := range k.adopted() {
		if m.zombie {
			continue
		}
		if owner, _ := k.whose(m); owner != c {
			continue
		}
		left = true
		// Within one tick of the clock it may have heard: some take the second signal for a wish to hurry.
		if again || m.start > c.startInfo.asked && !c.startInfo.reminded[m.identity()] {
			c.startInfo.reminded[m.identity()] = true
			m.signal(unix.SIGTERM)
		}
	}
	return left
}

// bury ends everything that is left of c, and of commands that were over before, and then reaps the leader.
func (k *procTable) bury(c *child) (Exit, int) {
	k.countGroup(c)
	k.killGroup(c)
	k.cullAll(c)
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.leaders, c.pid)
	maps.DeleteFunc(k.condemned, func(_ int, owner *child) bool { return owner == c })
	if len(k.leaders) == 0 {
		clear(k.doubtful)
		clear(k.unseen)
	}
	state, err := c.proc.Wait()
	if err != nil { // somebody else waited for our child
		return Exit{Code: -1, Lost: true}, c.strays
	}
	return exitOf(state), c.strays
}

func exitOf(state *os.ProcessState) Exit {
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return Exit{Code: -1, Signal: signalName(status.Signal())}
	}
	return Exit{Code: state.ExitCode()}
}

// cullAll culls until nothing new turns up: what dies hands its children to us.
func (k *procTable) cullAll(c *child) {
	limit := time.Now().Add(held)
	for pause := 50 * time.Microsecond; ; {
		did := k.cull(c)
		wait := did.waiting > 0 && time.Now().Before(limit)
		if !did.again && !wait {
			return
		}
		if wait {
			time.Sleep(pause)
			pause = min(2*pause, 5*time.Millisecond)
		}
	}
}

// culled is what one cull came to.
type culled struct {
	waiting int  // killed and not dead yet, or not to be seen yet whose they are
	again   bool // one died meanwhile and may have left children that the list did not hold
}

// cull kills what came to us from c and from commands that are over, and reaps what is dead.
func (k *procTable) cull(c *child) (did culled) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, m := range k.adopted() {
		if m.zombie {
			did.again = k.reap(m) || did.again
			continue
		}
		owner, how := k.whose(m)
		switch {
		case how == notYet:
			did.waiting++
			continue
		case how == unknown:
			k.doubtful[m.identity()] = true
			continue
		case owner != nil && owner != c:
			continue
		case !m.signal(unix.SIGKILL):
			did.again = did.again || !m.alive() // else it is another user's
			continue
		}
		did.waiting++
		if how == proven || !k.doubtful[m.identity()] {
			k.recordKilled(m, owner)
		}
	}
	return did
}

// recordKilled records whose process was killed. It counts once it is reaped as killed, not if it ended by itself meanwhile;
// where we cannot reap it, at once.
func (k *procTable) recordKilled(m member, owner *child) {
	if owner == nil || k.condemned[m.pid] != nil {
		return
	}
	k.condemned[m.pid] = owner
	if !adopts {
		owner.strays++
	}
}

func signalName(sig syscall.Signal) string {
	name := unix.SignalName(sig)
	if len(name) > 3 && name[:3] == "SIG" {
		return name[3:]
	}
	return sig.String()
}

func retry(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
