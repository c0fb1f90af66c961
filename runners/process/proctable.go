package process

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"slices"
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
	leaders   leaders
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
		leaders: leaders{}, doubtful: map[member]bool{}, unseen: hiddenProcess{}, guardians: map[int]bool{}, session: session,
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
	path, argv := c.cmd.Wall.Wrap(path, c.cmd.Argv, attr.Dir)
	var proc *os.Process
	err := c.cmd.Wall.Enter(func() (err error) {
		proc, err = os.StartProcess(path, argv, attr)
		return err
	})
	if err != nil {
		return err
	}
	c.proc, c.pid = proc, proc.Pid
	k.leaders[c.pid] = c
	return nil
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

// adopted lists the processes that came to us from commands. Needs k.mu.
func (k *procTable) adopted() (found []member) {
	for _, m := range orphans(func(pid int) bool { return k.leaders[pid] != nil || k.guardians[pid] }) {
		if adopts && (k.alone || m.sid != k.session) || !adopts && k.leaders.claim(m) {
			found = append(found, m)
		}
	}
	return found
}

// whose returns the running command that m belongs to; nil by age: one that is over.
func (k *procTable) whose(m member) (owner *child, how evidence) {
	if c := k.leaders.of(m); c != nil {
		return c, proven
	}
	mark := markOf(m.pid)
	if mark == "" && k.unseen.appears(m, time.Second) {
		return nil, notYet
	}
	candidates, how := k.leaders.bearers(mark), proven
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

// owned lists what came to us from a command and lives.
func (k *procTable) owned(c *child) []member {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.DeleteFunc(k.adopted(), func(m member) bool {
		if m.zombie {
			return true
		}
		owner, _ := k.whose(m)
		return owner != c
	})
}

// bury ends everything that is left of c, and of commands that were over before, and then reaps the leader.
func (k *procTable) bury(c *child) Exit {
	k.cullAll(c) // first: who leaves the group that moment dies with it, and nothing would then say whose it was
	c.killGroup()
	k.cullAll(c)
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.leaders, c.pid)
	if len(k.leaders) == 0 {
		clear(k.doubtful)
		clear(k.unseen)
	}
	state, err := c.proc.Wait()
	if err != nil { // somebody else waited for our child
		return Exit{Code: -1, Lost: true}
	}
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
			did.again = reapOrphan(m.pid) || did.again
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
		if owner != nil && (how == proven || !k.doubtful[m.identity()]) {
			c.left[m.identity()] = true
		}
	}
	return did
}

// reapAdopted reaps what came to us and died; during long commands only this does.
func (k *procTable) reapAdopted() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, m := range k.adopted() {
		if m.zombie {
			reapOrphan(m.pid)
		}
	}
}

// ownerless lists what lives on of commands that are over, and reaps what does not.
func (k *procTable) ownerless() []member {
	k.mu.Lock()
	defer k.mu.Unlock()
	var alive []member
	for _, m := range k.adopted() {
		if m.zombie {
			reapOrphan(m.pid)
			continue
		}
		if owner, how := k.whose(m); how == byAge && owner == nil {
			alive = append(alive, m)
		}
	}
	return alive
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

// findMark returns the mark in an environment block: variables ended by NUL.
func findMark(block []byte) string {
	for len(block) > 0 {
		var v []byte
		v, block, _ = bytes.Cut(block, []byte{0})
		if mark, ok := bytes.CutPrefix(v, []byte(markVariable+"=")); ok {
			return string(mark)
		}
	}
	return ""
}
