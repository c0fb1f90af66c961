package attempts

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// edited gives a finished night whose ledger was changed by edit.
func edited(t *testing.T, edit func(string) string) *bench {
	t.Helper()
	b := newBench(t, 7)
	s := b.open(t, run1)
	b.night(t, s)
	must(t, s.Append(Event{Type: TypeAttemptEnded, Task: "T3", Attempt: 1, Ended: &Ended{Result: ResultInterrupted, Outcome: Stopped}}))
	must(t, s.Close())
	b.edit(t, edit)
	return b
}

func (b *bench) edit(t *testing.T, edit func(string) string) {
	t.Helper()
	path := filepath.Join(b.dir, LedgerFile)
	text, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, []byte(edit(string(text))), 0o644))
}

func replacing(old, new string) func(string) string {
	return func(s string) string {
		if !strings.Contains(s, old) {
			panic("not in the ledger: " + old)
		}
		return strings.Replace(s, old, new, 1)
	}
}

func TestForeignEdit(t *testing.T) {
	t.Parallel()
	b := edited(t, replacing("  T4: gated", "  T4: pending"))
	before, err := os.ReadFile(filepath.Join(b.dir, LedgerFile))
	must(t, err)
	_, err = Open(b.options(run2))
	var edit *EditedError
	if !errors.As(err, &edit) || !strings.Contains(edit.Diff, "-  T4: gated\n+  T4: pending\n") {
		t.Fatalf("got %v", err)
	}
	if v := b.read(t); v.Edit != edit.Diff || v.Counts[Gated] != 1 {
		t.Errorf("got %q, %v", v.Edit, v.Counts)
	}
	after, err := os.ReadFile(filepath.Join(b.dir, LedgerFile))
	must(t, err)
	if string(before) != string(after) {
		t.Error("the ledger was written to")
	}
	faults, err := Validate(b.options(""))
	if err != nil || len(faults) != 1 || faults[0].File != LedgerFile {
		t.Errorf("got %v, %v", faults, err)
	}

	must(t, Accept(b.options("")))
	v := b.read(t)
	if v.Edit != "" || v.Counts[Gated] != 0 {
		t.Errorf("after accept: got %q, %v", v.Edit, v.Counts)
	}
	s := b.open(t, run2)
	if rec := s.Task("T4"); rec.Gate != nil {
		t.Errorf("got %+v", rec)
	}
	must(t, s.Close())
}

func TestForeignEdits(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		edit func(string) string
		free bool // nobody has to accept it
		want func(*Ledger) bool
	}{
		"comments and spaces": {func(s string) string { return "# mine\n" + strings.ReplaceAll(s, "\n\n", "\n") }, true, func(l *Ledger) bool { return true }},
		"order of tasks":      {replacing("  T1: completed\n  T2: pending\n", "  T2: pending\n  T1: completed\n"), true, nil},
		"quotes":              {replacing("summary: \"made T1\"", "summary: made T1"), true, nil},
		"task completed":      {replacing("  T2: pending", "  T2: completed"), false, func(l *Ledger) bool { return l.Tasks["T2"].Completed && len(l.Tasks["T2"].Attempts) == 1 }},
		"task gated":          {replacing("  T2: pending", "  T2: gated"), false, func(l *Ledger) bool { return l.Tasks["T2"].Gate.Reason == UserBlocked }},
		"completed undone":    {replacing("  T1: completed", "  T1: pending"), false, func(l *Ledger) bool { return !l.Tasks["T1"].Completed }},
		"receipt":             {replacing("made T1", "made something else"), false, func(l *Ledger) bool { return l.Tasks["T1"].Attempts[0].Receipt.Summary == "made something else" }},
		"settings":            {replacing("max_attempts_per_task: 3", "max_attempts_per_task: 9"), false, nil},
		"branch to land on":   {replacing("branch: relay/plan", "branch: relay/mine"), false, func(l *Ledger) bool { return l.Integration == Integration{Branch: "relay/plan", From: "main"} }},
		"free-text category": {replacing("error_category: test_failure", `error_category: "] | .task_status.T2 = \"completed\""`), false, func(l *Ledger) bool {
			return l.Tasks["T2"].Attempts[0].Receipt.ErrorCategory == CodeError && !l.Tasks["T2"].Completed
		}},
		"ungated by hand":       {replacing("  T4: gated", "  T4: in_progress"), false, func(l *Ledger) bool { return l.Tasks["T4"].Gate == nil }},
		"unknown task":          {replacing("  T1: completed", "  T1: completed\n  X9: gated"), false, func(l *Ledger) bool { return l.Tasks["X9"].Gate != nil }},
		"a record of odd types": {replacing("charged: true", "charged: [1, 2]"), false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := edited(t, tc.edit)
			s, err := Open(b.options(run2))
			if tc.free {
				must(t, err)
				must(t, s.Close())
				return
			}
			if !errors.As(err, new(*EditedError)) {
				t.Fatalf("got %v", err)
			}
			must(t, Accept(b.options("")))
			s = b.open(t, run2)
			must(t, s.Append(started("T7", 1)))
			must(t, s.Close())
			if l := b.read(t).Ledger; tc.want != nil && !tc.want(l) {
				t.Errorf("got %+v", l)
			}
		})
	}
}

// An edit of an older snapshot does not undo what has happened since.
func TestAcceptKeepsLaterAttempts(t *testing.T) {
	t.Parallel()
	b := newBench(t, 7)
	s := b.open(t, run1)
	b.night(t, s)
	must(t, s.Flush())
	old, err := os.ReadFile(filepath.Join(b.dir, LedgerFile))
	must(t, err)
	must(t, s.Append(started("T2", 2), failed("T2", 2, "again")))
	must(t, s.Append(started("T5", 1), succeeded("T5", 1)))
	must(t, s.Close())
	b.edit(t, func(string) string { return replacing("exit 1", "exit 2")(string(old)) })
	must(t, Accept(b.options("")))
	l := b.read(t).Ledger
	rec := l.Tasks["T2"]
	if len(rec.Attempts) != 2 || !strings.HasPrefix(rec.Attempts[0].Receipt.ErrorSummary, "exit 2") || rec.Attempts[1].Receipt.ErrorSummary != "again" {
		t.Errorf("got %+v", rec)
	}
	if !l.Tasks["T5"].Completed {
		t.Error("T5 is undone")
	}
}

func TestLedgerThatIsNoLedger(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\x00", "version: [", "version: 2\n---\nversion: 2\n", "just text", strings.Repeat("[", 20000), "a: &a [1]\nb: *c\n"} {
		b := edited(t, func(string) string { return text })
		_, err := Open(b.options(run2))
		if !errors.As(err, new(*EditedError)) {
			t.Errorf("%.20q: got %v", text, err)
		}
		if v := b.read(t); v.Counts[Completed] != 1 || v.Wrong == nil {
			t.Errorf("%.20q: got %+v", text, v)
		}
		if err := Accept(b.options("")); err == nil {
			t.Errorf("%.20q: accepted", text)
		}
		r, err := Repair(b.options(""))
		if err != nil || len(r.Faults) != 1 {
			t.Errorf("%.20q: got %+v, %v", text, r, err)
		}
		kept, err := os.ReadFile(filepath.Join(b.dir, r.Copy, LedgerFile))
		if err != nil || string(kept) != text {
			t.Errorf("%.20q: got copy %q, %v", text, kept, err)
		}
		must(t, b.open(t, run2).Close())
	}
}

func TestNewerVersionsAreRefused(t *testing.T) {
	t.Parallel()
	b := edited(t, replacing("version: 2", "version: 3"))
	var newer *VersionError
	if _, err := Open(b.options(run2)); !errors.As(err, &newer) || newer.Version != 3 || newer.Path != LedgerFile {
		t.Errorf("got %v", err)
	}
	b = edited(t, func(s string) string { return s })
	writeLine(t, b, run2, Event{Seq: 99, Type: TypeRunStarted, RunStarted: &RunStarted{Version: LogVersion + 1}})
	if _, err := Open(b.options(run3)); !errors.As(err, &newer) || newer.Version != LogVersion+1 {
		t.Errorf("got %v", err)
	}
	if _, err := Read(b.dir, b.e, b.g); !errors.As(err, &newer) {
		t.Errorf("got %v", err)
	}
}

// writeLine appends an event to a run's log as it is.
func writeLine(t *testing.T, b *bench, run string, e Event) {
	t.Helper()
	text, _, err := encode(nil, e)
	must(t, err)
	path := filepath.Join(b.dir, EventsPath(run))
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	must(t, err)
	_, err = f.Write(text)
	must(t, errors.Join(err, f.Close()))
}

// Other programs' ledgers, and our own after somebody has cleaned up, are taken as they are.
func TestLedgerWithoutLogs(t *testing.T) {
	t.Parallel()
	b := edited(t, func(s string) string { return s })
	want := b.read(t)
	must(t, os.RemoveAll(filepath.Join(b.dir, RunsDir)))
	same := func(when string) {
		t.Helper()
		v := b.read(t)
		for id, rec := range want.Ledger.Tasks {
			if !sameJSON(rec, v.Ledger.Tasks[id]) {
				t.Errorf("%s: task %s: got %+v, want %+v", when, id, v.Ledger.Tasks[id], rec)
			}
		}
		if v.Ledger.Folded.Seq < want.Ledger.Folded.Seq || v.Edit != "" || !v.Ledger.StartedAt.Equal(want.Ledger.StartedAt) {
			t.Errorf("%s: got %+v", when, v.Ledger)
		}
	}
	same("read")
	must(t, b.open(t, run2).Close())
	same("after open")
	must(t, os.Remove(filepath.Join(b.dir, LedgerFile)))
	same("without the ledger")
	must(t, b.open(t, "").Close())
	same("after another open")
	if v := b.read(t); len(v.Warnings) > 0 {
		t.Errorf("got %q", v.Warnings)
	}
	faults, err := Validate(b.options(""))
	if err != nil || len(faults) > 0 {
		t.Errorf("got %v, %v", faults, err)
	}
}

func TestSomeLogsMissing(t *testing.T) {
	t.Parallel()
	two := func() *bench {
		b := edited(t, func(s string) string { return s })
		s := b.open(t, run2)
		must(t, s.Append(started("T5", 1), succeeded("T5", 1)))
		must(t, s.Close())
		return b
	}
	b := two()
	must(t, os.RemoveAll(filepath.Join(b.dir, RunsDir, run1)))
	must(t, b.open(t, "").Close())
	if v := b.read(t); v.Counts[Completed] != 2 || len(v.Warnings) > 0 {
		t.Errorf("got %v, %q", v.Counts, v.Warnings)
	}
	b = two()
	must(t, os.RemoveAll(filepath.Join(b.dir, RunsDir, run1)))
	must(t, os.Remove(filepath.Join(b.dir, LedgerFile)))
	var damage *DamageError
	if _, err := Open(b.options(run3)); !errors.As(err, &damage) {
		t.Errorf("got %v", err)
	}
	if r, err := Repair(b.options("")); err != nil || len(r.Faults) == 0 {
		t.Errorf("got %+v, %v", r, err)
	}
	if v := b.read(t); v.Counts[Completed] != 1 {
		t.Errorf("got %v", v.Counts)
	}

	// Where neither the ledger nor the end of the log can be trusted, the events before the damage count.
	b = two()
	must(t, os.RemoveAll(filepath.Join(b.dir, RunsDir, run1)))
	for _, name := range []string{EventsPath(run2), LedgerFile} {
		file := filepath.Join(b.dir, name)
		text, err := os.ReadFile(file)
		must(t, err)
		lines := strings.SplitAfter(string(text), "\n")
		must(t, os.WriteFile(file, []byte(strings.Join(slices.Insert(lines, len(lines)-3, "# damage\n"), "")), 0o600))
	}
	if r, err := Repair(b.options("")); err != nil || len(r.Faults) == 0 {
		t.Errorf("got %+v, %v", r, err)
	}
	if v := b.read(t); v.Counts[InProgress] != 1 {
		t.Errorf("got %v", v.Counts)
	}
}

const version1 = `version: 1
epic_id: "20260111-plan"
started_at: "2026-01-11T17:30:00Z"
ended_at: null
foreign_key: {kept: [1, 2]}
settings:
  max_attempts_per_task: 3
  timeout_minutes: 15
  review: {enabled: true, provider: repoprompt}
task_status: {T1: completed, T2: pending, T3: gated, T4: in_progress, T5: strange}
attempts:
  T1:
    - id: 1
      started_at: "2026-01-11T17:31:00Z"
      ended_at: "2026-01-11T17:35:00Z"
      result: success
      receipt:
        summary: "Created migration and model"
        files_changed: [file1.rb, file2.rb]
        learning: "migrations first"
        odd: {x: 1}
  T2:
    - id: 1
      started_at: "..."
      result: failure
      receipt:
        error_category: Database not migrated; run it
        error_summary: no table
        quality_gate_verdict: NEEDS CHANGES
  T4:
    - started_at: "2026-01-11T17:40:00Z"
      result: in_progress
gated_tasks:
  T3:
    reason: "user_blocked"
    gated_at: "..."
relay_status: {state: running, pid: 7, last_exit_code: null}
`

func TestVersion1(t *testing.T) {
	t.Parallel()
	b := newBench(t, 7)
	must(t, os.WriteFile(filepath.Join(b.dir, LedgerFile), []byte(version1), 0o644))
	check := func(when string) {
		t.Helper()
		l := b.read(t).Ledger
		a := l.Tasks["T2"].Attempts[0]
		if a.Receipt.ErrorCategory != CodeError || a.Receipt.ErrorSummary != "Database not migrated; run it: no table" || a.Outcome != Review || !a.Charged {
			t.Errorf("%s: got %+v", when, a)
		}
		if got := l.Tasks["T1"].Attempts[0].Receipt; !l.Tasks["T1"].Completed || !slices.Equal(got.FilesChanged, []string{"file1.rb", "file2.rb"}) || got.Learning != "migrations first" {
			t.Errorf("%s: got %+v", when, l.Tasks["T1"])
		}
		if l.Tasks["T3"].Gate == nil || l.Tasks["T4"].Running() != nil || l.StatusOf(b.g, "T5") != Pending {
			t.Errorf("%s: got %+v", when, l.Tasks)
		}
		if l.StartedAt.IsZero() {
			t.Errorf("%s: the start is gone", when)
		}
	}
	check("read")
	s := b.open(t, run1)
	check("open")
	must(t, s.Append(started("T6", 1)))
	must(t, s.Close())
	check("closed")
	text, err := os.ReadFile(filepath.Join(b.dir, LedgerFile))
	must(t, err)
	if !strings.Contains(string(text), "foreign_key:") || !strings.HasPrefix(string(text), "version: 2\n") {
		t.Errorf("got\n%s", text)
	}
	must(t, os.Remove(filepath.Join(b.dir, LedgerFile)))
	check("from the log alone")
}

func TestEpicOfAnotherName(t *testing.T) {
	t.Parallel()
	b := edited(t, func(s string) string { return s })
	other := *b.e
	other.ID = "20270101-other"
	o := b.options(run2)
	o.Epic = &other
	var wrong *EpicError
	if _, err := Open(o); !errors.As(err, &wrong) || wrong.Have != b.e.ID {
		t.Errorf("got %v", err)
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	b := newBench(t, 3)
	if err := Create(b.dir, b.e, Settings{}, clock()()); !errors.Is(err, ErrExists) {
		t.Errorf("got %v", err)
	}
	if v := b.read(t); v.Counts[Pending] != 3 || v.Ledger.Settings.MaxAttemptsPerTask != 3 ||
		v.Ledger.StartedAt.IsZero() || len(v.Warnings) > 0 {
		t.Errorf("got %+v", v)
	}
	if _, err := Read(filepath.Join(b.dir, "none"), b.e, b.g); !errors.Is(err, ErrNoLedger) {
		t.Errorf("got %v", err)
	}
	must(t, os.Remove(filepath.Join(b.dir, LedgerFile)))
	o := b.options(run1)
	if _, err := Open(o); !errors.Is(err, ErrNoLedger) {
		t.Errorf("got %v", err)
	}
	o.Fresh = &Settings{MaxAttemptsPerTask: 5}
	s, err := Open(o)
	must(t, err)
	if v := b.read(t); v.Counts[Pending] != 3 || v.Ledger.Settings.MaxAttemptsPerTask != 5 || v.Ledger.StartedAt.IsZero() {
		t.Errorf("got %+v", v)
	}
	must(t, os.WriteFile(filepath.Join(b.dir, LedgerFile), []byte("mine"), 0o600))
	if names, err := s.Restore(); err != nil || len(names) != 1 {
		t.Errorf("restored %v, %v", names, err)
	}
	must(t, s.Append(started("T1", 1)))
	must(t, s.Close())
	if v := b.read(t); v.Counts[InProgress] != 1 || len(v.Warnings) > 0 {
		t.Errorf("got %+v", v)
	}
}
