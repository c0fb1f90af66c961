package runners_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"relay/runners"
	"relay/runners/process"
	"relay/runners/runnertest"
)

func needShell(t testing.TB) {
	t.Helper()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("needs a POSIX shell")
	}
}

func TestCommandPlaceholders(t *testing.T) {
	t.Parallel()
	needShell(t)
	req := request(t)
	req.Model = "{task}; touch x"
	argv := []string{
		"sh", "-c", `for a; do printf '%s\n' "$a"; done`, "sh",
		"{task}", "n={attempt}/{run}", "--model={model}", "--resume={session}", "{session}", "{dir}", "{prompt_file}", "{result_file}",
		"{unknown}", "{", "}", "{task", "{{task}}", "$(touch x)", "",
	}
	run(t, runners.NewCommand(process.NewLocal(), runners.CommandOptions{Argv: argv, Exit: true}), req)
	data, err := os.ReadFile(req.Transcript)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	want := []string{
		"T1", "n=2/run", "--model={task}; touch x", req.Dir, req.Prompt, req.Result,
		"{unknown}", "{", "}", "{task", "{T1}", "$(touch x)", "",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if _, err := os.Stat(filepath.Join(req.Dir, "x")); err == nil {
		t.Error("a value was run by a shell")
	}
}

// A command that has written its result may work on, unless that is its last word.
func TestCommandWorksOnAfterItsResult(t *testing.T) {
	t.Parallel()
	needShell(t)
	for _, final := range []bool{false, true} {
		req := request(t)
		req.Limits.Linger, req.Limits.StopGrace = 20*time.Millisecond, time.Second
		script := `echo '{"status":"success","summary":"s"}' > "$RELAY_RESULT"; sleep 0.5; echo done > work.txt`
		r := run(t, runners.NewCommand(process.NewLocal(), runners.CommandOptions{Argv: []string{"sh", "-c", script}, Final: final}), req)
		_, err := os.Stat(filepath.Join(req.Dir, "work.txt"))
		if r.Outcome != runners.Claimed || r.Exit.Stopped != final || (err == nil) == final {
			t.Errorf("final %v: got %s (%s), stopped %v, %v", final, r.Outcome, r.Detail, r.Exit.Stopped, err)
		}
	}
}

func TestCommandClaims(t *testing.T) {
	t.Parallel()
	needShell(t)
	const good = `{"status":"success","summary":"s"}`
	for _, c := range []struct {
		name, script string
		o            runners.CommandOptions
		question     bool
		want         runners.Outcome
	}{
		{"silence", "true", runners.CommandOptions{}, false, runners.NoResult},
		{"exit status as the claim", "true", runners.CommandOptions{Exit: true}, false, runners.Claimed},
		{"exit status as the claim, failing", "exit 4", runners.CommandOptions{Exit: true}, false, runners.Failed},
		{"exit status does not outrank a bad result", "echo junk > $RELAY_RESULT", runners.CommandOptions{Exit: true}, false, runners.BadResult},
		{"exit status does not outrank a failure", `echo '{"status":"failure","summary":"s"}' > $RELAY_RESULT`, runners.CommandOptions{Exit: true}, false, runners.Failed},
		{"a claim before a crash", "echo '" + good + "' > $RELAY_RESULT; kill -9 $$", runners.CommandOptions{}, false, runners.Failed},
		{"result in the file", "echo '" + good + "' > $RELAY_RESULT", runners.CommandOptions{}, false, runners.Claimed},
		{"prompt on stdin", "grep -q thing && echo '" + good + "' > $RELAY_RESULT", runners.CommandOptions{}, false, runners.Claimed},
		{"no prompt on stdin", "grep -q thing", runners.CommandOptions{PromptArg: true}, false, runners.Failed},
		{"an answer", "echo Verdict: APPROVED", runners.CommandOptions{}, true, runners.Claimed},
		{"an answer in the file", "echo noise; echo yes > $RELAY_RESULT", runners.CommandOptions{}, true, runners.Claimed},
		{"no answer", "true", runners.CommandOptions{}, true, runners.NoResult},
		{"an answer before a crash", "echo Verdict: APPROVED; exit 1", runners.CommandOptions{}, true, runners.Failed},
	} {
		req := request(t)
		req.Question = c.question
		c.o.Argv = []string{"sh", "-c", c.script}
		if r := run(t, runners.NewCommand(process.NewLocal(), c.o), req); r.Outcome != c.want {
			t.Errorf("%s: got %q (%s), want %q", c.name, r.Outcome, r.Detail, c.want)
		}
	}
}

func TestCommandWithoutArguments(t *testing.T) {
	t.Parallel()
	r := run(t, runners.NewCommand(process.NewLocal(), runners.CommandOptions{Name: "mute"}), request(t))
	if want := "agent mute has no command line (argv)"; r.Outcome != runners.CannotStart || r.Detail != want {
		t.Errorf("got %q, %q, want %q", r.Outcome, r.Detail, want)
	}
	req := request(t)
	if err := os.Mkdir(req.Result, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := runners.NewCommand(process.NewLocal(), runners.CommandOptions{Argv: []string{"agent"}}).Run(t.Context(), req)
	if want := req.Result + " is a directory, not a place for a result"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestEndedCommand reads what an agent left whose relay was killed.
func TestEndedCommand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, result string
		exit         process.Exit
		want         runners.Outcome
	}{
		{"ended well", `{"status":"success","summary":"s"}`, process.Exit{}, runners.Claimed},
		{"was stopped", "", process.Exit{Code: 143, Stopped: true}, runners.Stopped},
		{"was stopped after its result", `{"status":"success","summary":"s"}`, process.Exit{Code: 143, Stopped: true}, runners.Claimed},
		{"failed", "", process.Exit{Code: 2}, runners.Failed},
		{"nobody knows", "", process.Exit{Code: -1, Lost: true}, runners.Lost},
	} {
		req := request(t)
		req.Ended = true
		if c.result != "" {
			if err := os.WriteFile(req.Result, []byte(c.result), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r := run(t, runners.NewCommand(process.Ended(c.exit), runners.CommandOptions{Argv: []string{"agent"}}), req)
		if r.Outcome != c.want {
			t.Errorf("%s: got %q (%s), want %q", c.name, r.Outcome, r.Detail, c.want)
		}
	}
}

func TestShell(t *testing.T) {
	t.Parallel()
	needShell(t)
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
		{"is dirty", `printf 'a\000b\033[31mc\377'`, 0, 0, false, "abc?"},
	} {
		dir, log := t.TempDir(), filepath.Join(t.TempDir(), "check.log")
		var sup process.Supervisor = process.NewLocal()
		if c.wall > 0 {
			sup = runnertest.WhenReady{Supervisor: sup}
		}
		r, err := runners.Shell(t.Context(), sup, runners.ShellRequest{
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
	needShell(t)
	log := filepath.Join(t.TempDir(), "check.log")
	r, err := runners.Shell(t.Context(), process.NewLocal(), runners.ShellRequest{
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
	needShell(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough for tonight")
	time.AfterFunc(200*time.Millisecond, func() { cancel(why) })
	_, err := runners.Shell(ctx, process.NewLocal(), runners.ShellRequest{
		Mark: "run/T1/1", Dir: t.TempDir(), Run: "sleep 60", Log: filepath.Join(t.TempDir(), "log"), StopGrace: time.Second,
		Env: []string{"PATH=" + os.Getenv("PATH")},
	})
	if !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
}

// guardian starts one for the test.
func guardian(t testing.TB) *process.Guardian {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	g, err := process.StartGuardian([]string{exe, "__guardian"}, []string{"PATH=" + os.Getenv("PATH")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Errorf("close the guardian: %v", err)
		}
	})
	return g
}

// TestUnderGuardian sees that what the guardian tells of starts, stops and ends is what the adapters go by.
func TestUnderGuardian(t *testing.T) {
	t.Parallel()
	needShell(t)
	g := guardian(t)
	for _, c := range []struct {
		argv   []string
		limits runners.Limits
		want   runners.Outcome
	}{
		{[]string{"sh", "-c", `echo '{"status":"success","summary":"s"}' > $RELAY_RESULT`}, runners.Limits{}, runners.Claimed},
		{[]string{"sh", "-c", "exit 3"}, runners.Limits{}, runners.Failed},
		{[]string{"no-such-program-here"}, runners.Limits{}, runners.CannotStart},
		{[]string{"sleep", "60"}, runners.Limits{Wall: 200 * time.Millisecond, StopGrace: time.Second}, runners.WallLimit},
		{[]string{"sleep", "60"}, runners.Limits{Silence: 200 * time.Millisecond, StopGrace: time.Second}, runners.SilenceLimit},
	} {
		req := request(t)
		req.Limits = c.limits
		if r := run(t, runners.NewCommand(g, runners.CommandOptions{Argv: c.argv}), req); r.Outcome != c.want {
			t.Errorf("%q: got %q (%s), want %q", c.argv, r.Outcome, r.Detail, c.want)
		}
	}
}

// BenchmarkCommand measures an attempt of an agent that does nothing, with (run) and without (overhead) a process.
func BenchmarkCommand(b *testing.B) {
	for _, c := range []struct {
		name string
		sup  process.Supervisor
	}{
		{"overhead", process.Ended(process.Exit{})},
		{"run", process.NewLocal()},
		{"guardian", guardian(b)},
	} {
		b.Run(c.name, func(b *testing.B) {
			req := request(b)
			agent := runners.NewCommand(c.sup, runners.CommandOptions{Argv: []string{"true"}, Exit: true})
			for b.Loop() {
				if r, err := agent.Run(b.Context(), req); err != nil || r.Outcome != runners.Claimed {
					b.Fatalf("%+v, %v", r, err)
				}
			}
		})
	}
}
