package process

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// beRelay is a relay that starts the commands it reads from its standard input, says so, and then waits to be killed.
func beRelay() int {
	self, err := os.Executable()
	if err != nil {
		return 1
	}
	g, err := StartGuardian([]string{"/bin/sh", "-c", `exec "$0" __guardian 2>"${GUARDIAN_LOG:-/dev/null}"`, self}, os.Environ())
	if err != nil {
		return 1
	}
	in := json.NewDecoder(os.Stdin)
	for {
		var cmd Command
		if err := in.Decode(&cmd); err != nil {
			return 0
		}
		if _, err := g.Start(context.Background(), cmd); err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println("started")
	}
}

// beSweeper sweeps for one mark and tells how many it ended.
func beSweeper(mark string) int {
	ended, err := Sweep(context.Background(), func(m string) bool { return m == mark }, 0)
	fmt.Println("ended", ended)
	if err != nil {
		return 1
	}
	return 0
}

// pipe is a named pipe in the folder of a command, which its script opens as $F/name.
func pipe(tb testing.TB, cmd Command, name string) string {
	tb.Helper()
	path := filepath.Join(cmd.Dir, name)
	if err := unix.Mkfifo(path, 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// holder is a process that wrote its pid to a pipe and holds it open until it ends.
type holder struct {
	pid int
	f   *os.File
}

const script = time.Minute

// giveUp opens the other end of a pipe, when nobody else has for too long.
func giveUp(path string, flag int) *time.Timer {
	return time.AfterFunc(script, func() {
		if f, err := os.OpenFile(path, flag|unix.O_NONBLOCK, 0); err == nil {
			_ = f.Close()
		}
	})
}

// hold waits for a process to open the pipe and say its pid.
func hold(tb testing.TB, path string) holder {
	tb.Helper()
	defer giveUp(path, os.O_WRONLY).Stop()
	f, err := os.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = f.Close() })
	_ = f.SetReadDeadline(time.Now().Add(script))
	line, err := bufio.NewReader(f).ReadString('\n')
	_ = f.SetReadDeadline(time.Time{})
	if err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		tb.Fatal(err)
	}
	return holder{pid: pid, f: f}
}

// lives reports whether a process holds the pipe open still.
func (h holder) lives(tb testing.TB) bool {
	tb.Helper()
	conn, err := h.f.SyscallConn()
	if err != nil {
		tb.Fatal(err)
	}
	var n int
	var readErr error
	if err := conn.Read(func(fd uintptr) bool {
		n, readErr = unix.Read(int(fd), make([]byte, 1))
		return true
	}); err != nil {
		tb.Fatal(err)
	}
	return n != 0 || errors.Is(readErr, unix.EAGAIN)
}

// gone fails the test unless every holder has ended.
func gone(tb testing.TB, holders ...holder) {
	tb.Helper()
	for _, h := range holders {
		if h.lives(tb) {
			tb.Errorf("process %d still lives", h.pid)
		}
	}
}

// say lets a script that reads from the pipe go on.
func say(tb testing.TB, path string) {
	tb.Helper()
	defer giveUp(path, os.O_RDONLY).Stop()
	if err := os.WriteFile(path, []byte("go\n"), 0o600); err != nil {
		tb.Error(err)
	}
}

// Not parallel: the guardian becomes a child of this process when relay is killed, and does not belong to any command
// of the other tests.
func TestRelayKilled(t *testing.T) { //nolint:paralleltest // the guardian becomes a child of this process
	polite := shell(t, `trap 'echo saved; exit 5' TERM; `+stays)
	stubborn := shell(t, `trap "" TERM; `+stays)
	stubborn.StopGrace = 100 * time.Millisecond
	daemon := shell(t, `(env -i PATH="$PATH" setsid sh -c 'echo $$; exec sleep 1000' >"$F/daemon" &); `+stays)
	up := []string{pipe(t, polite, "up"), pipe(t, stubborn, "up"), pipe(t, daemon, "daemon"), pipe(t, daemon, "up")}

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	relay := exec.Command(self, "__relay")
	in, _ := relay.StdinPipe()
	out, _ := relay.StdoutPipe()
	log := filepath.Join(t.TempDir(), "log")
	if err := unix.Mkfifo(log, 0o600); err != nil {
		t.Fatal(err)
	}
	errs, err := os.OpenFile(log, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	relay.Env = append(os.Environ(), "GUARDIAN_LOG="+log)
	if err := relay.Start(); err != nil {
		t.Fatal(err)
	}
	orders := json.NewEncoder(in)
	for _, cmd := range []Command{polite, stubborn, daemon} {
		if err := orders.Encode(cmd); err != nil {
			t.Fatal(err)
		}
	}
	var holders []holder
	for _, path := range up {
		holders = append(holders, hold(t, path))
	}
	if err := relay.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.ReadAll(out)
	_ = relay.Wait()
	// The guardian holds the pipe until it ends.
	_ = errs.SetReadDeadline(time.Now().Add(script))
	if text, err := io.ReadAll(errs); err != nil {
		t.Fatalf("the guardian lives on: %v; it said %s", err, text)
	}
	gone(t, holders...)
	for _, test := range []struct {
		name string
		cmd  Command
		want Exit
	}{
		{"polite", polite, Exit{Code: 5, Stopped: true}},
		{"stubborn", stubborn, Exit{Code: -1, Signal: "KILL", Stopped: true, Killed: true}},
		{"daemon", daemon, Exit{Code: -1, Signal: "TERM", Stopped: true}},
	} {
		got, err := ReadExit(test.cmd.End)
		got = plain(t, got)
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: end file says %+v, %v, want %+v", test.name, got, err, test.want)
		}
	}
	if got := read(t, polite.Stdout); got != "saved\n" {
		t.Errorf("the polite one was not let finish: %q", got)
	}
}

// Not parallel: what the guardian leaves becomes this process's, and would be taken for a stray of whatever command of
// another test began before it.
func TestGuardianKilled(t *testing.T) { //nolint:paralleltest // what the guardian leaves becomes a child of this process
	g := startGuardian(t)
	cmd := shell(t, `trap "" TERM; setsid sh -c 'echo $$; exec sleep 1000' >"$F/daemon" & `+stays)
	cmd.StopGrace = 100 * time.Millisecond
	daemon, up := pipe(t, cmd, "daemon"), pipe(t, cmd, "up")
	p := start(t, g, cmd)
	holders := []holder{hold(t, daemon), hold(t, up)}
	if err := unix.Kill(g.link.proc.Pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	exit := p.Wait()
	gone(t, holders...)
	if !exit.Lost || exit.Code != -1 {
		t.Errorf("got %+v, want a lost one", exit)
	}
	if written, err := ReadExit(cmd.End); err != nil || !reflect.DeepEqual(written, exit) {
		t.Errorf("end file says %+v, %v", written, err)
	}
	if exit := run(t, g, shell(t, "exit 6")); exit.Code != 6 || exit.Lost {
		t.Errorf("with the next guardian: %+v", exit)
	}
}

func TestGuardianHeedsNoSignal(t *testing.T) {
	t.Parallel()
	g := startGuardian(t)
	run(t, g, shell(t, "exit 0")) // it is up
	for _, sig := range []syscall.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGTERM} {
		if err := unix.Kill(g.link.proc.Pid, sig); err != nil {
			t.Fatal(err)
		}
	}
	// Its commands obey signals: none is handed down as ignored.
	for _, sig := range []string{"HUP", "INT", "TERM"} {
		if exit := run(t, g, shell(t, "kill -"+sig+" $$; exit 9")); exit.Signal != sig {
			t.Errorf("%s: got %+v", sig, exit)
		}
	}
	if err := g.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if _, err := g.Start(t.Context(), shell(t, "exit 0")); !errors.Is(err, errClosed) {
		t.Errorf("start after close: %v", err)
	}
}

func TestCloseStops(t *testing.T) {
	t.Parallel()
	g := startGuardian(t)
	cmd := shell(t, stays)
	up := pipe(t, cmd, "up")
	p := start(t, g, cmd)
	h := hold(t, up)
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	gone(t, h)
	if exit := p.Wait(); !exit.Stopped || exit.Lost {
		t.Errorf("got %+v", exit)
	}
}

func TestGuardianThatIsNone(t *testing.T) {
	t.Parallel()
	if _, err := StartGuardian([]string{"/no/such/relay"}, nil); err == nil {
		t.Error("a missing program started")
	}
	g, err := StartGuardian([]string{"/bin/sh", "-c", "exit 3"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := g.Start(t.Context(), shell(t, "exit 0")); err == nil {
		t.Errorf("started: %+v", p)
	}
	if err := g.Close(); err == nil {
		t.Error("close hides that the guardian ended with 3")
	}
}
