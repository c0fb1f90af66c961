package process

import (
	"errors"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ErrLost is in the error of a start that was under way when the guardian was lost: it is
// unknown whether the program ran for a moment. The next start finds a new guardian.
var ErrLost = errors.New("the guardian was lost")

// NoRoom reports whether a start failed because the machine has no room for another process now. It may have some
// in a moment: an agent's own tests can take up all there is.
func NoRoom(err error) bool {
	return errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.ENOMEM) || errors.Is(err, syscall.ENFILE)
}

// slowEnd is what a stopped process may take beyond its grace: its guardian waits so long for what it killed, and so
// long again for what that left behind, and then has to say so.
const slowEnd = 2 * held

// rousings is how often a guardian is roused while an answer of it is waited for.
const rousings = 6

// rouse keeps a guardian going that somebody has stopped: it would neither answer nor see its processes end.
func (l *link) rouse(every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-l.ended:
			return
		case <-tick.C:
			_ = l.proc.Signal(unix.SIGCONT) // it has no effect on a guardian that runs
		}
	}
}
