package process

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
)

// A daemon says its pid on $F/up and stays.
const (
	daemon   = `sh -c 'echo $$; exec sleep 1000' >"$F/up" 2>&1 </dev/null`
	unmarked = `env -i PATH="$PATH" setsid ` + daemon
)

// Ways to leave a process behind. Each has its own in the other tests' midst, so all carry their mark; what clears
// its environment as well has tests of its own below.
func TestStrays(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, script string
		strays       int
	}{
		{"background", daemon + ` &`, 1},
		{"output held", `sleep 1000 & ` + daemon + ` &`, 2},
		{"session", `setsid ` + daemon + ` &`, 1},
		{"double fork", `(setsid ` + daemon + ` &)`, 1},
		{"stopped", `(setsid sh -c 'echo $$; kill -STOP $$' >"$F/up" &)`, 1},
		{"deaf", `trap "" TERM INT HUP; (setsid ` + daemon + ` &)`, 1},
		{"tree", `(setsid sh -c 'setsid sleep 1000 & setsid sh -c "sleep 1000 & setsid sleep 1000 & wait" & ` +
			`while ! pgrep -P $! >/dev/null; do :; done; echo $$; exec sleep 1000' >"$F/up" &)`, 4},
	}
	each(t, func(t *testing.T, s Supervisor) {
		t.Helper()
		for _, test := range tests {
			cmd := shell(t, test.script+"\n"+`read x <"$F/go"; exit 3`)
			up, leave := pipe(t, cmd, "up"), pipe(t, cmd, "go")
			p := start(t, s, cmd)
			h := hold(t, up)
			say(t, leave)
			got := p.Wait()
			gone(t, h)
			if got.Code != 3 || got.Strays < test.strays {
				t.Errorf("%s: got %+v, want code 3 and %d strays", test.name, got, test.strays)
			}
		}
	})
}

// A leader that ends before what it starts is even running.
func TestStrayRaces(t *testing.T) {
	t.Parallel()
	g := startGuardian(t)
	for range 20 {
		cmd := shell(t, `for i in 1 2 3; do (setsid sh -c 'setsid sleep 1000 & sleep 1000' &); done`)
		run(t, g, cmd)
		if left := marked(cmd.Mark); len(left) > 0 {
			t.Fatalf("left behind: %v", left)
		}
	}
}

// What leaves the leader's group the moment that is killed counts as left behind like any other.
func TestStrayLeavesGroup(t *testing.T) {
	t.Parallel()
	g := startGuardian(t)
	for range 200 {
		if got := run(t, g, shell(t, `(setsid sleep 1000 > /dev/null 2>&1 &)`)); got.Strays != 1 {
			t.Fatalf("got %+v, want one stray", got)
		}
	}
}

// marked lists what lives with a mark.
func marked(mark string) []string {
	var found []string
	for _, pid := range everyPid() {
		if m, ok := findMember(pid); ok && !m.zombie && markOf(pid) == mark {
			found = append(found, fmt.Sprintf("%+v", m))
		}
	}
	return found
}

func TestNoStrays(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s Supervisor) {
		t.Helper()
		for _, script := range []string{"true", "true & wait", "sh -c 'exit 0' | cat"} {
			if got := run(t, s, shell(t, script)); got.Strays != 0 || got.Code != 0 {
				t.Errorf("%s: got %+v", script, got)
			}
		}
	})
}

// Two attempts at once: one's end ends its own strays and none of the other's, even where neither mark nor session
// tells whose they are.
func TestOthersLive(t *testing.T) {
	t.Parallel()
	g := startGuardian(t)
	early := shell(t, `(`+unmarked+` &); echo $$ >"$F/self"; read x <"$F/go"`)
	early.pipes(t, "up", "self", "go")
	late := shell(t, `(`+unmarked+` &); setsid sh -c 'echo $$; exec sleep 1000' >"$F/marked" & read x <"$F/go"`)
	late.pipes(t, "up", "marked", "go")

	first := start(t, g, early)
	old := hold(t, early.Dir+"/up")
	hold(t, early.Dir+"/self")
	for m, _ := findMember(old.pid); startClock() <= m.start; { // the clock of processes ticks 100 times a second
	}
	second := start(t, g, late)
	young, marked := hold(t, late.Dir+"/up"), hold(t, late.Dir+"/marked")

	say(t, early.Dir+"/go")
	exit := first.Wait()
	gone(t, old) // older than the second attempt
	if exit.Strays != 1 {
		t.Errorf("first: got %+v, want one stray", exit)
	}
	if !young.lives(t) || !marked.lives(t) {
		t.Error("the end of the first attempt ended processes of the second")
	}
	say(t, late.Dir+"/go")
	exit = second.Wait()
	gone(t, young, marked)
	if exit.Strays < 1 {
		t.Errorf("second: got %+v, want strays", exit)
	}
}

// What could be either's lives until the last of them ends, and is blamed on none.
func TestDoubtful(t *testing.T) {
	t.Parallel()
	g := startGuardian(t)
	one, two := shell(t, `echo $$ >"$F/self"; read x <"$F/go"; (`+unmarked+` &); read x <"$F/end"`), shell(t, `echo $$ >"$F/self"; read x <"$F/go"`)
	one.pipes(t, "self", "up", "go", "end")
	two.pipes(t, "self", "go")
	first, second := start(t, g, one), start(t, g, two)
	hold(t, one.Dir+"/self")
	hold(t, two.Dir+"/self")
	say(t, one.Dir+"/go")
	h := hold(t, one.Dir+"/up")
	say(t, one.Dir+"/end")
	if exit := first.Wait(); exit.Strays != 0 || !h.lives(t) {
		t.Errorf("first: %+v, and it lives: %v", exit, h.lives(t))
	}
	say(t, two.Dir+"/go")
	exit := second.Wait()
	gone(t, h)
	if exit.Strays != 0 {
		t.Errorf("second is blamed: %+v", exit)
	}
}

func (cmd Command) pipes(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		pipe(t, cmd, name)
	}
}

// A pid is not an identity: what has another start time is a stranger.
func TestIdentity(t *testing.T) {
	t.Parallel()
	cmd := shell(t, stays)
	up := pipe(t, cmd, "up")
	p := start(t, NewLocal(), cmd)
	h := hold(t, up)
	below, ok := findMember(h.pid)
	leader := p.(*child).pid
	if !ok || below.ppid != leader || below.pgrp != leader || below.sid != leader || below.zombie {
		t.Fatalf("look: %+v, %v", below, ok)
	}
	m, _ := findMember(leader)
	stranger := m
	stranger.start--
	if stranger.signal(unix.SIGKILL) || stranger.alive() || !h.lives(t) {
		t.Error("a stranger was taken for the process")
	}
	if !m.signal(unix.SIGKILL) {
		t.Error("the process was not found")
	}
	if exit := p.Wait(); exit.Signal != "KILL" || exit.Stopped {
		t.Errorf("got %+v", exit)
	}
	if m.signal(unix.SIGKILL) || m.alive() {
		t.Error("the dead were found")
	}
}
