package command_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"relay/runners"
	"relay/runners/command"
	"relay/runners/process"
	"relay/runners/runnertest"
)

func TestCommandPlaceholders(t *testing.T) {
	t.Parallel()
	req := runnertest.Request(t)
	req.Model = "{task}; touch x"
	argv := []string{
		"sh", "-c", `for a; do printf '%s\n' "$a"; done`, "sh",
		"{task}", "n={attempt}/{run}", "--model={model}", "--resume={session}", "{session}", "{dir}", "{prompt_file}", "{result_file}",
		"{unknown}", "{", "}", "{task", "{{task}}", "$(touch x)", "",
	}
	runnertest.Run(t, command.New(process.NewLocal(), command.Options{Argv: argv, Exit: true}), req)
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
	for _, final := range []bool{false, true} {
		req := runnertest.Request(t)
		req.Limits.Linger, req.Limits.StopGrace = 20*time.Millisecond, time.Second
		script := `echo '{"status":"success","summary":"s"}' > "$RELAY_RESULT"; sleep 0.5; echo done > work.txt`
		r := runnertest.Run(t, command.New(process.NewLocal(), command.Options{Argv: []string{"sh", "-c", script}, Final: final}), req)
		_, err := os.Stat(filepath.Join(req.Dir, "work.txt"))
		if r.Outcome != runners.Claimed || r.Exit.Stopped != final || (err == nil) == final {
			t.Errorf("final %v: got %s (%s), stopped %v, %v", final, r.Outcome, r.Detail, r.Exit.Stopped, err)
		}
	}
}

func TestCommandClaims(t *testing.T) {
	t.Parallel()
	const good = `{"status":"success","summary":"s"}`
	for _, c := range []struct {
		name, script string
		o            command.Options
		question     bool
		want         runners.Outcome
	}{
		{"silence", "true", command.Options{}, false, runners.NoResult},
		{"exit status as the claim", "true", command.Options{Exit: true}, false, runners.Claimed},
		{"exit status as the claim, failing", "exit 4", command.Options{Exit: true}, false, runners.Failed},
		{"exit status does not outrank a bad result", "echo junk > $RELAY_RESULT", command.Options{Exit: true}, false, runners.BadResult},
		{"exit status does not outrank a failure", `echo '{"status":"failure","summary":"s"}' > $RELAY_RESULT`, command.Options{Exit: true}, false, runners.Failed},
		{"a claim before a crash", "echo '" + good + "' > $RELAY_RESULT; kill -9 $$", command.Options{}, false, runners.Failed},
		{"result in the file", "echo '" + good + "' > $RELAY_RESULT", command.Options{}, false, runners.Claimed},
		{"prompt on stdin", "grep -q thing && echo '" + good + "' > $RELAY_RESULT", command.Options{}, false, runners.Claimed},
		{"no prompt on stdin", "grep -q thing", command.Options{PromptArg: true}, false, runners.Failed},
		{"an answer", "echo Verdict: APPROVED", command.Options{}, true, runners.Claimed},
		{"an answer in the file", "echo noise; echo yes > $RELAY_RESULT", command.Options{}, true, runners.Claimed},
		{"no answer", "true", command.Options{}, true, runners.NoResult},
		{"an answer before a crash", "echo Verdict: APPROVED; exit 1", command.Options{}, true, runners.Failed},
	} {
		req := runnertest.Request(t)
		req.Question = c.question
		c.o.Argv = []string{"sh", "-c", c.script}
		if r := runnertest.Run(t, command.New(process.NewLocal(), c.o), req); r.Outcome != c.want {
			t.Errorf("%s: got %q (%s), want %q", c.name, r.Outcome, r.Detail, c.want)
		}
	}
}

func TestCommandWithoutArguments(t *testing.T) {
	t.Parallel()
	r := runnertest.Run(t, command.New(process.NewLocal(), command.Options{Name: "mute"}), runnertest.Request(t))
	if want := "agent mute has no command line (argv)"; r.Outcome != runners.CannotStart || r.Detail != want {
		t.Errorf("got %q, %q, want %q", r.Outcome, r.Detail, want)
	}
	req := runnertest.Request(t)
	if err := os.Mkdir(req.Result, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := command.New(process.NewLocal(), command.Options{Argv: []string{"agent"}}).Run(t.Context(), req)
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
		req := runnertest.Request(t)
		req.Ended = true
		if c.result != "" {
			if err := os.WriteFile(req.Result, []byte(c.result), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r := runnertest.Run(t, command.New(process.Ended(c.exit), command.Options{Argv: []string{"agent"}}), req)
		if r.Outcome != c.want {
			t.Errorf("%s: got %q (%s), want %q", c.name, r.Outcome, r.Detail, c.want)
		}
	}
}

// TestUnderGuardian sees that what the guardian tells of starts, stops and ends is what the adapters go by.
func TestUnderGuardian(t *testing.T) {
	t.Parallel()
	g := runnertest.Guardian(t)
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
		req := runnertest.Request(t)
		req.Limits = c.limits
		if r := runnertest.Run(t, command.New(g, command.Options{Argv: c.argv}), req); r.Outcome != c.want {
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
		{"guardian", runnertest.Guardian(b)},
	} {
		b.Run(c.name, func(b *testing.B) {
			req := runnertest.Request(b)
			agent := command.New(c.sup, command.Options{Argv: []string{"true"}, Exit: true})
			for b.Loop() {
				if r, err := agent.Run(b.Context(), req); err != nil || r.Outcome != runners.Claimed {
					b.Fatalf("%+v, %v", r, err)
				}
			}
		})
	}
}

// plainVoice is an agent that talks text and ends with a fenced block.
var plainVoice = runnertest.Voice{
	Begin: func(io.Writer) {},
	Say:   func(w io.Writer, text string) { fmt.Fprintln(w, text) },
	End: func(w io.Writer, result string) {
		fmt.Fprintln(w, "That is all.")
		if result != "" {
			fmt.Fprintf(w, "```relay-result\n%s\n```\n", result)
		}
	},
}

func TestCommandConforms(t *testing.T) {
	t.Parallel()
	runnertest.Conform(t, func(t *testing.T, sup process.Supervisor, act runnertest.Act) runnertest.Cast {
		t.Helper()
		return runnertest.Cast{
			Runner: command.New(sup, command.Options{Argv: []string{runnertest.Program(t, act), "{task}"}, Final: true}),
			Env:    []string{runnertest.VoiceVariable + "=plain"},
		}
	})
}
