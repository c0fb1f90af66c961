package attempts

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// nightOfLanding leaves T1 landed, T2 about to land when relay is killed, T3 running, and a snapshot that knows it all.
func nightOfLanding(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, 7)
	s := b.open(t, run1)
	seal := started("T2", 1)
	seal.Started.Sealed = "5ea1ed"
	ended := succeeded("T1", 1)
	ended.Ended.Landed = "fed987"
	must(t, s.Append(Event{Type: TypeRunStarted, RunStarted: &RunStarted{PID: 42, Integration: "relay/x", Branch: "main", Base: "abc123", Sealed: "a11"}}))
	must(t, s.Append(started("T1", 1), seal, started("T3", 1), landing("T1", 1), ended))
	must(t, s.Append(landing("T2", 1)))
	must(t, s.Close())
	return b
}

// saysLanding looks for what the next run and relay finish need.
func saysLanding(t *testing.T, when string, l *Ledger) {
	t.Helper()
	if want := (Integration{Branch: "relay/x", From: "main", Base: "abc123"}); l.Integration != want {
		t.Errorf("%s: got %+v, want %+v", when, l.Integration, want)
	}
	if a := l.Tasks["T1"].Attempts[0]; a.Landed != "fed987" || a.Landing != nil || !l.Tasks["T1"].Completed {
		t.Errorf("%s: got %+v", when, a)
	}
	rec := l.Tasks["T2"]
	a := rec.Running()
	if a == nil || a.Sealed != "5ea1ed" || a.Landed != "" || !reflect.DeepEqual(a.Landing, landing("T2", 1).Landing) || rec.Completed {
		t.Errorf("%s: got %+v", when, rec)
	}
	if a := l.Tasks["T3"].Running(); a == nil || a.Landing != nil {
		t.Errorf("%s: got %+v", when, a)
	}
}

func TestLandingSurvives(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string][]string{
		"nothing lost":    nil,
		"the ledger lost": {LedgerFile},
		"the logs lost":   {RunsDir},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := nightOfLanding(t)
			for _, path := range lose {
				must(t, os.RemoveAll(filepath.Join(b.dir, path)))
			}
			saysLanding(t, "read", b.read(t).Ledger)
			s := b.open(t, run2)
			s.View(func(l *Ledger) { saysLanding(t, "open", l) })
			must(t, s.Append(Event{Type: TypeRunStarted, RunStarted: &RunStarted{Integration: "relay/x", Branch: "other", Base: "999"}}))
			must(t, s.Close())
			saysLanding(t, "after another run", b.read(t).Ledger)
			must(t, os.Remove(filepath.Join(b.dir, LedgerFile)))
			saysLanding(t, "from the logs", b.read(t).Ledger)
			s = b.open(t, run3)
			must(t, s.Append(Event{Type: TypeAttemptEnded, Task: "T2", Attempt: 1, Ended: s.Task("T2").Attempts[0].Landing}))
			rec := s.Task("T2")
			if a := rec.Attempts[0]; !rec.Completed || a.Landed != "fed987" || a.Landing != nil || a.Receipt.Summary != "made T2" || a.Head != "def456" {
				t.Errorf("ended: got %+v", rec)
			}
			must(t, s.Close())
			if faults, err := Validate(b.options("")); err != nil || len(faults) > 0 {
				t.Errorf("got %v, %v", faults, err)
			}
		})
	}
}

func TestRepairKeepsLanding(t *testing.T) {
	t.Parallel()
	b := nightOfLanding(t)
	path := filepath.Join(b.dir, EventsPath(run1))
	text, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, []byte(strings.Replace(string(text), `"type":"landing"`, `"type":"lending"`, 1)), 0o644))
	if r, err := Repair(b.options("")); err != nil || len(r.Faults) == 0 {
		t.Fatalf("got %+v, %v", r, err)
	}
	saysLanding(t, "repaired", b.read(t).Ledger)
}

func TestWhatIsNoLanding(t *testing.T) {
	t.Parallel()
	failure := landing("T1", 1)
	failure.Landing.Result = ResultFailure
	gated := landing("T1", 1)
	gated.Landing.Gate = &Gate{Reason: MaxAttempts}
	for name, tc := range map[string]struct {
		events []Event
		want   bool
	}{
		"of a running attempt":   {[]Event{started("T1", 1), landing("T1", 1)}, true},
		"twice":                  {[]Event{started("T1", 1), landing("T1", 1), landing("T1", 1)}, true},
		"start lost":             {[]Event{landing("T1", 1)}, true},
		"reset meanwhile":        {[]Event{started("T1", 1), landing("T1", 1), {Type: TypeReset, Task: "T1"}}, true},
		"with a gate":            {[]Event{started("T1", 1), gated}, true},
		"of a failure":           {[]Event{started("T1", 1), failure}, false},
		"after the end":          {[]Event{started("T1", 1), failed("T1", 1, "no"), landing("T1", 1)}, false},
		"before the end":         {[]Event{started("T1", 1), landing("T1", 1), failed("T1", 1, "no")}, false},
		"of nothing":             {[]Event{started("T1", 1), {Type: TypeLanding, Task: "T1", Attempt: 1}}, false},
		"of an earlier attempt":  {[]Event{started("T1", 1), failed("T1", 1, "no"), started("T1", 2), landing("T1", 1)}, false},
		"in an accepted record":  {[]Event{{Type: TypeAccepted, Accepted: &Accepted{Tasks: map[string]TaskRecord{"T1": {Attempts: []Attempt{{ID: 1, Result: ResultSuccess, Outcome: Success, Landing: landing("T1", 1).Landing}}}}}}}, false},
		"in a record still open": {[]Event{{Type: TypeAccepted, Accepted: &Accepted{Tasks: map[string]TaskRecord{"T1": {Attempts: []Attempt{{ID: 1, Result: ResultInProgress, Landing: gated.Landing}}}}}}}, true},
	} {
		_, g := plan(t, 3)
		f := newFold(g, nil)
		for i, ev := range tc.events {
			ev.Seq = uint64(i + 1)
			f.apply(&ev)
		}
		list := f.ledger.Tasks["T1"].Attempts
		if got := list[len(list)-1].Landing; (got != nil) != tc.want || got != nil && got.Gate != nil {
			t.Errorf("%s: got %+v", name, got)
		}
		if err := roundTrip(f, g); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestIntegration(t *testing.T) {
	t.Parallel()
	run := func(branch, from, base string) RunStarted {
		return RunStarted{Integration: branch, Branch: from, Base: base}
	}
	for name, tc := range map[string]struct {
		runs []RunStarted
		want Integration
	}{
		"other isolation":         {[]RunStarted{run("", "main", "a1")}, Integration{}},
		"the first stays":         {[]RunStarted{run("relay/x", "main", "a1"), run("relay/x", "topic", "b2")}, Integration{"relay/x", "main", "a1", ""}},
		"detached":                {[]RunStarted{run("relay/x", "", "a1"), run("relay/x", "main", "b2")}, Integration{"relay/x", "", "a1", ""}},
		"later than other nights": {[]RunStarted{run("", "main", "a1"), run("relay/x", "topic", "b2"), run("", "main", "a1")}, Integration{"relay/x", "topic", "b2", ""}},
		"another branch":          {[]RunStarted{run("relay/x", "main", "a1"), run("relay/y", "topic", "b2")}, Integration{"relay/y", "topic", "b2", ""}},
	} {
		_, g := plan(t, 3)
		f := newFold(g, nil)
		for i := range tc.runs {
			f.apply(&Event{Seq: uint64(i + 1), Type: TypeRunStarted, RunStarted: &tc.runs[i]})
		}
		if f.ledger.Integration != tc.want {
			t.Errorf("%s: got %+v, want %+v", name, f.ledger.Integration, tc.want)
		}
		if err := roundTrip(f, g); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a person put on its branch is there until more has landed.
func TestFinishedUntilMoreLands(t *testing.T) {
	t.Parallel()
	_, g := plan(t, 3)
	f := newFold(g, nil)
	landed := succeeded("T2", 1)
	landed.Ended.Landed = "c3"
	failure := failed("T3", 1, "no")
	for i, step := range []struct {
		event Event
		want  string
	}{
		{Event{Type: TypeRunStarted, RunStarted: &RunStarted{Integration: "relay/x", Branch: "main", Base: "a1"}}, ""},
		{Event{Type: TypeFinished, Finished: &Finished{Branch: "relay/x", Into: "main", How: "merge", From: "a1", To: "b2"}}, "main"},
		{started("T3", 1), "main"},
		{failure, "main"},
		{started("T2", 1), "main"},
		{landed, ""},
	} {
		step.event.Seq = uint64(i + 1)
		f.apply(&step.event)
		if got := f.ledger.Integration.Finished; got != step.want {
			t.Errorf("after event %d: got %q, want %q", i+1, got, step.want)
		}
		if err := roundTrip(f, g); err != nil {
			t.Errorf("after event %d: %v", i+1, err)
		}
	}
}

// A person edits the ledger of a killed run, whose log goes on behind the ledger: the edit must not undo what the log says.
func TestAcceptKeepsLanding(t *testing.T) {
	t.Parallel()
	b := newBench(t, 7)
	s := b.open(t, run1)
	must(t, s.Append(started("T1", 1), failed("T1", 1, "theirs"), started("T1", 2), started("T2", 1)))
	must(t, s.Append(failed("T3", 1, "early"), failed("T4", 1, "early")))
	must(t, s.Flush())
	old, err := os.ReadFile(filepath.Join(b.dir, LedgerFile))
	must(t, err)
	must(t, s.Append(landing("T1", 2), landing("T2", 1), succeeded("T2", 1)))
	must(t, s.Append(Event{Type: TypeGated, Task: "T3"}, Event{Type: TypeUngated, Task: "T4"}))
	must(t, s.Close())
	b.edit(t, func(string) string {
		text := replacing("error_summary: theirs", "error_summary: mine")(string(old))
		text = strings.ReplaceAll(text, "error_summary: early", "error_summary: edited")
		return replacing("T2: in_progress", "T2: gated")(text)
	})
	must(t, Accept(b.options("")))
	l := b.read(t).Ledger
	if rec := l.Tasks["T1"]; rec.Attempts[0].Receipt.ErrorSummary != "mine" || rec.Running() == nil || rec.Running().Landing == nil {
		t.Errorf("got %+v", rec)
	}
	if rec := l.Tasks["T2"]; !rec.Completed || rec.Gate != nil || rec.Attempts[0].Result != ResultSuccess {
		t.Errorf("got %+v", rec)
	}
	if rec := l.Tasks["T3"]; rec.Gate == nil || rec.Attempts[0].Receipt.ErrorSummary != "edited" {
		t.Errorf("got %+v", rec)
	}
	if rec := l.Tasks["T4"]; rec.CountFrom != 1 || rec.Attempts[0].Receipt.ErrorSummary != "edited" {
		t.Errorf("got %+v", rec)
	}
}
