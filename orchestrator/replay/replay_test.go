package replay_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/replay"
)

var evening = time.Date(2026, 1, 11, 22, 0, 0, 0, time.UTC)

const run = "20260111T220000Z-0000"

// log is an event log as it is made by hand.
type log []attempts.Event

func (l *log) add(minute float64, e attempts.Event) {
	e.Run, e.Seq, e.At = run, uint64(len(*l)+1), evening.Add(time.Duration(minute*float64(time.Minute)))
	*l = append(*l, e)
}

// attempt adds an attempt that costs a dollar.
func (l *log) attempt(task string, number int, from, to float64, o attempts.Outcome) {
	l.add(from, attempts.Event{Type: attempts.TypeAttemptStarted, Task: task, Attempt: number, Started: &attempts.Started{Runner: "claude"}})
	ended := attempts.Ended{Result: attempts.ResultFailure, Outcome: o, Usage: &attempts.Usage{CostUSD: 1}}
	if o == attempts.Success {
		ended.Result = attempts.ResultSuccess
	}
	if o == attempts.Tamper {
		ended.Gate = &attempts.Gate{Reason: attempts.TamperedWith}
	}
	l.add(to, attempts.Event{Type: attempts.TypeAttemptEnded, Task: task, Attempt: number, Ended: &ended})
}

const plan = `version: 2
id: 20260111-night
title: night
tasks:
  A: {title: a}
  B: {title: b, depends_on: [A]}
  C: {title: c}
  D: {title: d}
  E: {title: e, depends_on: [D]}
  F: {title: f}
`

func night(t *testing.T) *replay.Night {
	t.Helper()
	e, err := epic.Read("epic.yml", []byte(plan))
	if err != nil {
		t.Fatal(err)
	}
	g, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	var l log
	l.add(0, attempts.Event{Type: attempts.TypeRunStarted, RunStarted: &attempts.RunStarted{Jobs: 1}})
	l.attempt("A", 1, 0, 10, attempts.Success)
	l.attempt("B", 1, 10, 12, attempts.Quota)
	l.attempt("B", 2, 42, 52, attempts.Check)
	l.attempt("B", 3, 52, 62, attempts.Success)
	l.attempt("C", 1, 62, 92, attempts.Success)
	l.attempt("D", 1, 92, 97, attempts.Tamper)
	l.add(100, attempts.Event{Type: attempts.TypeRunStopped, RunStopped: &attempts.RunStopped{Reason: "deadline"}})
	n, err := replay.ReadNight(run, e, g, func(f func(attempts.Event) error) error {
		for _, e := range l {
			if err := f(e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The same night with more jobs is shorter by what can run at once: A, then B twice, beside C; a task that fails keeps what waits for
// it from being done, and one that was not begun takes as long as the mean of the others.
func TestWhatIf(t *testing.T) {
	t.Parallel()
	w, err := replay.ParseWhatIf("jobs=3, runners=codex,gemini")
	if err != nil {
		t.Fatal(err)
	}
	p, err := night(t).Plan(w)
	if err != nil {
		t.Fatal(err)
	}
	want := `run 20260111T220000Z-0000: 100.0 min, 6.00 USD, 3 completed, 1 job
simulated with its own settings: 85.0 min, 6.00 USD, 4 completed, 1 job
simulated with these settings: 30.0 min, 6.00 USD, 4 completed, 3 jobs, codex, gemini
critical path, recorded: A, B, 32.0 min; planned: A, B, 30.0 min
not known: other outcomes than those recorded, and usage limits that would be reached earlier or later
not known: 1 attempt that failed through a provider, or did not come to an end, are left out: 2 minutes
not known: these came to no end in that night, and are planned with the mean of the others: E, F
not known: never run with codex or gemini, and planned with their recorded times and costs: A, B, C, D`
	if got := strings.Join(p.Lines(), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestWhatIfIsRefused(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"jobs=0":      "jobs=0 is not a number from 1 to 1000",
		"jobs=many":   "jobs=many is not a number from 1 to 1000",
		"jobs=2,4":    `--what-if cannot change "jobs"`,
		"until=7":     `--what-if cannot change "until"`,
		"codex":       `--what-if cannot change "codex"`,
		"":            `--what-if "" has a key or a value that is empty`,
		"runners=a,,": `--what-if "runners=a,," has a key or a value that is empty`,
	} {
		_, err := replay.ParseWhatIf(written)
		var wrong *replay.SettingError
		if !errors.As(err, &wrong) || err.Error() != want || wrong.Hint != "the keys are jobs and runners: relay replay --what-if jobs=4,runners=codex,claude" {
			t.Errorf("%q: got %v, want %s", written, err, want)
		}
	}
}

func TestManyDifferences(t *testing.T) {
	t.Parallel()
	r := replay.New(run)
	for range 60 {
		r.Made(replay.Start)
		r.Differs(replay.Difference{Decision: replay.Start, At: evening, Task: "T1", Then: "one", Now: "other"})
	}
	r.Cannot(replay.Wait, "", "why")
	r.Cannot(replay.End, "T1", "why")
	r.Cannot(replay.End, "T1", "why")
	lines := r.Lines(func(at time.Time) string { return at.Format(time.TimeOnly) })
	got := strings.Join([]string{lines[0], lines[50], lines[51], lines[52], lines[53]}, "\n")
	want := `60 of 60 decisions of run 20260111T220000Z-0000 differ:
  22:00:00  start of T1: then one; now other
  … and 10 more; --json has all of them
cannot be checked: 1 waits: why
cannot be checked: 2 ends of attempts (T1): why`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
