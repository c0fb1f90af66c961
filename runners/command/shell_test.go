package command_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"relay/runners/command"
	"relay/runners/process"
	"relay/runners/runnertest"
)

func TestShell(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, run string
		wall      time.Duration
		code      int
		timedOut  bool
		tail      string
	}{
		{"passes", "echo $NAME; pwd > where", 0, 0, false, "value"},
		{"fails", "echo out; echo err >&2; exit 7", 0, 7, false, "out\nerr"},
		{"reads no input", "cat", 0, 0, false, ""},
		{"not found", "no-such-program-here 2>/dev/null", 0, 127, false, ""},
		{"hangs", "echo begun; touch " + runnertest.ReadyFile + "; sleep 60", 300 * time.Millisecond, -2, true, "begun"},
		{"is bash", "set -o pipefail; [[ $(cat <(echo a)) == a ]] && false | cat", 0, 1, false, ""},
		{"is dirty", `printf 'a\000b\033[31mc\377'`, 0, 0, false, "abc?"},
	} {
		dir, log := t.TempDir(), filepath.Join(t.TempDir(), "check.log")
		var sup process.Supervisor = process.NewLocal()
		if c.wall > 0 {
			sup = runnertest.WhenReady{Supervisor: sup}
		}
		r, err := command.RunShell(t.Context(), sup, command.ShellRequest{
			Mark: "run/T1/1", Dir: dir, Run: c.run, Log: log, Wall: c.wall, StopGrace: time.Second,
			Env: []string{"PATH=" + os.Getenv("PATH"), "NAME=value"},
		})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if c.code != -2 && r.Exit.Code != c.code || r.TimedOut != c.timedOut || r.Tail != c.tail {
			t.Errorf("%s: got %+v, want exit %d, timed out %v, tail %q", c.name, r, c.code, c.timedOut, c.tail)
		}
	}
}

func TestShellIsBounded(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "check.log")
	r, err := command.RunShell(t.Context(), process.NewLocal(), command.ShellRequest{
		Mark: "run/T1/1", Dir: t.TempDir(), Run: "yes | head -c 3000000; echo the end", Log: log, Cap: 100_000,
		Env: []string{"PATH=" + os.Getenv("PATH")},
	})
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(log)
	if err != nil || info.Size() > 101_000 || len(r.Tail) > 4<<10 || !strings.HasSuffix(r.Tail, "the end") {
		t.Errorf("log of %d bytes (%v), tail of %d bytes", info.Size(), err, len(r.Tail))
	}
}

func TestShellStopped(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough for tonight")
	time.AfterFunc(200*time.Millisecond, func() { cancel(why) })
	_, err := command.RunShell(ctx, process.NewLocal(), command.ShellRequest{
		Mark: "run/T1/1", Dir: t.TempDir(), Run: "sleep 60", Log: filepath.Join(t.TempDir(), "log"), StopGrace: time.Second,
		Env: []string{"PATH=" + os.Getenv("PATH")},
	})
	if !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
}

// Without bash on the PATH that commands have, sh runs them.
func TestShellName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for path, want := range map[string]string{
		os.Getenv("PATH"): "bash",
		dir:               "sh",
		"":                "sh",
		dir + string(os.PathListSeparator) + "bin": "sh",
	} {
		if got := command.ShellName([]string{"PATH=/no/such", "PATH=" + path, "HOME=/"}); got != want {
			t.Errorf("PATH=%s: got %s, want %s", path, got, want)
		}
	}
	if got := command.ShellName(nil); got != "sh" {
		t.Errorf("without PATH: got %s", got)
	}
}
