package orchestrator

import (
	"slices"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
)

// recorded is what a simulated night has told of runners and waits, in words.
func recorded(t *testing.T, dir string) []string {
	t.Helper()
	var log []string
	err := attempts.Replay(dir, func(e attempts.Event) error {
		switch {
		case e.Note != nil:
			log = append(log, e.Note.Kind+": "+e.Note.Text)
		case e.Cooldown != nil:
			log = append(log, "cooling: "+e.Cooldown.Runner+" "+plaintext.Timestamp(e.Cooldown.Until)+" "+e.Cooldown.Why)
		case e.Waiting != nil:
			log = append(log, "waiting: "+e.Waiting.For+" "+plaintext.Timestamp(e.Waiting.Until)+" "+e.Waiting.Why)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return log
}

// Every wait and every change of runner is in the log, with its reason.
func TestWaitsAndSwitchesAreRecorded(t *testing.T) {
	t.Parallel()
	script := map[string][]step{
		"A": {{takes: time.Minute, outcome: attempts.Quota, why: "limit", resetIn: 90 * time.Second}, {takes: time.Minute, outcome: attempts.Quota, why: "no more", resetIn: time.Hour}},
		"X": {{takes: time.Minute, outcome: attempts.Auth, why: "not logged in"}},
	}
	simulate(t, threeInARow, Options{Policy: decide.Policy{Runners: []string{"claude", "codex"}}}, script, func(s *simulated, store *attempts.Store, err error) {
		if err != nil {
			t.Error(err)
		}
		want := []string{
			"cooling: claude 2000-01-01T00:02:30Z limit",
			"switch: A goes from claude to codex: claude is not asked before " + plaintext.LocalTime(time.Date(2000, 1, 1, 0, 2, 30, 0, time.UTC)) + ": limit",
			"cooling: codex 2000-01-01T01:02:00Z no more",
			"waiting: claude 2000-01-01T00:02:30Z limit",
			"switch: A goes back from codex to claude: claude may be asked again",
			"cooling: claude 2000-01-01T00:06:35Z not logged in",
			"waiting: claude 2000-01-01T00:06:35Z not logged in",
		}
		if got := recorded(t, s.dir); !slices.Equal(got, want) {
			t.Errorf("after %s the log has\n%s\nwant\n%s", strings.Join(s.log, ", "), strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}
