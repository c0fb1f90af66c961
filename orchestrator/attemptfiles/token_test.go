package attemptfiles_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"relay/orchestrator/attemptfiles"
)

// A token is good for its turn alone, and until that has ended.
func TestToken(t *testing.T) {
	t.Parallel()
	result := filepath.Join(t.TempDir(), "result.json")
	token, err := attemptfiles.NewToken(result, "run/T1/1")
	if err != nil {
		t.Fatal(err)
	}
	check := func(name, mark, token, want string) {
		t.Helper()
		got := ""
		if err := attemptfiles.CheckToken(result, mark, token); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	const ended, another = "the attempt has ended: nothing more can be reported for it", "RELAY_TOKEN is not that of this attempt"
	check("its own", "run/T1/1", token, "")
	check("of another attempt", "run/T1/2", token, another)
	check("another token", "run/T1/1", token+"x", another)
	check("none", "run/T1/1", "", another)
	next, err := attemptfiles.NewToken(result, "run/T1/1")
	if err != nil || next == token {
		t.Fatalf("%v, %q again", err, token)
	}
	check("of an earlier turn", "run/T1/1", token, another)
	end := filepath.Join(filepath.Dir(result), attemptfiles.EndFile)
	if err := os.WriteFile(end, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	check("its process has ended", "run/T1/1", next, ended)
	if err := os.Remove(end); err != nil {
		t.Error(err)
	}
	attemptfiles.EndToken(result)
	attemptfiles.EndToken(result)
	check("its turn has ended", "run/T1/1", next, ended)
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
		err = attemptfiles.AddProgress(result, attemptfiles.Progress{At: at, Message: long})
	}
	if err == nil || err.Error() != "enough was said of the progress: nothing more is noted in this turn" || added < 100 {
		t.Errorf("%v after %d messages", err, added)
	}
	fix := filepath.Join(dir, attemptfiles.TurnFolder(1))
	later := attemptfiles.Progress{At: at, Message: "later", Percent: 90}
	if err := errors.Join(os.Mkdir(fix, 0o700), attemptfiles.AddProgress(filepath.Join(fix, "result.json"), later)); err != nil {
		t.Fatal(err)
	}
	broken := "{\n[]\n" + `{"message":"a\u001b[31m\nb"}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, attemptfiles.ProgressFile), []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	got := attemptfiles.ReadProgress(dir, 5)
	if len(got) != 2 || got[0].Message != "a b" || got[1] != later {
		t.Errorf("%+v", got)
	}
	if got := attemptfiles.ReadProgress(dir, 1); len(got) != 1 || got[0] != later {
		t.Errorf("%+v", got)
	}
	if got := attemptfiles.ReadProgress(filepath.Join(dir, "nowhere"), 5); got != nil {
		t.Errorf("%+v", got)
	}
}
