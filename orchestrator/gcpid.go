package orchestrator

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"relay/reanchor"
	"relay/runners"
)

// gcHold is a run's hold on git gc's own lock, the file gc.pid in the git folder that all worktrees share. While a living
// process of this host is named there, git gc, asked for or automatic, does nothing but say whose turn it is; otherwise a
// git gc --prune=now would take away commits that are being made this moment. Who forces it, or types git prune, goes
// around it.
type gcHold struct{ path string }

// Git takes a gc.pid for left behind when it is older than gcPidLasts (builtin/gc.c), so a run renews its own before.
const (
	gcPidLasts = 12 * time.Hour
	gcPidRenew = time.Hour
)

// gcPidSize is more than a pid and the name of a host take.
const gcPidSize = 512

func holdGC(repo *reanchor.Git) gcHold { return gcHold{filepath.Join(repo.CommonDir(), "gc.pid")} }

// keep takes git gc's lock, unless it is another's turn. What else is in the way is let be: that git gc is kept away is
// one care among others, see lane.judge.
func (g gcHold) keep() {
	said, at := g.read()
	mine, age := g.mine(), time.Since(at)
	switch own := bytes.Equal(said, mine); {
	case own && age < gcPidRenew, !own && age < gcPidLasts && ofAnother(said):
		return
	case said != nil:
		_ = os.Remove(g.path)
	}
	f, err := os.OpenFile(g.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return
	}
	_, _ = f.Write(mine)
	_ = f.Close()
}

// leave lets git gc in again.
func (g gcHold) leave() {
	if said, _ := g.read(); bytes.Equal(said, g.mine()) {
		_ = os.Remove(g.path)
	}
}

// mine is what git writes into the file, for this process.
func (g gcHold) mine() []byte {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Appendf(nil, "%d %s", os.Getpid(), host)
}

// read returns what the file says and since when, nil when there is none.
func (g gcHold) read() ([]byte, time.Time) {
	f, err := runners.OpenRegular(g.path)
	if err != nil {
		return nil, time.Time{}
	}
	defer f.Close()
	info, err := f.Stat()
	said, reading := io.ReadAll(io.LimitReader(f, gcPidSize))
	if errors.Join(err, reading) != nil {
		return nil, time.Time{}
	}
	return said, info.ModTime()
}

// ofAnother reports whether git would take who is named for somebody that is at it.
func ofAnother(said []byte) bool {
	var pid int
	var host string
	if n, _ := fmt.Sscan(string(said), &pid, &host); n != 2 || pid <= 0 {
		return false
	}
	if here, err := os.Hostname(); err != nil || host != here {
		return true
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }()
	return !errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
