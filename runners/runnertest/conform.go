package runnertest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"relay/runners"
	"relay/runners/process"
)

// Cast is a runner whose agent plays one act.
type Cast struct {
	Runner   runners.Runner
	Env      []string // what the act needs in the request's environment
	Settings []string // names of the variables the runner sets besides relay's own
}

// Make returns a runner whose agent, started by sup, plays the act.
type Make func(t *testing.T, sup process.Supervisor, act Act) Cast

// LeakVariable is set in the test's own environment by a package that calls Conform; no agent may see it.
const LeakVariable = "RUNNERTEST_LEAK"

// run is one run of an act; limits and prompt may be changed before it begins.
type run struct {
	cast   Cast
	req    runners.Request
	events []runners.Event
}

func newRun(t *testing.T, create Make, act Act) *run {
	t.Helper()
	r := &run{cast: create(t, process.NewLocal(), act)}
	work, records := t.TempDir(), t.TempDir()
	in := func(name string) string { return filepath.Join(records, name) }
	r.req = runners.Request{
		Mark: "20260111T173000Z-abcd/T1/1", Dir: work, Prompt: in("brief.md"), Result: in("result.json"),
		Transcript: in("transcript.jsonl"), Stderr: in("stderr.log"), End: in("end.json"),
		Env:     append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + work, ActVariable + "=" + string(act)}, r.cast.Env...),
		Limits:  runners.Limits{Wall: 5 * time.Minute, StopGrace: time.Minute},
		Observe: func(e runners.Event) { r.events = append(r.events, e) },
	}
	r.write(t, r.req.Prompt, "do the thing\n"+PromptEnd+"\n")
	return r
}

func (r *run) write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// want runs the act and expects the outcome.
func (r *run) want(t *testing.T, ctx context.Context, outcome runners.Outcome) runners.Report {
	t.Helper()
	report, err := r.cast.Runner.Run(ctx, r.req)
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	if report.Outcome != outcome {
		t.Errorf("outcome %q (%s), want %q", report.Outcome, report.Detail, outcome)
	}
	if len(report.Detail) > 500 || !isClean(report.Detail) || strings.Contains(report.Detail, "\n") {
		t.Errorf("detail is not one clean line of 500 bytes: %q", report.Detail)
	}
	if len(report.FinalText) > 64<<10 || !isClean(report.FinalText) {
		t.Errorf("final text of %d bytes is too long or not clean: %.200q", len(report.FinalText), report.FinalText)
	}
	for _, e := range r.events {
		if len(e.Text) > 200 || !isClean(e.Text) {
			t.Errorf("event %s is too long or not clean: %q", e.Kind, e.Text)
		}
	}
	return report
}

func isClean(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
	}) < 0
}

// Conform checks that a runner does what runners.Runner promises, whatever its agent does.
func Conform(t *testing.T, create Make) {
	t.Helper()
	endings(t, create)
	limits(t, create)
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		r := newRun(t, create, Hang)
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		go func() {
			waitFor(ctx, filepath.Join(r.req.Dir, ReadyFile))
			cancel(errors.New("the user pressed Ctrl-C"))
		}()
		report := r.want(t, ctx, runners.Stopped)
		if !report.Exit.Stopped || !strings.Contains(report.Detail, "Ctrl-C") {
			t.Errorf("stopped without its cause: %q, exit %+v", report.Detail, report.Exit)
		}
	})
	t.Run("lost", func(t *testing.T) {
		t.Parallel()
		r := newRun(t, create, Succeed)
		r.cast = create(t, process.Ended(process.Exit{Code: -1, Lost: true}), Succeed)
		r.want(t, t.Context(), runners.Lost)
	})
	t.Run("surroundings", func(t *testing.T) {
		t.Parallel()
		surroundings(t, newRun(t, create, LookAround))
	})
	t.Run("prompt of 1 MB", func(t *testing.T) {
		t.Parallel()
		r := newRun(t, create, ReadPrompt)
		r.write(t, r.req.Prompt, strings.Repeat("read this, please\n", 60_000)+PromptEnd+"\n")
		r.want(t, t.Context(), runners.Claimed)
	})
	t.Run("stale result", func(t *testing.T) {
		t.Parallel()
		r := newRun(t, create, SayNothing)
		r.write(t, r.req.Result, goodResult)
		r.want(t, t.Context(), runners.NoResult)
	})
	t.Run("folder for a result", func(t *testing.T) {
		t.Parallel()
		r := newRun(t, create, Succeed)
		if err := os.Mkdir(r.req.Result, 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := r.cast.Runner.Run(t.Context(), r.req); err == nil {
			t.Error("ran with a folder where the result belongs")
		}
	})
	t.Run("missing working directory", func(t *testing.T) {
		t.Parallel()
		r := newRun(t, create, Succeed)
		r.req.Dir = filepath.Join(r.req.Dir, "gone")
		if report, err := r.cast.Runner.Run(t.Context(), r.req); err == nil {
			t.Errorf("outcome %q without a working directory, want an error: the runner is not at fault", report.Outcome)
		}
	})
}

// endings are the acts that end by themselves.
func endings(t *testing.T, create Make) {
	t.Helper()
	for _, c := range []struct {
		act     Act
		outcome runners.Outcome
		summary string
	}{
		{Succeed, runners.Claimed, "did it"},
		{Fail, runners.Failed, "tried"},
		{SayNothing, runners.NoResult, ""},
		{Babble, runners.BadResult, ""},
		{BeNoisy, runners.Claimed, "did it"},
		{HugeLine, runners.Claimed, "did it"},
		{Flood, runners.Claimed, "did it"},
		{Garbage, runners.Claimed, "before red after"},
		{Crash, runners.Failed, ""},
		{LinkResult, runners.BadResult, ""},
		{Missing, runners.CannotStart, ""},
	} {
		t.Run(string(c.act), func(t *testing.T) {
			t.Parallel()
			r := newRun(t, create, c.act)
			r.req.Limits.TranscriptCap = 1 << 20
			report := r.want(t, t.Context(), c.outcome)
			switch {
			case c.summary == "" && report.Result != nil:
				t.Errorf("result %+v, want none", report.Result)
			case c.summary != "" && (report.Result == nil || report.Result.Summary != c.summary):
				t.Errorf("result %+v, want the summary %q", report.Result, c.summary)
			}
			if c.act == Crash && !strings.Contains(report.Detail, "boom") {
				t.Errorf("detail %q does not hold the last words on stderr", report.Detail)
			}
			if info, err := os.Stat(r.req.Transcript); err == nil && info.Size() > 2<<20 {
				t.Errorf("transcript has %d bytes, cap is 1 MiB", info.Size())
			}
		})
	}
}

// limits are the acts that only a limit ends.
func limits(t *testing.T, create Make) {
	t.Helper()
	const short = 400 * time.Millisecond
	for _, c := range []struct {
		name    string
		act     Act
		limits  runners.Limits
		outcome runners.Outcome
		killed  bool
	}{
		{"wall", Hang, runners.Limits{Wall: short}, runners.WallLimit, false},
		{"silence", Hang, runners.Limits{Silence: short}, runners.SilenceLimit, false},
		{"deaf to TERM", Stubborn, runners.Limits{Wall: 2 * short, StopGrace: short / 4}, runners.WallLimit, true},
		{"lingers", Linger, runners.Limits{Linger: short}, runners.Claimed, false},
		{"lingers to the end", Linger, runners.Limits{Wall: 4 * short, Linger: time.Hour}, runners.Claimed, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, create, c.act)
			r.cast = create(t, WhenReady{process.NewLocal()}, c.act)
			r.req.Limits = c.limits
			if c.limits.StopGrace == 0 {
				r.req.Limits.StopGrace = time.Minute
			}
			report := r.want(t, t.Context(), c.outcome)
			if !report.Exit.Stopped || report.Exit.Killed != c.killed {
				t.Errorf("exit %+v, want it stopped, and killed: %v", report.Exit, c.killed)
			}
		})
	}
}

// surroundings checks what an agent sees: no prompt among its arguments, and no more environment than it was given.
func surroundings(t *testing.T, r *run) {
	t.Helper()
	r.write(t, r.req.Prompt, "the secret plan\n"+PromptEnd+"\n")
	r.want(t, t.Context(), runners.Claimed)
	if argv, err := os.ReadFile(filepath.Join(r.req.Dir, "argv")); err == nil && strings.Contains(string(argv), "secret plan") {
		t.Errorf("the prompt is visible in the process list: %q", argv)
	}
	data, err := os.ReadFile(filepath.Join(r.req.Dir, "env"))
	if err != nil {
		t.Fatal(err)
	}
	allowed := append([]string{"RELAY_ATTEMPT", "RELAY_TASK", "RELAY_RESULT", "RELAY_PROMPT"}, r.cast.Settings...)
	for _, entry := range r.req.Env {
		name, _, _ := strings.Cut(entry, "=")
		allowed = append(allowed, name)
	}
	seen := map[string]string{}
	for entry := range strings.SplitSeq(string(data), "\n") {
		name, value, _ := strings.Cut(entry, "=")
		seen[name] = value
		if entry != "" && !slices.Contains(allowed, name) && runtime.GOOS == "linux" {
			t.Errorf("the agent sees %s, which nobody gave it", name)
		}
	}
	if seen["RELAY_ATTEMPT"] != r.req.Mark || seen["RELAY_TASK"] != "T1" || seen["RELAY_RESULT"] != r.req.Result {
		t.Errorf("the agent sees attempt %q, task %q, result %q", seen["RELAY_ATTEMPT"], seen["RELAY_TASK"], seen["RELAY_RESULT"])
	}
	if _, leaked := seen[LeakVariable]; leaked {
		t.Errorf("the agent sees %s of relay's own environment", LeakVariable)
	}
}

// waitFor returns when the file is there, or ctx is done.
func waitFor(ctx context.Context, path string) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(path); err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
