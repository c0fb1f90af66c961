package process

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// stays is a script that says it is up and stays until it is ended. It is its child that says so: once that one runs,
// signals find both ready.
const stays = `sh -c 'echo $$; exec sleep 1000' >"$F/up"; exit 77`

func TestStop(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, script, signal string
		grace                time.Duration
		want                 Exit
	}{
		{"plain", stays, "", script, Exit{Code: -1, Signal: "TERM", Stopped: true}},
		{"own exit", `trap 'exit 4' TERM; ` + stays, "TERM", script, Exit{Code: 4, Stopped: true}},
		{"interrupt", `trap 'exit 5' TERM; trap 'exit 4' INT; ` + stays, "INT", script, Exit{Code: 4, Stopped: true}},
		{"ignored", `trap "" TERM; ` + stays, "", 50 * time.Millisecond, Exit{Code: -1, Signal: "KILL", Stopped: true, Killed: true}},
		{"asleep", stays, "", script, Exit{Code: -1, Signal: "TERM", Stopped: true}},
	}
	each(t, func(t *testing.T, s Supervisor) {
		t.Helper()
		for _, test := range tests {
			cmd := shell(t, test.script)
			cmd.StopSignal, cmd.StopGrace = test.signal, test.grace
			up := pipe(t, cmd, "up")
			ctx, cancel := context.WithCancel(t.Context())
			p, err := s.Start(ctx, cmd)
			if err != nil {
				t.Fatal(err)
			}
			h := hold(t, up)
			if test.name == "asleep" {
				group, _ := unix.Getpgid(h.pid)
				_ = unix.Kill(-group, unix.SIGSTOP)
			}
			cancel()
			got := p.Wait()
			gone(t, h)
			got = plain(t, got)
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
			}
			p.Stop() // too late, and harmless
		}
	})
}

// plain is an end without what differs from one run to the next. It wants that only who was stopped was asked to at a time.
func plain(t *testing.T, e Exit) Exit {
	t.Helper()
	if e.Stopped == e.StoppedAt.IsZero() {
		t.Errorf("it was stopped at %v: %+v", e.StoppedAt, e)
	}
	e.Elapsed, e.Strays, e.StoppedAt, e.Said = 0, 0, time.Time{}, 0
	return e
}

func TestKill(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s Supervisor) {
		t.Helper()
		cmd := shell(t, `trap "" TERM; `+stays)
		cmd.StopGrace = time.Hour
		up := pipe(t, cmd, "up")
		p := start(t, s, cmd)
		h := hold(t, up)
		p.Stop()
		s.(interface{ Kill() }).Kill()
		got := p.Wait()
		gone(t, h)
		if !got.Killed || got.Signal != "KILL" {
			t.Errorf("got %+v", got)
		}
	})
}

// A wrapper dies at once of the signal its agent is still obeying.
func TestGraceOutlivesWrapper(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s Supervisor) {
		t.Helper()
		cmd := shell(t, `sh -c 'trap "echo \$\$ >\"$F/asked\"; read x <\"$F/go\"; echo saved; exit" TERM
			sh -c "echo \$\$; exec sleep 1000" >"$F/up"' & wait`)
		up, asked, answer := pipe(t, cmd, "up"), pipe(t, cmd, "asked"), pipe(t, cmd, "go")
		p := start(t, s, cmd)
		h := hold(t, up)
		p.Stop()
		hold(t, asked)
		say(t, answer)
		got := p.Wait()
		gone(t, h)
		if got.Killed || got.Signal != "TERM" || !got.Stopped {
			t.Errorf("got %+v", got)
		}
		if out := read(t, cmd.Stdout); out != "saved\n" {
			t.Errorf("the agent was not let finish: %q", out)
		}
	})
}

func TestEndReplacesOld(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s Supervisor) {
		t.Helper()
		cmd := shell(t, stays)
		up := pipe(t, cmd, "up")
		if err := writeExit(cmd.End, Exit{Code: 99}); err != nil {
			t.Fatal(err)
		}
		p := start(t, s, cmd)
		hold(t, up)
		if exit, err := ReadExit(cmd.End); err == nil {
			t.Errorf("the old end is still told: %+v", exit)
		}
		p.Stop()
		p.Wait()
		if left, _ := filepath.Glob(filepath.Join(cmd.Dir, "*.part")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

func TestOutputIsNoLink(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s Supervisor) {
		t.Helper()
		cmd := shell(t, "echo overwritten")
		victim := filepath.Join(cmd.Dir, "victim")
		if err := os.Symlink(victim, cmd.Stdout); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Start(t.Context(), cmd); err == nil {
			t.Error("followed a link")
		}
	})
}
