package labtest

import (
	"syscall"
	"testing"

	"relay/cmd/relay/internal/terminal"
)

// A guardian that somebody stops goes on within seconds: relay waits for it, and its agents are not lost. An interrupt
// meanwhile ends the run as always.
func TestFaultGuardianStopped(t *testing.T) {
	needsMore(t)
	t.Parallel()
	l, r := held(t, `
if [ "$RELAY_TASK" = T1 ]; then touch "$HOME/up"; while [ -e "$HOME/hold" ]; do sleep 0.01; done; fi
echo "$RELAY_TASK" > "$RELAY_TASK.txt"
ok
`)
	for _, pid := range l.guardians() {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	l.free()
	l.end(r)
	r.wants(t, terminal.OK)
	if got := l.starts(); len(got) != 2 {
		t.Errorf("agents were started as %v, want one for each task", got)
	}
	l.commits("T1: One", "T2: Two")
	l.clean()
	l.quiet()
}

// An interrupt while the guardian is stopped ends the run as any does.
func TestFaultInterruptWithGuardianStopped(t *testing.T) {
	needsMore(t)
	t.Parallel()
	l, r := held(t, hangingAgent)
	for _, pid := range l.guardians() {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	r.signal(t, syscall.SIGINT)
	l.end(r)
	r.wants(t, terminal.Interrupted)
	l.quiet()
	l.resumes()
}
