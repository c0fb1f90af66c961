package process

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// impatient is a guardian that is waited for less long.
func impatient(t *testing.T, patience time.Duration, argv ...string) *Guardian {
	t.Helper()
	if argv == nil {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		argv = []string{self, "__guardian"}
	}
	g := &Guardian{argv: argv, env: os.Environ(), patience: patience, slowEnd: 50 * time.Millisecond}
	var err error
	if g.link, err = g.dial(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g
}

// A guardian that somebody stops goes on: what it watches over is lost no more than what it is to start.
func TestGuardianStopped(t *testing.T) {
	t.Parallel()
	g := impatient(t, rousings*50*time.Millisecond)
	g.link.patience = script // it is roused as often as before
	cmd := shell(t, `echo $$ > "$F/up"; read line < "$F/go"; exit 7`)
	up, next := pipe(t, cmd, "up"), pipe(t, cmd, "go")
	p := start(t, g, cmd)
	hold(t, up)
	for range 3 {
		if err := unix.Kill(g.link.proc.Pid, unix.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		if exit := run(t, g, shell(t, "exit 5")); exit.Code != 5 || exit.Lost {
			t.Errorf("started with a guardian that was stopped: %+v", exit)
		}
	}
	if err := unix.Kill(g.link.proc.Pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	say(t, next)
	if exit := p.Wait(); exit.Code != 7 || exit.Lost {
		t.Errorf("got %+v, want the end that the agent came to", exit)
	}
}

// A guardian that cannot be roused is not waited for for ever, neither for a start nor for an end.
func TestGuardianDeaf(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	if err := gob.NewEncoder(&said).Encode(reply{Did: didStart, ID: 1}); err != nil {
		t.Fatal(err)
	}
	answer := filepath.Join(t.TempDir(), "answer")
	if err := os.WriteFile(answer, said.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	g := impatient(t, script, "/bin/sh", "-c", `head -c 1 >/dev/null; cat "$0"; exec sleep 1000`, answer)
	cmd := shell(t, "exit 0")
	cmd.StopGrace = 10 * time.Millisecond
	p := start(t, g, cmd)
	g.link.patience = 50 * time.Millisecond
	p.Stop()
	p.Stop()
	if exit := p.Wait(); !exit.Lost {
		t.Errorf("got %+v, want a lost one", exit)
	}
	deaf := impatient(t, 50*time.Millisecond, "/bin/sh", "-c", "exec sleep 1000")
	if _, err := deaf.Start(t.Context(), cmd); !errors.Is(err, ErrLost) {
		t.Errorf("a guardian that says nothing: %v", err)
	}
	quits := impatient(t, script, "/bin/sh", "-c", "head -c 1 >/dev/null; exit 3")
	if _, err := quits.Start(t.Context(), cmd); !errors.Is(err, ErrLost) {
		t.Errorf("a guardian that quits: %v", err)
	}
}

// Why a start failed is told across the border between two processes.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	for _, errno := range []syscall.Errno{syscall.EAGAIN, syscall.ENOMEM, syscall.ENFILE} {
		err := failed(1, fmt.Errorf("start sh: %w", &os.PathError{Op: "fork/exec", Path: "/bin/sh", Err: errno})).err()
		if !NoRoom(err) || !errors.Is(err, errno) || err.Error() != "start sh: fork/exec /bin/sh: "+errno.Error() {
			t.Errorf("%v: got %v", errno, err)
		}
	}
	_, err := os.Open(filepath.Join(t.TempDir(), "none"))
	if NoRoom(failed(1, err).err()) || NoRoom(failed(1, syscall.EMFILE).err()) || NoRoom(nil) {
		t.Error("any failure is taken for want of room")
	}
}

// A guardian that dies of a fault of its own says of which, whatever else it has to say.
func TestGuardiansLastWords(t *testing.T) {
	t.Parallel()
	crash := `head -c 1 >/dev/null; echo "no room for a thread" >&2; head -c 200000 /dev/zero >&2; exit 2`
	g := impatient(t, script, "/bin/sh", "-c", crash)
	if _, err := g.Start(t.Context(), shell(t, "exit 0")); err == nil || !strings.Contains(err.Error(), "exit status 2: no room for a thread") {
		t.Errorf("start: %v", err)
	}
	if err := g.Close(); err == nil || !strings.HasSuffix(err.Error(), "exit status 2: no room for a thread") {
		t.Errorf("close: %v", err)
	}
}
