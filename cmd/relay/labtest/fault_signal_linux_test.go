package labtest

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"relay/cmd/relay/internal/terminal"
)

// A first INT or TERM lets agents end, costs nothing, and the next run comes to the same end.
func TestFaultSignals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sig  syscall.Signal
		code int
	}{"int": {syscall.SIGINT, terminal.Interrupted}, "term": {syscall.SIGTERM, terminal.Terminated}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, r := held(t, hangingAgent)
			r.signal(t, c.sig)
			l.end(r)
			r.wants(t, c.code)
			l.quiet()
			if f := l.ledger(); f.Status.Code != c.code || f.Status.Reason != "interrupted" || f.Status.State != "stopped" {
				t.Errorf("the ledger says %+v, want exit code %d", f.Status, c.code)
			}
			l.clean()
			l.commits()
			l.looks()
			l.resumes()
		})
	}
}

// Control-C in a terminal reaches the whole group: relay, its guardian, and no agent, for agents have groups of their own.
func TestFaultInterruptOfTheGroup(t *testing.T) {
	needsMore(t)
	t.Parallel()
	l := newLab(t, crashPlan, hangingAgent)
	l.write(l.inHome("hold"), "")
	r := l.prepared(nil, "work")
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	l.begin(r)
	l.awaitFile(l.inHome("up"))
	if err := syscall.Kill(-r.cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	l.end(r)
	r.wants(t, terminal.Interrupted)
	l.resumes()
}

// A second signal does not wait for an agent that ignores the first one.
func TestFaultSecondInterruptKills(t *testing.T) {
	t.Parallel()
	l := newLab(t, crashPlan, "trap '' TERM INT\n"+hangingAgent)
	l.settings(strings.Replace(fmt.Sprintf(labSettings, l.inHome("agent.sh")), "stop_grace_seconds: 0.3", "stop_grace_seconds: 500", 1))
	l.write(l.inHome("hold"), "")
	said, err := os.Create(l.inHome("said"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	r := l.prepared(nil, "work")
	r.cmd.Stderr = said
	l.begin(r)
	l.awaitFile(l.inHome("up"))
	for _, want := range []string{"stopping", "killing"} {
		r.signal(t, syscall.SIGINT)
		l.await("it to say that it is "+want, func() bool { return strings.Contains(l.read(said.Name()), want) })
	}
	l.end(r)
	r.wants(t, terminal.Interrupted)
	l.quiet()
	l.resumes()
}

// A third signal ends relay at once; its guardian ends the agents.
func TestFaultThirdInterrupt(t *testing.T) {
	needsMore(t)
	t.Parallel()
	l, r := held(t, hangingAgent)
	l.halt(l.guardians()...) // a guardian that stands still cannot help
	stopped := l.guardians()
	done := func() bool {
		select {
		case <-r.done:
			return true
		default:
			_ = r.cmd.Process.Signal(syscall.SIGINT)
			return false
		}
	}
	l.await("relay to end", done)
	r.wants(t, terminal.Interrupted)
	for _, pid := range stopped {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
	l.quiet()
	l.resumes()
}

// A hangup does not end the night.
func TestFaultHangupIsIgnored(t *testing.T) {
	t.Parallel()
	l, r := held(t, `
touch "$HOME/up"
while [ -e "$HOME/hold" ]; do sleep 0.01; done
echo "$RELAY_TASK" > "$RELAY_TASK.txt"
ok
`)
	r.signal(t, syscall.SIGHUP)
	for _, pid := range l.guardians() {
		_ = syscall.Kill(pid, syscall.SIGHUP)
	}
	l.free()
	l.end(r)
	r.wants(t, terminal.OK)
	l.commits("T1: One", "T2: Two")
	l.quiet()
}

// Neither does a terminal that is closed.
func TestFaultTerminalCloses(t *testing.T) {
	needsMore(t)
	t.Parallel()
	l := newLab(t, crashPlan, `
touch "$HOME/up"
while [ -e "$HOME/hold" ]; do sleep 0.01; done
echo "$RELAY_TASK" > "$RELAY_TASK.txt"
ok
`)
	l.write(l.inHome("hold"), "")
	r := l.prepared([]string{"TERM=xterm-256color"}, "work")
	r.cmd.Stdout, r.cmd.Stderr = nil, nil
	screen, err := pty.Start(r.cmd)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(r.done)
		_ = r.cmd.Wait()
	}()
	var shown strings.Builder
	reading := make(chan struct{})
	go func() {
		defer close(reading)
		_, _ = io.Copy(&shown, screen)
	}()
	l.awaitFile(l.inHome("up"))
	if err := screen.Close(); err != nil {
		t.Fatal(err)
	}
	<-reading
	l.free()
	l.end(r)
	r.wants(t, terminal.OK)
	l.commits("T1: One", "T2: Two")
	l.quiet()
}

// A stopped relay goes on where it was.
func TestFaultStopAndContinue(t *testing.T) {
	needsMore(t)
	t.Parallel()
	l, r := held(t, `
if [ "$RELAY_TASK" = T1 ]; then touch "$HOME/up"; while [ -e "$HOME/hold" ]; do sleep 0.01; done; fi
echo "$RELAY_TASK" > "$RELAY_TASK.txt"
ok
`)
	guardians := l.guardians()
	l.halt(append(guardians, r.cmd.Process.Pid)...)
	l.free()
	l.await("the agent's result", func() bool {
		found, _ := filepath.Glob(l.path(".agents-os/relay/runs/*/T1/1/out/*/result.json"))
		return len(found) > 0
	})
	for _, pid := range guardians {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
	r.signal(t, syscall.SIGCONT)
	l.end(r)
	r.wants(t, terminal.OK)
	if got := len(l.starts()); got != 2 {
		t.Errorf("%d agents were started, want 2", got)
	}
	l.commits("T1: One", "T2: Two")
}

// Of twenty relays one works; the others say at once who it is.
func TestFaultTwentyRelays(t *testing.T) {
	needsMore(t)
	t.Parallel()
	l := newLab(t, crashPlan, `
touch "$HOME/up"
while [ -e "$HOME/hold" ]; do sleep 0.01; done
echo "$RELAY_TASK" > "$RELAY_TASK.txt"
ok
`)
	l.write(l.inHome("hold"), "")
	const many = 20
	all := make([]*running, many)
	begun := time.Now()
	for i := range all {
		all[i] = l.start("work")
	}
	busy := make(chan *running, many)
	for _, r := range all {
		go func() {
			<-r.done
			busy <- r
		}()
	}
	host, _ := os.Hostname()
	var losers []*running
	for range many - 1 {
		losers = append(losers, <-busy)
	}
	t.Logf("%d were refused within %s", len(losers), time.Since(begun))
	l.awaitFile(l.inHome("up"))
	var winner *running
	for _, r := range all {
		select {
		case <-r.done:
		default:
			winner = r
		}
	}
	if winner == nil {
		t.Fatal("none of them works")
	}
	for _, r := range losers {
		r.wants(t, terminal.Running)
		said := r.stderr.String() // at first it may be one that makes the ledger, and then comes too late itself
		if !slices.ContainsFunc(all, func(r *running) bool {
			return strings.Contains(said, fmt.Sprintf("process %d on %s since", r.cmd.Process.Pid, host))
		}) {
			t.Errorf("it does not say who is at work: %s", said)
		}
	}
	l.run("work").says(t, fmt.Sprintf("process %d on %s", winner.cmd.Process.Pid, host))
	l.free()
	l.end(winner)
	winner.wants(t, terminal.OK)
	if got := len(l.starts()); got != 2 {
		t.Errorf("%d agents were started, want 2", got)
	}
	l.commits("T1: One", "T2: Two")
	l.quiet()
}

// The lock of another host is respected, whatever the operating system says, and relay says how to force it.
func TestFaultLockOfAnotherHost(t *testing.T) {
	needsMore(t)
	t.Parallel()
	l := newLab(t, crashPlan, "ok\n")
	text, err := json.Marshal(map[string]any{"pid": 4711, "host": "elsewhere", "machine": "m", "epic": "20260101-crash", "since": "2026-01-01T00:00:00Z"})
	if err != nil {
		t.Fatal(err)
	}
	l.write(".agents-os/relay/lock", string(text))
	r := l.work(terminal.Running)
	for _, want := range []string{"process 4711 on elsewhere", "another machine", "remove the file lock"} {
		r.says(t, want)
	}
	if got := l.starts(); len(got) != 0 {
		t.Errorf("agents were started: %v", got)
	}
	l.looks()
	if err := os.Remove(l.path(".agents-os/relay/lock")); err != nil {
		t.Fatal(err)
	}
	l.agent(`echo "$RELAY_TASK" > "$RELAY_TASK.txt"; ok`)
	l.work(terminal.OK)
}
