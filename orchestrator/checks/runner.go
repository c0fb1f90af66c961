package checks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/engine"
	"relay/orchestrator/relayfiles"
	"relay/reanchor/git"
	"relay/runners"
	"relay/runners/command"
	"relay/runners/process"
	"relay/runners/sandbox"
)

// Runner runs the acceptance commands of a run.
type Runner struct {
	Options *engine.LocalOptions
	Home    *git.Repo // the user's own checkout
	Emit    func(engine.Event)
	Now     func() time.Time
	Began   time.Time                                    // what is newer in the user's checkout may be an agent's
	Env     func(a engine.Attempt, ofEpic bool) []string // of a command; ofEpic: it is not about a task

	begin          sync.Once
	turns          *turns
	reportedBroken sync.Map // checks of the epic that cannot run, and were reported
	flaked         sync.Map // by task and check: flakes
	passed         sync.Map // checks that have passed on a base, by name
}

// Location is where checks are run, and for which attempt.
type Location struct {
	Attempt engine.Attempt
	Logs    string                      // folder
	Dir     string                      // root of the checkout
	Commit  string                      // what the checkout has; "": something else
	Env     func(env []string) []string // adds variables of the checkout's own; nil: it has none
	Allow   []string                    // of what the sandbox refuses, for a trial; nil: it is none
}

// Run runs one check, the user's own text. The error is a fault of relay's own machine.
func (r *Runner) Run(ctx context.Context, at Location, check Check) (Result, error) {
	r.begin.Do(func() { r.turns = newTurns(r.Options.Limits.ChecksAtOnce, r.Options.State) })
	leave, err := r.turns.take(ctx, ctx, false)
	if err != nil {
		return Result{Unknown: true}, nil //nolint:nilerr // the run is stopped
	}
	result, err := r.runNow(ctx, at, check)
	result.Beside = leave()
	return result, err
}

func (r *Runner) runNow(ctx context.Context, at Location, check Check) (Result, error) {
	switch check.Occasion {
	case "":
		r.Emit(engine.Event{Task: at.Attempt.Task.ID, Kind: engine.KindChecking, Detail: runners.Event{Text: check.Name}})
	case OnMerged:
		r.Emit(engine.Event{Task: at.Attempt.Task.ID, Kind: engine.KindChecking, Detail: runners.Event{Text: check.Name + " on the merged tree"}})
	}
	log := filepath.Join(at.Logs, check.Key()+check.Occasion+".log")
	if err := relayfiles.MakeRoom(r.Options.Dir, log); err != nil {
		return Result{}, err
	}
	env := r.Env(at.Attempt, check.OfEpic)
	if at.Env != nil {
		env = at.Env(env)
	}
	if strings.HasSuffix(check.Occasion, OnAgain) || check.Occasion == OnOld || check.Occasion == OnEmptied {
		env = uncached(env)
	}
	start := r.Now()
	report, err := command.RunShell(ctx, r.Options.Supervisor, command.ShellRequest{
		Mark: at.Attempt.Mark(), Dir: at.Dir, Run: check.Run, Log: log, Env: env, Allow: at.Allow,
		Wall: wall(r, check), StopGrace: r.Options.Limits.StopGrace, Cap: r.Options.Limits.OutputCap, DiskFloor: r.Options.Limits.DiskFloor,
	})
	if err != nil {
		return Result{}, err
	}
	run := attempts.CheckRun{
		Name: check.Name, ExitCode: report.Exit.Code, Seconds: float64(r.Now().Sub(start).Milliseconds()) / 1000,
		Log: plaintext.Relative(r.Options.Dir, log), SHA256: LogSum(log), Phase: check.Phase,
	}
	if report.Exit.Code != 0 {
		run.Tail, run.Refused = report.Tail, strings.Fields(report.Exit.Refused)
	}
	tests := CountTests(report.Output)
	run.FailedTests, run.RanTests = tests.Failed, tests.Ran
	result := Result{
		Run: run, WasHeld: at.Attempt.WasHeld, Exit: report.Exit, TimedOut: report.TimedOut, Flooded: report.Flooded, Unknown: Unknown(report),
		NoTest: ranNoTest(report.Output),
	}
	if !result.Passed() && !result.Unknown && result.Flooded == "" {
		result.Said = Said(log)
	}
	return result, nil
}

// uncached has Go run tests again whose results it knows. GOFLAGS in an environment replaces the value that go env -w has written.
func uncached(env []string) []string {
	env = slices.Clone(env)
	at := slices.IndexFunc(env, func(entry string) bool { return strings.HasPrefix(entry, "GOFLAGS=") })
	if at < 0 {
		at, env = len(env), append(env, "GOFLAGS=")
		folder, _ := os.UserConfigDir()
		written, _ := os.ReadFile(filepath.Join(folder, "go", "env")) // most often there is none
		for line := range strings.Lines(string(written)) {
			if strings.HasPrefix(line, "GOFLAGS=") {
				env[at] = strings.TrimSpace(line)
			}
		}
	}
	env[at] += " -count=1"
	return env
}

// Again repeats a check that has failed, alone if no other check takes longer to end than this one has taken: one failure may be a flake,
// or come from another check. A check that passes then, and every time, counts as passed.
func (r *Runner) Again(ctx context.Context, at Location, check Check, first Result) (Result, error) {
	took := time.Duration(first.Run.Seconds * float64(time.Second))
	wait, cancel := context.WithTimeout(ctx, max(took, time.Second))
	defer cancel()
	leave, err := r.turns.take(ctx, wait, true)
	if err != nil {
		first.Crowded = true
		if leave, err = r.turns.take(ctx, ctx, false); err != nil {
			return first, nil // the run is stopped
		}
	}
	defer leave()
	check.Occasion += OnAgain
	var last Result
	for n := 0; n == 0 || n < passes && took < longCheck; n++ {
		last, err = r.runNow(ctx, at, check)
		if err != nil || ctx.Err() != nil || !last.Passed() {
			return first, err
		}
	}
	if first.Beside {
		r.turns.collided.Add(1)
	}
	last.Flaky = &first
	return last, nil
}

// Flaky says of a check that has passed how it failed before it was repeated; "" if it did not.
func (r *Runner) Flaky(check Check, passed *Result) string {
	if passed.Flaky == nil {
		return ""
	}
	return r.Why(check, *passed.Flaky) + "; repeated alone it passed"
}

// flakes are the times at which one check was flaky on work of one task, by its own and not by what ran beside it.
type flakes struct {
	times int
	last  *Result // how it failed then: seen again, it is the same flake
	why   string
}

// FlakesAgain returns what Flaky says of the last flake of a check that has passed, if it was flaky more than once in this run on work of
// the task. The attempts at a task come one after another.
func (r *Runner) FlakesAgain(task string, check Check, passed *Result) []string {
	known, _ := r.flaked.LoadOrStore(task+"\x00"+check.Key(), &flakes{})
	seen := known.(*flakes)
	if first := passed.Flaky; first != nil && first != seen.last && !first.Beside {
		seen.times, seen.last, seen.why = seen.times+1, first, r.Flaky(check, passed)
	}
	if seen.times < 2 {
		return nil
	}
	return []string{seen.why}
}

// Said returns the lines of a command's log that say why it failed; none when the log cannot be read.
func Said(log string) []string {
	f, err := runners.OpenRegular(log)
	if err != nil {
		return nil
	}
	defer f.Close()
	lines, _ := plaintext.ReadTelling(f) // what was read says something too
	return lines
}

// wall is how long a check may take.
func wall(r *Runner, check Check) time.Duration {
	if check.Timeout > 0 {
		return check.Timeout
	}
	return r.Options.Limits.Check
}

// Why returns text that says how a check that does not pass ended, with the lines of its output that say why.
func (r *Runner) Why(check Check, s Result) string {
	return why(r, check, s, process.Exit{Code: s.Run.ExitCode}, s.Said)
}

// WhyNow is Why for a check that was just run: its signal is known too.
func (r *Runner) WhyNow(check Check, s Result) string { return why(r, check, s, s.Exit, s.Said) }

func why(r *Runner, check Check, s Result, exit process.Exit, said []string) string {
	how := check.Name + ": " + runners.DescribeExit(exit)
	if s.TimedOut {
		how = check.Name + " " + TooMuch(s.Flooded, wall(r, check))
	}
	if words := sandbox.Words(s.Run.Refused, s.Refused, nil); words != "" {
		said = append(slices.Clip(said), words)
	}
	return With(how, said)
}

// With adds to text that says how a command ended the lines of its output that say why.
func With(how string, said []string) string {
	if len(said) == 0 {
		return how
	}
	return how + ": " + strings.Join(said, "; ")
}

// Briefly is Why with the one line that says most, when there are several; else it is "".
func (r *Runner) Briefly(check Check, s Result) string {
	if len(s.Said) < 2 {
		return ""
	}
	return why(r, check, s, process.Exit{Code: s.Run.ExitCode}, []string{plaintext.MostTelling(s.Said)})
}

// TooMuch returns text that says which limit a check has passed.
func (r *Runner) TooMuch(check Check, s Result) string { return TooMuch(s.Flooded, wall(r, check)) }

// LogSum returns the SHA-256 of a log, in hex; "" when it cannot be read.
func LogSum(path string) string {
	f, err := runners.OpenRegular(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}
