package labtest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"relay/cmd/relay/internal/terminal"
	"relay/reanchor/git"
)

// limited has relay and all it starts run as a user whose processes are counted, which root's are not.
func (l *lab) limited(r *running) *running {
	l.t.Helper()
	if os.Geteuid() != 0 {
		return r
	}
	bin := l.inHome("bin/relay")
	if !git.Exists(bin) {
		l.write(l.inHome(".gitconfig"), l.read(l.inHome(".gitconfig"))+"[safe]\n\tdirectory = *\n")
		err := errors.Join(os.Mkdir(filepath.Dir(bin), 0o755), copyProgram(r.cmd.Path, bin), os.Chmod(filepath.Dir(filepath.Dir(l.root)), 0o755))
		for _, dir := range []string{l.root, l.home} {
			err = errors.Join(err, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
				return errors.Join(err, os.Lchown(path, somebody, somebody))
			}))
		}
		for _, dir := range []string{l.root, l.home} {
			err = errors.Join(err, os.Chmod(filepath.Dir(dir), 0o755))
		}
		if err != nil {
			l.t.Fatal(err)
		}
	}
	r.cmd.Path = bin
	r.cmd.Env = append(r.cmd.Env, "TMPDIR="+l.home)
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: somebody, Gid: somebody}}
	return r
}

func copyProgram(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o755)
}

// processLimit sets how many processes and threads the user of a process may have, seen from that process.
func processLimit(t *testing.T, pid int, most uint64) {
	t.Helper()
	failed := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread, which alone becomes somebody else, ends with the goroutine
		failed <- func() error {
			if os.Geteuid() == 0 {
				for _, call := range []uintptr{unix.SYS_SETRESGID, unix.SYS_SETRESUID} {
					if _, _, errno := unix.RawSyscall(call, somebody, somebody, somebody); errno != 0 {
						return errno
					}
				}
			}
			var now unix.Rlimit
			err := unix.Prlimit(pid, unix.RLIMIT_NPROC, nil, &now)
			now.Cur = min(most, now.Max)
			return errors.Join(err, unix.Prlimit(pid, unix.RLIMIT_NPROC, &now, nil))
		}()
	}()
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
}

const (
	unlimited = uint64(unix.RLIM_INFINITY)
	somebody  = 54321 // whom nothing else of this machine belongs to
)

// A machine that has no room for another process for a while stops the night for that while, and costs nothing.
func TestFaultNoRoomForProcesses(t *testing.T) {
	needsMore(t)
	t.Parallel()
	guardian := func(l *lab, _ *running) int { return l.guardians()[0] }
	relay := func(_ *lab, r *running) int { return r.cmd.Process.Pid }
	for name, c := range map[string]struct {
		whose func(*lab, *running) int
		sign  string // a file of the run that is there when somebody tries to start what cannot be started
		tries int    // attempts at T1
		then  func(*lab)
	}{
		"agent":    {whose: guardian, sign: "T2/1/transcript.jsonl", tries: 1},
		"check":    {whose: guardian, sign: "T1/1/checks/*.log", tries: 1},
		"git":      {whose: relay, sign: "T1/1/end.json", tries: 1},
		"guardian": {whose: relay, sign: "T1/1/end.json", tries: 2, then: func(l *lab) { _ = syscall.Kill(l.guardians()[0], syscall.SIGKILL) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := crashPlan
			if name == "check" {
				plan = strings.Replace(plan, "{title: One}", `{title: One, checks: ["test -s T1.txt"]}`, 1)
			}
			l := newLab(t, plan, `
if [ "$RELAY_TASK" = T1 ]; then touch "$HOME/up"; while [ -e "$HOME/hold" ]; do sleep 0.01; done; fi
echo "$RELAY_TASK" > "$RELAY_TASK.txt"
ok
`)
			l.write(l.inHome("hold"), "")
			r := l.begin(l.limited(l.prepared(nil, "work")))
			l.awaitFile(l.inHome("up"))
			pid := c.whose(l, r)
			processLimit(t, pid, 1)
			if c.then != nil {
				c.then(l)
			}
			l.free()
			l.await(c.sign, func() bool {
				found, err := filepath.Glob(l.path(filepath.Join(".agents-os/relay/runs/*", c.sign)))
				return err == nil && len(found) > 0
			})
			l.goesOn(r, 200*time.Millisecond)
			processLimit(t, pid, unlimited)
			l.end(r)
			r.wants(t, terminal.OK)
			for id, list := range l.ledger().Attempts {
				for _, a := range list {
					if a.Charged {
						t.Errorf("%s paid for it: %+v", id, a)
					}
				}
			}
			if got := len(l.ledger().Attempts["T1"]); got != c.tries {
				t.Errorf("%d attempts at T1, want %d", got, c.tries)
			}
			l.commits("T1: One", "T2: Two")
			l.clean()
			l.quiet()
		})
	}
}

// goesOn wants that relay is still there after a time.
func (l *lab) goesOn(r *running, d time.Duration) {
	l.t.Helper()
	select {
	case <-r.done:
		l.t.Fatalf("relay ended\n%s%s", r.stdout.String(), r.stderr.String())
	case <-time.After(d):
	}
}

// A limit that leaves no room for relay itself ends it at once, before anything was begun.
func TestFaultNoRoomForRelay(t *testing.T) {
	needsMore(t)
	t.Parallel()
	l := newLab(t, crashPlan, committing)
	for _, most := range []string{"1", "8", "16"} {
		r := l.limited(l.prepared(nil, "work"))
		program := r.cmd.Path
		r.cmd.Path, r.cmd.Args = "/bin/sh", []string{"sh", "-c", "ulimit -u " + most + " 2>&- || ulimit -p " + most + " && exec " + program + " work"}
		l.end(l.begin(r))
		if said := r.stderr.String(); r.code() <= 0 || !strings.Contains(said, "ulimit -u") && !strings.Contains(said, "emporarily unavailable") {
			t.Errorf("with %s processes: exit code %d, and it says %s", most, r.code(), said)
		}
		l.quiet()
	}
	if got := l.starts(); len(got) > 0 {
		t.Errorf("agents were started: %v", got)
	}
	l.work(terminal.OK)
	l.commits("T1: by the agent", "T2: by the agent")
}

// Open files that run out in the middle of a night end it with the reason, and nobody pays for it.
func TestFaultNoRoomForFiles(t *testing.T) {
	needsMore(t)
	t.Parallel()
	l, r := held(t, `
if [ "$RELAY_TASK" = T1 ]; then touch "$HOME/up"; while [ -e "$HOME/hold" ]; do sleep 0.01; done; fi
echo "$RELAY_TASK" > "$RELAY_TASK.txt"
ok
`)
	var now unix.Rlimit
	if err := unix.Prlimit(r.cmd.Process.Pid, unix.RLIMIT_NOFILE, nil, &now); err != nil {
		t.Fatal(err)
	}
	now.Cur = 5
	if err := unix.Prlimit(r.cmd.Process.Pid, unix.RLIMIT_NOFILE, &now, nil); err != nil {
		t.Fatal(err)
	}
	l.free()
	l.end(r)
	r.wants(t, terminal.Failure)
	r.says(t, "too many open files")
	r.says(t, "relay: hint: ")
	r.says(t, "ulimit -n")
	l.quiet()
	l.looks()
	l.work(terminal.OK)
	for id, list := range l.ledger().Attempts {
		for _, a := range list {
			if a.Charged {
				t.Errorf("%s paid for it: %+v", id, a)
			}
		}
	}
	l.commits("T1: One", "T2: Two")
	l.clean()
}

// Git that cannot be run for longer than relay waits ends the night: it is not taken for a repository that an agent has
// spoilt.
func TestFaultNoRoomForGit(t *testing.T) {
	t.Parallel()
	needsFull(t)
	l := newLab(t, crashPlan, `
if [ "$RELAY_TASK" = T1 ]; then touch "$HOME/up"; while [ -e "$HOME/hold" ]; do sleep 0.01; done; fi
git config relay.test "$RELAY_TASK"
echo "$RELAY_TASK" > "$RELAY_TASK.txt"; git add -A; git commit -qm "$RELAY_TASK: by the agent"
ok
`)
	l.write(l.inHome("hold"), "")
	r := l.begin(l.limited(l.prepared(nil, "work")))
	l.awaitFile(l.inHome("up"))
	processLimit(t, r.cmd.Process.Pid, 1)
	l.free()
	<-r.done
	r.wants(t, terminal.Failure)
	r.says(t, "no room to run git in")
	r.says(t, "ulimit -u")
	l.quiet()
	l.end(l.begin(l.limited(l.prepared(nil, "work"))))
	for id, list := range l.ledger().Attempts {
		if len(list) != 1 || list[0].Charged || list[0].Result != "success" {
			t.Errorf("%s paid for it: %+v", id, list)
		}
	}
	l.commits("T1: by the agent", "T2: by the agent")
}
