package host

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"relay/cmd/relay-temporal/internal/machines"
	"relay/cmd/relay-temporal/internal/order"
	"relay/orchestrator/engine"
	"relay/runners"
)

// Processes carries orders out as processes of this machine, one an order, each with the home folder of its host. A process
// writes to files, and holds a lock while it lives: so another relay can attach to it.
type Processes struct {
	Homes   map[string]string // the home folder of each host
	Program []string          // that carries an order out, with its arguments
	Environ []string
	Grace   time.Duration // that a process has to end when it is asked to
	Lease   time.Duration // a process that Renew does not reach for so long stops its attempt; 0: no process does
}

// Names of the files of a process.
const (
	messageFile = "order.json"
	outFile     = "out.jsonl"
	aliveFile   = "alive" // locked by the process; it holds the lease, and its time changes when that is renewed
	pidFile     = "pid"
)

// lookEvery is how often the output of a process is looked at.
const lookEvery = 20 * time.Millisecond

// Do implements [machines.Jobs].
func (p *Processes) Do(
	ctx context.Context, host string, id order.ID, message []byte, tell func(engine.Event),
) (result []byte, err error) {
	home, dir := p.Homes[host], p.Dir(host, id)
	if home == "" {
		return nil, fmt.Errorf("%w: machines.yml has no home of a host %s", machines.ErrRefused, host)
	}
	if message == nil {
		if _, err := os.Stat(dir); err != nil {
			return nil, fmt.Errorf("%w: it has no such order: %w", machines.ErrUnknown, err)
		}
		return p.follow(ctx, dir, tell)
	}
	if err = errors.Join(os.MkdirAll(filepath.Dir(dir), 0o700), os.Mkdir(dir, 0o700)); err == nil {
		p.sweep(host)
		err = p.start(home, dir, message)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return p.follow(ctx, dir, tell)
}

// Folder returns the folder of what is at work on a host.
func (p *Processes) Folder(host string) string {
	return filepath.Join(p.Homes[host], ".cache", "relay", "orders")
}

// Dir returns the folder of an order.
func (p *Processes) Dir(host string, id order.ID) string {
	return filepath.Join(p.Folder(host), id.String())
}

// Renew renews the lease of a process.
func (p *Processes) Renew(host string, id order.ID) {
	now := time.Now()
	_ = os.Chtimes(filepath.Join(p.Dir(host, id), aliveFile), now, now) // only a process has the file
}

// kept is how long the files of a process that has ended stay.
const kept = 30 * 24 * time.Hour

// sweep removes files of processes that ended long ago.
func (p *Processes) sweep(host string) {
	old, _ := filepath.Glob(filepath.Join(p.Folder(host), "*", messageFile)) // the pattern is none of a user's
	for _, file := range old {
		if is, err := os.Stat(file); err == nil && time.Since(is.ModTime()) > kept && free(filepath.Dir(file)) {
			_ = os.RemoveAll(filepath.Dir(file)) // or next time
		}
	}
}

// start starts the process.
func (p *Processes) start(home, dir string, message []byte) error {
	if err := os.WriteFile(filepath.Join(dir, messageFile), message, 0o600); err != nil {
		return err
	}
	open := func(name string, flags int) (*os.File, error) {
		return os.OpenFile(filepath.Join(dir, name), flags|os.O_CREATE, 0o600)
	}
	in, err := open(messageFile, os.O_RDONLY)
	out, failed := open(outFile, os.O_WRONLY|os.O_APPEND)
	log, wrong := open("err.log", os.O_WRONLY|os.O_APPEND)
	alive, none := open(aliveFile, os.O_RDWR)
	if err := errors.Join(err, failed, wrong, none); err != nil {
		return err
	}
	defer func() { _ = errors.Join(in.Close(), out.Close(), log.Close(), alive.Close()) }()
	if err := syscall.Flock(int(alive.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return err
	}
	if _, err := alive.WriteString(p.Lease.String()); err != nil {
		return err
	}
	cmd := exec.Command(p.Program[0], p.Program[1:]...) //nolint:forbidigo // it outlives this process, and is the guardian of its own
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = in, out, log, []*os.File{alive}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	p.settle(cmd, home)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // how it ends is in its files
	return os.WriteFile(filepath.Join(dir, pidFile), []byte(strconv.Itoa(cmd.Process.Pid)), 0o600)
}

// settle gives a process the home folder of its host.
func (p *Processes) settle(cmd *exec.Cmd, home string) {
	cmd.Dir = home
	if cmd.Env = p.Environ; runners.Variable(p.Environ, "HOME") != home {
		cmd.Env = append(slices.DeleteFunc(slices.Clone(p.Environ), func(kv string) bool { return strings.HasPrefix(kv, "XDG_") }), "HOME="+home)
	}
}

// Ask implements [machines.Jobs].
func (p *Processes) Ask(ctx context.Context, host string, question []byte) ([]byte, error) {
	home := p.Homes[host]
	if home == "" {
		return nil, fmt.Errorf("machines.yml has no home of a host %s", host)
	}
	cmd := exec.CommandContext(ctx, p.Program[0], append(slices.Clone(p.Program[1:]), "--question")...) //nolint:forbidigo // as start
	cmd.Stdin = bytes.NewReader(question)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it ends what it has started
	cmd.WaitDelay = p.Grace
	p.settle(cmd, home)
	answer, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		why, _, _ := strings.Cut(string(failed.Stderr), "\n")
		err = errors.New(strings.TrimPrefix(why, "relay: "))
	}
	return answer, err
}

// Drained implements [machines.Jobs]: these hosts have no workers.
func (p *Processes) Drained(context.Context, string) bool { return false }

// aliveFD is the descriptor of a process's own alive file.
const aliveFD = 3

// Alive has this process keep its lock to itself: what it starts does not hold it. It calls lost when the lease is not renewed: who has
// started this process is dead or frozen, and others may have been given its order. It compares no clocks, and a machine that was
// suspended has not used up its lease.
func Alive(ctx context.Context, lost func()) {
	syscall.CloseOnExec(aliveFD)
	text := make([]byte, 64)
	n, err := syscall.Pread(aliveFD, text, 0)
	lease, failed := time.ParseDuration(string(text[:max(n, 0)]))
	if err != nil || failed != nil || lease == 0 {
		return
	}
	go func() {
		tick := time.NewTicker(max(lease/leaseLooks, time.Millisecond))
		defer tick.Stop()
		var renewed, is syscall.Stat_t
		for same := 0; same < leaseLooks; same++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err := syscall.Fstat(aliveFD, &is); err == nil && is.Mtim != renewed.Mtim {
				renewed, same = is, 0
			}
		}
		lost()
	}()
}

// leaseLooks is how often in a lease a process looks whether it was renewed.
const leaseLooks = 20

// follow reads what a process writes until its result, or until it has ended.
func (p *Processes) follow(ctx context.Context, dir string, tell func(engine.Event)) ([]byte, error) {
	out, err := os.OpenFile(filepath.Join(dir, outFile), os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	from, rest := bufio.NewReader(out), []byte(nil)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	stop, asked := ctx.Done(), time.Time{}
	for {
		ended := free(dir) // looked at before the last lines are read
		for {
			text, err := from.ReadBytes('\n')
			if rest = append(rest, text...); err != nil {
				break
			}
			if result, err := said(rest, tell); result != nil || err != nil {
				return result, err
			}
			rest = nil
		}
		switch {
		case ended:
			said, _ := os.ReadFile(filepath.Join(dir, "err.log"))
			lines := strings.Split(strings.TrimSpace(string(said)), "\n")
			return nil, fmt.Errorf("%w: its process has ended without a result: %s", machines.ErrUnknown, lines[len(lines)-1])
		case !asked.IsZero() && time.Since(asked) > p.Grace:
			signal(dir, syscall.SIGKILL)
			return nil, fmt.Errorf("%w: it did not stop", machines.ErrUnknown)
		}
		select {
		case <-stop:
			stop, asked = nil, time.Now()
			signal(dir, syscall.SIGTERM)
		case <-tick.C:
		}
	}
}

// said tells the event of a line, or returns the result or the refusal.
func said(text []byte, tell func(engine.Event)) (result []byte, err error) {
	var l line
	if json.Unmarshal(text, &l) != nil {
		return nil, nil //nolint:nilerr // a line of something else, or half of one
	}
	if l.Event != nil {
		tell(*l.Event)
	}
	if l.Refused != "" {
		err = fmt.Errorf("%w: %s", machines.ErrRefused, l.Refused)
	}
	return l.Result, err
}

// free reports whether the process has ended: its lock is free.
func free(dir string) bool {
	f, err := os.Open(filepath.Join(dir, aliveFile))
	if err != nil {
		return true
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil
}

func signal(dir string, s syscall.Signal) {
	text, _ := os.ReadFile(filepath.Join(dir, pidFile))
	if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && pid > 1 && !free(dir) {
		_ = syscall.Kill(pid, s)
	}
}
