package process

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Processes of a run that is long over: one of them deaf, one without a mark below one that has it. Not parallel: they
// become children of this process, which ends what no running command has when a command ends.
func TestSweep(t *testing.T) { //nolint:paralleltest // what it leaves becomes a child of this process
	tests := []struct {
		name, script string
		grace        time.Duration
	}{
		{"polite", `(setsid sh -c 'trap "echo bye >$F/said; exit" TERM; exec 3>"$F/up"; echo $$ >&3; read x <"$F/never"' &)`, time.Hour},
		{"deaf", `(trap "" TERM; setsid sh -c 'echo $$; exec sleep 1000' >"$F/up" &)`, 50 * time.Millisecond},
		{"unmarked below", `(setsid sh -c 'env -i PATH="$PATH" setsid sh -c "echo \$\$; exec sleep 1000" >"$F/up" & wait' &)`, time.Hour},
	}
	for _, test := range tests {
		cmd := shell(t, "")
		up := pipe(t, cmd, "up")
		pipe(t, cmd, "never")
		leave := exec.CommandContext(t.Context(), "setsid", "sh", "-c", test.script)
		leave.Env = cmd.environ()
		if err := leave.Run(); err != nil {
			t.Fatal(err)
		}
		h := hold(t, up)
		match := func(mark string) bool { return mark == cmd.Mark }
		ended, err := Sweep(t.Context(), match, test.grace)
		if err != nil || ended < 1 {
			t.Errorf("%s: ended %d, %v", test.name, ended, err)
		}
		gone(t, h)
		if _, err := os.Stat(cmd.Dir + "/said"); test.name == "polite" && err != nil {
			t.Errorf("it was not asked: %v", err)
		}
		if ended, err := Sweep(t.Context(), match, time.Hour); ended != 0 || err != nil {
			t.Errorf("%s: again: %d, %v", test.name, ended, err)
		}
	}
}

// What is swept may have a guardian, who writes down how it ended: that is there when the sweep is over. Not parallel, as TestSweep.
func TestSweepAwaitsGuardians(t *testing.T) { //nolint:paralleltest // as TestSweep
	cmd := shell(t, "")
	up := pipe(t, cmd, "up")
	pipe(t, cmd, "never")
	guardian := exec.CommandContext(t.Context(), "setsid", "sh", "-c",
		`(RELAY_ATTEMPT="$MARK" sh -c 'echo $$; read x <"$F/never"' >"$F/up"; sleep 0.3; echo ended >"$F/ended") &`)
	guardian.Env = append(cmd.Env, "MARK="+cmd.Mark)
	if err := guardian.Run(); err != nil {
		t.Fatal(err)
	}
	h := hold(t, up)
	ended, err := Sweep(t.Context(), func(mark string) bool { return mark == cmd.Mark }, time.Hour)
	if err != nil || ended != 1 {
		t.Errorf("ended %d, %v", ended, err)
	}
	gone(t, h)
	if _, err := os.Stat(cmd.Dir + "/ended"); err != nil {
		t.Errorf("the guardian was not waited for: %v", err)
	}
}

// A sweep whose time is up before it has begun, as on a machine that is too busy for it, looks once all the same.
func TestSweepLooksOnce(t *testing.T) {
	t.Parallel()
	cmd := shell(t, stays)
	up := pipe(t, cmd, "up")
	p := start(t, NewLocal(), cmd)
	hold(t, up)
	s := &sweeper{
		match: func(mark string) bool { return mark == cmd.Mark },
		skip:  map[int]bool{}, targets: map[member]member{}, unseen: hiddenProcess{},
	}
	if s.repeat(0, 0); len(s.targets) == 0 {
		t.Error("it has found nothing")
		p.Stop()
	}
	p.Wait()
}

// relay may run below an agent of another relay: it does not end itself, nor what it runs below.
func TestSweepSparesItsOwn(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := shell(t, `sleep 1000 & "$SELF" __sweep "$RELAY_ATTEMPT"; echo alive`)
	cmd.Env = append(cmd.Env, "SELF="+self)
	exit := run(t, NewLocal(), cmd)
	if got := read(t, cmd.Stdout); exit.Code != 0 || got != "ended 1\nalive\n" {
		t.Errorf("got %+v, %q", exit, got)
	}
}

// The guardian is killed, and what it leaves has no mark: relay inherits it.
func TestGuardianKilledUnmarked(t *testing.T) {
	t.Parallel()
	cmd := shell(t, `(`+unmarked+` &); sh -c 'echo $$; exec sleep 1000' >"$F/self"`)
	cmd.pipes(t, "up", "self")
	cmd.StopGrace = time.Hour // all obey
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	relay := exec.CommandContext(t.Context(), self, "__relay")
	in, err := relay.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	relay.Stderr = os.Stderr
	out, err := relay.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := relay.Start(); err != nil {
		t.Fatal(err)
	}
	if err := json.NewEncoder(in).Encode(cmd); err != nil {
		t.Fatal(err)
	}
	holders := []holder{hold(t, cmd.Dir+"/up"), hold(t, cmd.Dir+"/self")}
	for _, m := range descendants(relay.Process.Pid) {
		if m.ppid == relay.Process.Pid && !m.signal(9) {
			t.Errorf("the guardian could not be killed: %+v", m)
		}
	}
	for _, h := range holders {
		_ = h.f.SetReadDeadline(time.Now().Add(script))
		if _, err := io.ReadAll(h.f); err != nil {
			t.Errorf("%d: %v", h.pid, err)
		}
	}
	_ = in.Close()
	if said, err := io.ReadAll(out); err != nil || !strings.HasPrefix(string(said), "started\n") {
		t.Errorf("relay said %q, %v", said, err)
	}
	if err := relay.Wait(); err != nil {
		t.Error(err)
	}
}
