package relayfiles_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"relay/orchestrator/relayfiles"
)

// A result file is good for its turn alone, and until that has ended.
func TestCheckResult(t *testing.T) {
	t.Parallel()
	const mark = "run/T1/1"
	place := filepath.Join(t.TempDir(), "result.json")
	result, err := relayfiles.Out(place, mark, false)
	if err != nil {
		t.Fatal(err)
	}
	check := func(name, mark, result string, want error) {
		t.Helper()
		if got := relayfiles.CheckResult(result, mark); !errors.Is(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	check("its own", mark, result, nil)
	check("of another attempt", "run/T1/2", result, relayfiles.ErrForeign)
	check("where relay reads it", mark, place, relayfiles.ErrForeign)
	next, err := relayfiles.Out(place, mark, false)
	if err != nil || next == result {
		t.Fatalf("%v, %q again", err, result)
	}
	check("of an earlier turn", mark, result, relayfiles.ErrForeign)
	end := filepath.Join(filepath.Dir(place), relayfiles.EndFile)
	if err := os.WriteFile(end, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	check("its process has ended", mark, next, relayfiles.ErrEnded)
	if err := errors.Join(os.Remove(end), relayfiles.Collect(nil, next, place)); err != nil {
		t.Error(err)
	}
	check("its turn has ended", mark, next, relayfiles.ErrEnded)
}

// What an agent says of its progress is read back, the last of it, and has an end.
func TestProgress(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	result := filepath.Join(dir, "result.json")
	at := time.Date(2026, 1, 25, 10, 0, 0, 0, time.UTC)
	long := strings.Repeat("long ", 60)
	var err error
	added := 0
	for ; err == nil && added < 1000; added++ {
		err = relayfiles.AddProgress(result, relayfiles.Progress{At: at, Message: long})
	}
	if err == nil || err.Error() != "enough was said of the progress: nothing more is noted in this turn" || added < 100 {
		t.Errorf("%v after %d messages", err, added)
	}
	fix := filepath.Join(dir, relayfiles.TurnFolder(1))
	later := relayfiles.Progress{At: at, Message: "later", Percent: 90}
	if err := errors.Join(os.Mkdir(fix, 0o700), relayfiles.AddProgress(filepath.Join(fix, "result.json"), later)); err != nil {
		t.Fatal(err)
	}
	broken := "{\n[]\n" + `{"message":"a\u001b[31m\nb"}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, relayfiles.ProgressFile), []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	got := relayfiles.ReadProgress(dir, 5)
	if len(got) != 2 || got[0].Message != "a b" || got[1] != later {
		t.Errorf("%+v", got)
	}
	if got := relayfiles.ReadProgress(dir, 1); len(got) != 1 || got[0] != later {
		t.Errorf("%+v", got)
	}
	if got := relayfiles.ReadProgress(filepath.Join(dir, "nowhere"), 5); got != nil {
		t.Errorf("%+v", got)
	}
}
