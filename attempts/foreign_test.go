package attempts

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const byHand = `# by hand
epic_id: "20260111-plan"
started_at: "2026-01-11T17:30:00Z"
settings:
  max_attempts_per_task: 5
  timeout_minutes: 15
  notify: [slack, mail] # both
  review: {enabled: true, provider: repoprompt, strict: yes}
task_status: {T1: completed, T2: in_progress, T3: gated}
attempts:
  T1:
    - id: 1
      result: success
      host: mac
      receipt:
        summary: Made it
        tickets:
          - ABC-1
          - text: |
              two

              lines
  T2:
    - {id: 1, result: failure, receipt: {error_category: code_error}}
    - {result: in_progress}
gated_tasks:
  T3: {reason: user_blocked, gated_at: "2026-01-11T18:00:00.123456789Z", by: ada}
relay_status: {state: idle, pid: null, last_exit_code: 1, last_exit_reason: no_runnable_tasks}
playlist: night
`

// withForeign gives an epic a ledger that relay did not write.
func withForeign(t *testing.T, text string) *bench {
	t.Helper()
	b := newBench(t, 7)
	must(t, os.WriteFile(filepath.Join(b.dir, LedgerFile), []byte(text), 0o644))
	return b
}

// What relay has no use for in a ledger that it did not write survives every rewrite, and the file itself is kept.
func TestForeignLedgerSurvives(t *testing.T) {
	t.Parallel()
	b := withForeign(t, byHand)
	check := func(when string, ended bool) {
		t.Helper()
		l := b.read(t).Ledger
		if want := time.Date(2026, 1, 11, 17, 30, 0, 0, time.UTC); !l.StartedAt.Equal(want) {
			t.Errorf("%s: started at %s", when, l.StartedAt)
		}
		if got := l.Settings; got.Extra != "notify: [slack, mail]\n" || got.Review.Extra != "strict: yes\n" {
			t.Errorf("%s: got settings %+v", when, got)
		}
		if got := l.Tasks["T1"].Attempts[0]; got.Extra != "host: mac\n" || !strings.Contains(got.Receipt.Extra, "two\n\n") {
			t.Errorf("%s: got %+v", when, got)
		}
		if got := l.Tasks["T3"].Gate; got == nil || got.Extra != "by: ada\n" {
			t.Errorf("%s: got gate %+v", when, got)
		}
		if got := l.Tasks["T2"]; got.Running() != nil || got.Charges() != 1 || len(got.Attempts) != 2 || got.Attempts[1].Result != ResultInterrupted {
			t.Errorf("%s: got %+v", when, got)
		}
		if want := (RelayStatus{State: "stopped", LastExitCode: 1, LastExitReason: "no_runnable_tasks"}); ended && l.Status != want {
			t.Errorf("%s: got status %+v", when, l.Status)
		}
	}
	check("read", true)
	var told []string
	o := b.options("")
	o.Warn = func(text string) { told = append(told, text) }
	o.Fresh = &Settings{MaxAttemptsPerTask: 3, TimeoutMinutes: 15, Review: ReviewSettings{Enabled: true, Provider: "repoprompt"}}
	s, err := Open(o)
	must(t, err)
	must(t, s.Append(Event{Type: TypeGated, Task: "T4", Gate: &Gate{Reason: UserBlocked}}))
	must(t, s.Close())
	kept := filepath.Join(b.dir, LedgerFile+".foreign")
	want := []string{
		LedgerFile + " was not written by relay; it is taken as it stands",
		"T2 attempt 2 is in progress there, and relay did not start it: it counts as interrupted, uncharged",
		"relay writes " + LedgerFile + " from now on; the old file is kept in " + kept,
		"the configuration overrules these settings of " + LedgerFile + ": max_attempts_per_task: 5",
	}
	if !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
	check("a command has written it", true)
	if text, err := os.ReadFile(kept); err != nil || string(text) != byHand {
		t.Errorf("kept %q, %v", text, err)
	}
	s = b.open(t, run1)
	b.night(t, s)
	must(t, s.Close())
	text, err := os.ReadFile(filepath.Join(b.dir, LedgerFile))
	must(t, err)
	p, err := parseLedger(text)
	if err != nil || len(p.odd) > 0 || p.extra != "playlist: night\n" || p.ledger.Tasks["T1"].Attempts[0].Receipt.Extra != b.read(t).Ledger.Tasks["T1"].Attempts[0].Receipt.Extra {
		t.Errorf("got %v, %+v in\n%s", err, p, text)
	}
	must(t, os.Remove(filepath.Join(b.dir, LedgerFile)))
	l := b.read(t).Ledger
	if l.Settings.Extra == "" || l.StartedAt.Year() != 2026 || l.Tasks["T1"].Attempts[0].Extra == "" {
		t.Errorf("from the log alone: got %+v", l)
	}
}

// Only a ledger that relay did not write is copied, and never over an earlier copy.
func TestForeignCopies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before map[string]string
		want   string // name of the copy; "": none
	}{
		"the first":   {map[string]string{LedgerFile: byHand}, LedgerFile + ".foreign"},
		"no tasks":    {map[string]string{LedgerFile: "version: 2\nmine: 1\n"}, LedgerFile + ".foreign"},
		"the second":  {map[string]string{LedgerFile: byHand, LedgerFile + ".foreign": "older"}, LedgerFile + ".foreign-2"},
		"relay's own": {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 7)
			for file, text := range c.before {
				must(t, os.WriteFile(filepath.Join(b.dir, file), []byte(text), 0o644))
			}
			for range 2 {
				s := b.open(t, "")
				must(t, s.Append(Event{Type: TypeGated, Task: "T4", Gate: &Gate{Reason: UserBlocked}}))
				must(t, s.Close())
			}
			entries, err := os.ReadDir(b.dir)
			must(t, err)
			var made []string
			for _, e := range entries {
				if _, was := c.before[e.Name()]; !was && strings.Contains(e.Name(), ".foreign") {
					made = append(made, e.Name())
				}
			}
			if got := strings.Join(made, " "); got != c.want {
				t.Errorf("copies: %q, want %q", got, c.want)
			}
			if older := c.before[LedgerFile+".foreign"]; older != "" {
				if text, err := os.ReadFile(filepath.Join(b.dir, LedgerFile+".foreign")); err != nil || string(text) != older {
					t.Errorf("the older copy has %q, %v", text, err)
				}
			}
			text, err := os.ReadFile(filepath.Join(b.dir, LedgerFile))
			must(t, err)
			if mine := strings.Contains(c.before[LedgerFile], "mine: 1"); mine && !strings.Contains(string(text), "\nmine: 1\n") {
				t.Errorf("the key is gone after two rewrites:\n%s", text)
			}
		})
	}
}

// Whatever stands as in progress in a ledger of somebody else ends uncharged; relay's own attempts are gone on with.
func TestSetAside(t *testing.T) {
	t.Parallel()
	const status = "epic_id: 20260111-plan\ntask_status: {T1: in_progress}\nattempts:\n  T1:\n"
	for name, c := range map[string]struct {
		text    string
		charges int
		running bool
	}{
		"no base":               {status + "    - {id: 1, result: in_progress}\n", 0, false},
		"a base, and no run":    {status + "    - {id: 1, result: in_progress, base: abc}\n", 0, false},
		"said to be charged":    {status + "    - {id: 1, result: in_progress, charged: true}\n", 0, false},
		"not the last":          {status + "    - {id: 1, result: in_progress}\n    - {id: 2, result: failure}\n", 1, false},
		"only a status":         {"task_status: {T1: in_progress}\n", 0, false},
		"relay's, the log gone": {status + "    - {id: 1, result: in_progress, run: x, base: abc}\nfolded: {run: x, seq: 3}\n", 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := withForeign(t, c.text)
			s := b.open(t, run1)
			rec := s.Task("T1")
			must(t, s.Close())
			if got := rec.Charges(); got != c.charges || (rec.Running() != nil) != c.running {
				t.Errorf("got %d charges, %+v", got, rec)
			}
			for _, a := range rec.Attempts {
				if !c.running && a.Result == ResultInProgress {
					t.Errorf("got %+v", a)
				}
			}
		})
	}
}

// A run of an older relay has taken such an attempt in as it was: this one sets it aside when it reads the log.
func TestSetAsideFromLog(t *testing.T) {
	t.Parallel()
	b := newBench(t, 7)
	s := b.open(t, run1)
	must(t, s.Append(Event{Type: TypeAccepted, Accepted: &Accepted{Tasks: map[string]TaskRecord{"T1": {Attempts: []Attempt{{ID: 1, Result: ResultInProgress}}}}}}))
	rec := s.Task("T1")
	must(t, s.Close())
	if rec.Running() != nil || rec.Attempts[0].Outcome != Stopped {
		t.Errorf("got %+v", rec)
	}
}

func TestIdleStatus(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want RelayStatus
	}{
		"never ran": {"{state: idle, pid: null, last_exit_code: null}", RelayStatus{}},
		"ended":     {"{state: idle, last_exit_code: 0, last_exit_reason: epic_complete}", RelayStatus{State: "stopped", LastExitReason: "epic_complete"}},
		"crashed":   {"{state: running, pid: 7}", RelayStatus{State: "running", PID: 7}},
		"stopped":   {"{state: stopped, last_exit_code: 3}", RelayStatus{State: "stopped", LastExitCode: 3}},
		"none":      {"{}", RelayStatus{}},
	} {
		p, err := parseLedger([]byte("relay_status: " + c.text + "\n"))
		if err != nil || p.ledger.Status != c.want {
			t.Errorf("%s: got %+v, %v", name, p, err)
		}
	}
}

// An edit says what of it has an effect, and what has none.
func TestEffectOfAnEdit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit         func(string) string
		effect, none string
	}{
		"a task":   {replacing("  T2: pending", "  T2: completed"), "T2", ""},
		"settings": {replacing("max_attempts_per_task: 3", "max_attempts_per_task: 9"), "", "settings.max_attempts_per_task: 9"},
		"both": {func(s string) string {
			return replacing("timeout_minutes: 0", "timeout_minutes: 2.5")(replacing("  T4: gated", "  T4: pending")(s))
		}, "T4", "settings.timeout_minutes: 2.5"},
		"the branch": {replacing("branch: relay/plan", "branch: relay/mine"), "", "integration"},
		"times and status": {func(s string) string {
			return replacing("started_at: \"2026", "started_at: \"2025")(replacing("  T4: gated", "  T4: pending")(s))
		}, "T4", "started_at"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := edited(t, c.edit).read(t)
			if got := strings.Join(v.Effective, " "); v.Edit == "" || got != c.effect {
				t.Errorf("effect: got %q, want %q", got, c.effect)
			}
			if got := strings.Join(v.Ineffective, ", "); got != c.none {
				t.Errorf("no effect: got %q, want %q", got, c.none)
			}
		})
	}
}

// Times of gates are written in milliseconds, as all others.
func TestGatedAt(t *testing.T) {
	t.Parallel()
	b := newBench(t, 7)
	s := b.open(t, run1)
	at := time.Date(2026, 1, 11, 18, 0, 0, 123456789, time.UTC)
	stop := failed("T2", 1, "x")
	stop.Ended.Gate = &Gate{Reason: MaxAttempts, At: at}
	must(t, s.Append(started("T2", 1), stop, Event{Type: TypeGated, Task: "T4", Gate: &Gate{Reason: UserBlocked, At: at}}))
	must(t, s.Close())
	text, err := os.ReadFile(filepath.Join(b.dir, LedgerFile))
	must(t, err)
	if strings.Count(string(text), `gated_at: "2026-01-11T18:00:00.123Z"`) != 2 {
		t.Errorf("got\n%s", text)
	}
	if _, err := os.Stat(filepath.Join(b.dir, LedgerFile+".foreign")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a copy of relay's own ledger: %v", err)
	}
}

// A ledger whose states or gates cannot be read is refused with the line: a task that a person gated must not run.
func TestUnsureLedger(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"a state twice":   {"version: 2\nepic_id: 20260111-plan\ntask_status:\n  T1: gated\n  T2: pending\n  T1: pending\n", "line 6 has T1 a second time"},
		"a gate twice":    {"version: 2\nepic_id: 20260111-plan\ntask_status: {T1: gated}\ngated_tasks:\n  T1: {reason: user_blocked}\n  T1: {reason: tampered}\n", "line 6 has T1 a second time"},
		"gates twice":     {"version: 2\nepic_id: 20260111-plan\ngated_tasks:\n  T1: {reason: user_blocked}\ntask_status: {T1: gated}\ngated_tasks: {}\n", "line 6 has gated_tasks a second time"},
		"a gate's text":   {"version: 2\nepic_id: 20260111-plan\ntask_status: {T2: pending}\ngated_tasks: {T1: wait for legal}\n", "line 4: T1 cannot be read"},
		"a list of tasks": {"version: 2\nepic_id: 20260111-plan\ntask_status: [T1]\n", "line 3 is not a map of tasks"},
	} {
		b := newBench(t, 3)
		must(t, os.RemoveAll(filepath.Join(b.dir, RunsDir)))
		must(t, os.WriteFile(filepath.Join(b.dir, LedgerFile), []byte(strings.ReplaceAll(c.text, "20260111-plan", b.e.ID)), 0o600))
		faults, err := Validate(b.options(""))
		if err != nil || len(faults) != 1 || !strings.Contains(faults[0].Message, c.want) {
			t.Errorf("%s: validate: %v, %v", name, faults, err)
		}
		if s, err := Open(b.options(run1)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: open: %v", name, err)
			if err == nil {
				must(t, s.Close())
			}
		}
		_, err = Repair(b.options(""))
		must(t, err)
		s := b.open(t, run2)
		if rec := s.Task("T1"); rec.Gate == nil && name != "a list of tasks" {
			t.Errorf("%s: repair loses the gate", name)
		}
		must(t, s.Close())
	}
}

// A state that relay does not know, in a ledger that relay wrote, is refused: it would count as pending.
func TestUnknownState(t *testing.T) {
	t.Parallel()
	b := newBench(t, 3)
	s := b.open(t, run1)
	must(t, s.Append(Event{Type: TypeGated, Task: "T1", Gate: &Gate{Reason: UserBlocked, At: clock()()}}))
	must(t, s.Close())
	file := filepath.Join(b.dir, LedgerFile)
	text, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, []byte(strings.Replace(string(text), "T1: gated", "T1: done", 1)), 0o600))
	faults, err := Validate(b.options(""))
	must(t, err)
	if len(faults) != 1 || !strings.Contains(faults[0].Message, `T1 cannot be "done"; states are pending`) ||
		!strings.Contains(faults[0].Message, "-  T1: gated\n+  T1: done\n   T2: pending") {
		t.Errorf("got %v", faults)
	}
}
