package labtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"relay/cmd/relay/internal/terminal"
)

// memoryGroup is a control group with little memory, of either version; "" where none can be made.
func memoryGroup(t *testing.T) string {
	t.Helper()
	for _, c := range []struct{ root, limit, swap string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"},
		{"/sys/fs/cgroup", "memory.max", "memory.swap.max"},
	} {
		group := filepath.Join(c.root, fmt.Sprintf("relay-test-%d", os.Getpid()))
		if os.Mkdir(group, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(group) })
		if os.WriteFile(filepath.Join(group, c.limit), []byte("16777216"), 0o644) != nil {
			continue
		}
		_ = os.WriteFile(filepath.Join(group, c.swap), []byte("16777216"), 0o644)
		return group
	}
	return ""
}

// An agent that the system kills for want of memory is said to have been killed, by itself or by the shell it ran in;
// the next attempt goes on. Where no group can be made it is killed as the system does it.
func TestFaultAgentOutOfMemory(t *testing.T) {
	needsMore(t)
	t.Parallel()
	eats := `kill -KILL $$`
	if group := memoryGroup(t); group != "" {
		eats = `echo $$ > ` + group + `/cgroup.procs; exec tail /dev/zero`
	}
	l := newLab(t, crashPlan, `
echo "$RELAY_TASK" > "$RELAY_TASK.txt"
if ! told 'killed by signal KILL'; then
	case $RELAY_TASK in T1) `+eats+`;; T2) (`+strings.ReplaceAll(eats, "$$", `$(exec sh -c 'echo $PPID')`)+`); exit $?;; esac
fi
ok
`)
	l.work(terminal.OK)
	for id, want := range map[string]string{"T1": "killed by signal KILL", "T2": "exit status 137: something in it was killed by signal KILL"} {
		list := l.ledger().Attempts[id]
		if len(list) != 2 || list[0].Outcome != "agent" || list[0].Receipt.Salvage == "" || list[1].Result != "success" {
			t.Fatalf("%s: attempts are %+v", id, list)
		}
		if got := list[0].Receipt.ErrorSummary; !strings.HasPrefix(got, want) || !strings.Contains(got, "memory") {
			t.Errorf("%s ended with %q, want %q", id, got, want)
		}
	}
	l.run("show", "T1").says(t, "killed by signal KILL")
	l.commits("T1: One", "T2: Two")
	l.clean()
	l.quiet()
}

// An acceptance command that is killed says so too.
func TestFaultCheckOutOfMemory(t *testing.T) {
	needsMore(t)
	t.Parallel()
	l := newLab(t, strings.Replace(crashPlan, "{title: One}", `{title: One, checks: ["test ! -e T1.txt || test -e $HOME/once || { touch $HOME/once; kill -KILL $$; }"]}`, 1), committing)
	l.work(terminal.OK)
	if got := l.ledger().Attempts["T1"][0].Receipt.ErrorSummary; !strings.Contains(got, "killed by signal KILL") {
		t.Errorf("T1 ended with %q", got)
	}
}

// A relay that the system kills while eight agents work, each with processes of its own, leaves none of them behind;
// what had ended is not run again, and the next run comes to the end.
func TestFaultKilledUnderLoad(t *testing.T) {
	needsMore(t)
	t.Parallel()
	var plan strings.Builder
	plan.WriteString("version: 2\nid: 20260101-load\ntitle: Load\ntasks:\n")
	for i := range 24 {
		fmt.Fprintf(&plan, "  T%d: {title: Load, checks: [\"test -s T%d.txt\"]}\n", i, i)
	}
	l := newLab(t, plan.String(), `
echo "$RELAY_TASK" > "$RELAY_TASK.txt"
n=$(wc -l < "$HOME/starts")
if [ -e "$HOME/hold" ] && [ "$n" -gt 6 ]; then
	sleep 1000 & (setsid sleep 1000 &)
	echo x >> "$HOME/up"; yes > /dev/null & wait
fi
ok
`)
	l.env = append(l.env, "RELAY_ISOLATION=shared", "RELAY_JOBS=8")
	l.write(l.inHome("hold"), "")
	r := l.start("work")
	l.await("eight agents", func() bool { return strings.Count(l.read(l.inHome("up")), "x") == 8 })
	r.signal(t, syscall.SIGKILL)
	l.end(r)
	l.quiet()
	l.looks()
	l.free()
	l.work(terminal.OK)
	l.quiet()
	l.accounted()
	cut := 0
	for id, list := range l.ledger().Attempts {
		for _, a := range list {
			if a.Charged {
				t.Errorf("%s paid for it: %+v", id, a)
			}
			if a.Result == "interrupted" {
				cut++
			}
		}
		if last := list[len(list)-1]; last.Result != "success" {
			t.Errorf("%s ended as %+v", id, last)
		}
	}
	if cut != 8 {
		t.Errorf("%d attempts were cut off, want 8", cut)
	}
}
