package verdict

import (
	"fmt"
	"strings"
	"testing"

	"relay/attempts"
)

// recorded is the evidence of a proved attempt with a check and a session.
func recorded() *Evidence {
	e := proved()
	e.End.Session, e.Checks.Runs = true, []Run{{Name: "go test", Is: Passed}}
	return e
}

func same(s string) string { return s }

// A success adds little to the log.
func TestRecordOfASuccess(t *testing.T) {
	t.Parallel()
	want := `{"task":{"has_checks":true},"ready":{},"base":{},"leave":{},"end":{"is":"claimed","session":true},"guard":{},"work":{},"mark":{},` +
		`"checks":{"runs":[{"name":"go test","is":"passed"}]},"hook":{},"old":{},"panel":{}}`
	if got := string(recorded().Record(same)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := (*Evidence)(nil).Record(same); got != nil {
		t.Errorf("got %s of no evidence", got)
	}
}

// The record has no secret and no long text or list, and the same row rules on it.
func TestRecordDecidesTheSame(t *testing.T) {
	t.Parallel()
	many := make([]Run, 30)
	for i := range many {
		many[i] = Run{Name: fmt.Sprint("check ", i), Is: Passed}
	}
	red := Run{Name: "secret", Is: Red, How: strings.Repeat("x", 5000)}
	absent := Absent{Fault: ReviewerFault{Outcome: attempts.Environment}, Why: "no answer"}
	stopped := Absent{Fault: ReviewerFault{Outcome: attempts.Stopped}}
	paths := strings.Split(strings.Repeat("secret ", 50), " ")
	for name, change := range map[string]func(*Evidence){
		"proved":           func(*Evidence) {},
		"many checks":      func(e *Evidence) { e.Checks.Runs = many },
		"the last is red":  func(e *Evidence) { e.Checks.Runs = append(many[:29:29], red) },
		"the first is red": func(e *Evidence) { e.Checks.Runs = append([]Run{red}, many...) },
		"many paths":       func(e *Evidence) { e.Work.Protected = paths },
		"an emptied text":  func(e *Evidence) { e.Guard.Why = "\x01" },
		"who stops, last": func(e *Evidence) {
			e.Panel.Missing = append(repeat(absent, 25), stopped)
		},
		"a refused landing": func(e *Evidence) { e.Landing = &Landing{Conflict: paths, With: "secret"} },
	} {
		e := recorded()
		change(e)
		decide := func(e *Evidence) (Ruling, Part) {
			if e.Landing != nil {
				return DecideLanding(e), Nothing
			}
			return Decide(e)
		}
		want, _ := decide(e)
		text := e.Record(func(s string) string { return strings.ReplaceAll(s, "secret", "[redacted]") })
		back, err := ReadRecord(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, need := decide(back); got.Cause != want.Cause || got.Outcome != want.Outcome || need != Nothing {
			t.Errorf("%s: got %s %s, want %s %s, of %s", name, got.Cause, got.Outcome, want.Cause, want.Outcome, text)
		}
		if strings.Contains(string(text), "secret") || len(text) > 4000 {
			t.Errorf("%s: got %d bytes: %s", name, len(text), text)
		}
		if len(back.Checks.Runs) > recordList || len(back.Work.Protected) > recordList || len(back.Panel.Missing) > recordList {
			t.Errorf("%s: a list is too long in %s", name, text)
		}
		if now, _ := decide(e); now != want {
			t.Errorf("%s: the evidence it was made from has changed", name)
		}
	}
}

// Of evidence that is too large there is no record.
func TestRecordOfTooMuch(t *testing.T) {
	t.Parallel()
	e := recorded()
	e.Checks.Runs = repeat(Run{Name: "x", Is: Red, How: strings.Repeat("x", 2000)}, recordList)
	if got := e.Record(same); got != nil {
		t.Errorf("got %d bytes", len(got))
	}
	e.Checks.Runs = e.Checks.Runs[:10]
	if got := e.Record(same); got == nil {
		t.Error("got nothing of 10 KiB")
	}
}

func repeat[T any](v T, n int) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = v
	}
	return list
}
