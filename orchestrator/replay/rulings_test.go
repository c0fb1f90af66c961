package replay_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/replay"
	"relay/orchestrator/verdict"
	"relay/runners"
)

// ruled adds an attempt that ended by a ruling on evidence.
func (l *log) ruled(t *testing.T, task string, minute float64, e *verdict.Evidence) {
	t.Helper()
	ruling, lacks := verdict.Decide(e)
	if e.Landing != nil {
		ruling, lacks = verdict.DecideLanding(e), verdict.Nothing
	}
	if lacks != verdict.Nothing {
		t.Fatalf("%s: the evidence lacks %s", task, lacks)
	}
	l.attempt(task, 1, minute, minute+1, ruling.Outcome)
	ended := (*l)[len(*l)-1].Ended
	ended.Cause, ended.Evidence = string(ruling.Cause), e.Record(strings.TrimSpace)
}

// ruledNight is a run of attempts that ended by rulings.
func ruledNight(t *testing.T) (l log) {
	t.Helper()
	work := func(runs ...verdict.Run) *verdict.Evidence {
		return &verdict.Evidence{
			Task: verdict.Task{HasChecks: true}, Ready: &verdict.Ready{}, Base: &verdict.Before{}, Leave: &verdict.Leave{},
			End: &verdict.TurnEnd{Is: runners.Claimed}, Guard: &verdict.Guard{}, Work: &verdict.Work{}, Mark: &verdict.Mark{},
			Checks: &verdict.Runs{Runs: runs}, Hook: &verdict.Hook{}, Old: &verdict.Old{}, Panel: &verdict.Panel{},
		}
	}
	l.add(0, attempts.Event{Type: attempts.TypeRunStarted, RunStarted: &attempts.RunStarted{Jobs: 1}})
	l.ruled(t, "A", 1, work(verdict.Run{Name: "go test", Is: verdict.Passed}))
	l.ruled(t, "C", 3, work(verdict.Run{Name: "go test", Is: verdict.Red, How: "exit status 1"}))
	l.ruled(t, "D", 5, &verdict.Evidence{Landing: &verdict.Landing{Conflict: []string{"a.go"}, With: "A"}})
	l.ruled(t, "F", 7, work(verdict.Run{Name: "go vet", Is: verdict.Passed}))
	l.attempt("E", 1, 9, 10, attempts.Success) // as an older relay has recorded it
	return l
}

// decided replays a log.
func decided(t *testing.T, l log) *replay.Report {
	t.Helper()
	e, err := epic.Read("epic.yml", []byte(plan))
	if err != nil {
		t.Fatal(err)
	}
	g, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	report, err := replay.Decide(t.Context(), replay.Recorded{Run: run, Epic: e, Graph: g, Events: func(f func(attempts.Event) error) error {
		for _, e := range l {
			if err := f(e); err != nil {
				return err
			}
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestRulingsAreMadeAgain(t *testing.T) {
	t.Parallel()
	report := decided(t, ruledNight(t))
	if len(report.Differences) > 0 || report.Kinds[replay.Ruling] != 4 {
		t.Errorf("got %+v", report)
	}
	lines := strings.Join(report.Lines(clockTime), "\n")
	if want := "\nruled by: proved (2), check failed (1), conflict (1)\n"; !strings.Contains(lines, want) {
		t.Errorf("got\n%s\nwant\n%s", lines, want)
	}
}

func TestTamperedEvidenceIsReported(t *testing.T) {
	t.Parallel()
	l := ruledNight(t)
	for i := range l {
		ended := l[i].Ended
		if ended == nil {
			continue
		}
		switch l[i].Task {
		case "A":
			ended.Evidence = bytes.Replace(ended.Evidence, []byte(`"is":"passed"`), []byte(`"is":"red"`), 1)
		case "C":
			ended.Evidence = bytes.Replace(ended.Evidence, []byte(`"checks":`), []byte(`"cheques":`), 1)
		case "D":
			ended.Cause = "landed"
		case "F":
			ended.Evidence = json.RawMessage(`{"task":7}`)
		}
	}
	report := decided(t, l)
	lines := report.Lines(clockTime)
	got := strings.Join(lines[:5], "\n") + "\n" + lines[len(lines)-1]
	want := `3 of 3 decisions of run 20260111T220000Z-0000 differ:
  22:02:00  ruling of A: then "proved" ruled: success; now "check failed" ruled: check
  22:04:00  ruling of C: then "check failed" ruled: check; now no row rules, because the evidence lacks "checks"
  22:06:00  ruling of D: then "landed" ruled: conflict; now "conflict" ruled: conflict
ruled by: check failed (1), conflict (1)
cannot be checked: 1 rulings on attempts (F): their evidence cannot be read`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func clockTime(at time.Time) string { return at.Format(time.TimeOnly) }
