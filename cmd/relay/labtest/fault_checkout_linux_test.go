package labtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"relay/cmd/relay/internal/terminal"
)

const otherPlan = `version: 2
id: 20260101-other
title: Beside it
tasks:
  U1: {title: Uno}
  U2: {title: Due}
`

// neighbour gives the lab's checkout a second epic in a folder of its own, and returns the environment in which relay
// works on that one.
func (l *lab) neighbour() []string {
	l.t.Helper()
	l.write(".agents-os/other/.gitignore", "*\n")
	l.write(".agents-os/other/epic.yml", otherPlan)
	settings := strings.Replace(fmt.Sprintf(labSettings, l.inHome("agent.sh")), "relay:\n", "relay:\n  dir: .agents-os/other\n", 1)
	l.write(l.inHome("other/relay/agents.yml"), settings)
	return []string{"XDG_CONFIG_HOME=" + l.inHome("other")}
}

// patientAgent waits as long as there is a file that says so, and then does its task.
const patientAgent = `
touch "$HOME/up-$RELAY_EPIC"
while [ -e "$HOME/hold" ]; do sleep 0.01; done
echo "$RELAY_TASK" > "$RELAY_TASK.txt"
ok
`

// Of twenty relays on two epics in one checkout one works, and the others say at once which. When it is killed the
// other epic is worked on; the guardian ends what is left of the first.
func TestFaultTwoEpicsOneCheckout(t *testing.T) {
	needsMore(t)
	t.Parallel()
	l := newLab(t, crashPlan, patientAgent)
	other := l.neighbour()
	l.write(l.inHome("hold"), "")
	all := make([]*running, 20)
	done := make(chan *running, len(all))
	begun := time.Now()
	for i := range all {
		all[i] = l.prepared([][]string{nil, other}[i%2], "work")
		l.begin(all[i])
		go func() {
			<-all[i].done
			done <- all[i]
		}()
	}
	host, _ := os.Hostname()
	for range len(all) - 1 {
		r := <-done
		r.wants(t, terminal.Running)
		if said := r.stderr.String(); !strings.Contains(said, " on "+host+" since ") || !strings.Contains(said, "relay: hint: ") {
			t.Errorf("it does not say who is at work: %s", said)
		}
	}
	t.Logf("19 were refused within %s", time.Since(begun))
	var winner *running
	theirs, epic, folder := other, "20260101-crash", ".agents-os/relay"
	for i, r := range all {
		if r.cmd.ProcessState == nil {
			winner = r
			if i%2 == 1 {
				theirs, epic, folder = nil, "20260101-other", ".agents-os/other"
			}
		}
	}
	l.awaitFile(l.inHome("up-" + epic))
	refused := l.begin(l.prepared(theirs, "work"))
	l.end(refused)
	refused.wants(t, terminal.Running)
	refused.says(t, fmt.Sprintf("relay is already at work in this checkout: process %d on %s since", winner.cmd.Process.Pid, host))
	refused.says(t, "on epic "+epic+" in "+folder)
	refused.says(t, fmt.Sprintf("kill %d", winner.cmd.Process.Pid))

	winner.signal(t, syscall.SIGKILL)
	<-winner.done
	orphans := l.agents() // the guardian may have ended them already
	next := l.begin(l.prepared(theirs, "work"))
	l.await("the agents of the killed relay to be ended", func() bool {
		for _, pid := range orphans {
			if state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && !strings.Contains(string(state), ") Z ") {
				return false
			}
		}
		return true
	})
	if err := os.Remove(l.inHome("hold")); err != nil {
		t.Fatal(err)
	}
	l.end(next)
	next.wants(t, terminal.OK)
	again := other // the one that was killed
	if theirs != nil {
		again = nil
	}
	last := l.begin(l.prepared(again, "work"))
	l.end(last)
	last.wants(t, terminal.OK)
	l.unlocked()
	l.quiet()
}

// unlocked wants that no run has left its lock in .git.
func (l *lab) unlocked() {
	l.t.Helper()
	left, err := filepath.Glob(l.path(".git/relay-*"))
	if err != nil || len(left) > 0 {
		l.t.Errorf("left in .git: %v, %v", left, err)
	}
}

// A checkout has one run at a time, whatever its isolation.
func TestFaultSharedCheckout(t *testing.T) {
	needsMore(t)
	t.Parallel()
	for _, c := range []struct {
		first, second string
		code          int
	}{{"none", "shared", terminal.Running}, {"shared", "none", terminal.Running}, {"shared", "shared", terminal.Running}} {
		t.Run(c.first+" and "+c.second, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, crashPlan, strings.Replace(patientAgent, "$HOME/hold", "$HOME/hold-$RELAY_EPIC", 1))
			other := l.neighbour()
			l.write(l.inHome("hold-20260101-crash"), "")
			first := l.start("work", "--isolation", c.first)
			l.awaitFile(l.inHome("up-20260101-crash"))
			second := l.begin(l.prepared(other, "work", "--isolation", c.second))
			l.end(second)
			second.wants(t, c.code)
			if err := os.Remove(l.inHome("hold-20260101-crash")); err != nil {
				t.Fatal(err)
			}
			l.end(first)
			first.wants(t, terminal.OK)
			l.unlocked()
			l.quiet()
		})
	}
}

// An agent that takes .git away takes nobody's lock away.
func TestFaultLockOutlivesGit(t *testing.T) {
	needsMore(t)
	t.Parallel()
	l := newLab(t, crashPlan, `
if [ "$RELAY_TASK" = T1 ]; then rm -rf .git; ok; exit; fi
touch "$HOME/up"
while [ -e "$HOME/hold" ]; do sleep 0.01; done
ok
`)
	other := l.neighbour()
	l.write(l.inHome("hold"), "")
	r := l.start("work")
	l.awaitFile(l.inHome("up"))
	second := l.begin(l.prepared(other, "work"))
	l.end(second)
	second.wants(t, terminal.Running)
	if err := os.Remove(l.inHome("hold")); err != nil {
		t.Fatal(err)
	}
	l.end(r)
	l.unlocked()
}

// Two linked worktrees of one repository have an epic each: both are worked on at once, and both come to their end.
func TestFaultTwoWorktrees(t *testing.T) {
	needsMore(t)
	t.Parallel()
	l := newLab(t, crashPlan, `
touch "$HOME/up-$RELAY_EPIC"
until [ -e "$HOME/up-20260101-crash" ] && [ -e "$HOME/up-20260101-other" ]; do sleep 0.01; done
echo "$RELAY_ATTEMPT" > "$RELAY_TASK.txt"
case $n in 1) bad "no luck";; 2) bad "no idea";; *) ok;; esac
`)
	linked := filepath.Join(t.TempDir(), "linked")
	l.git("worktree", "add", "-q", "-b", "elsewhere", linked)
	second := l.prepared(nil, "work", "--max-attempts", "9")
	second.cmd.Dir = linked
	for name, text := range map[string]string{".gitignore": "*\n", "epic.yml": otherPlan} {
		l.write(filepath.Join(linked, ".agents-os/relay", name), text)
	}
	first := l.start("work", "--max-attempts", "9")
	l.begin(second)
	for _, r := range []*running{first, second} {
		l.end(r)
		r.wants(t, terminal.OK)
	}
	l.commits("T1: One", "T2: Two")
	if got := l.git("log", "--reverse", "--format=%s", "elsewhere"); got != "Begin\nU1: Uno\nU2: Due" {
		t.Errorf("commits of the linked worktree:\n%s", got)
	}
	if got := len(strings.Fields(l.git("for-each-ref", "--format=%(refname)", "refs/relay"))); got != 8 {
		t.Errorf("%d failed attempts are kept, want 8", got)
	}
	l.unlocked()
	l.quiet()
}

// A lock that a run on another machine has left is respected, and relay says how to remove it.
func TestFaultCheckoutOfAnotherHost(t *testing.T) {
	needsMore(t)
	t.Parallel()
	l := newLab(t, crashPlan, `echo "$RELAY_TASK" > "$RELAY_TASK.txt"; ok`)
	lock := l.path(".git/relay-checkout.lock")
	text, err := json.Marshal(map[string]any{"pid": 4711, "host": "elsewhere", "machine": "m", "epic": "20260101-there", "dir": "there", "since": "2026-01-01T00:00:00Z"})
	if err != nil {
		t.Fatal(err)
	}
	l.write(lock, string(text))
	r := l.work(terminal.Running)
	for _, want := range []string{"process 4711 on elsewhere", "20260101-there in there", "another machine", "rm " + lock} {
		r.says(t, want)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	l.work(terminal.OK)
}
