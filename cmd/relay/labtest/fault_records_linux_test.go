package labtest

import (
	"encoding/json"
	"fmt"
	"testing"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
)

// TestRecordsKilled cuts a run at every point at which its records are written: a failing disk changes nothing of the run, and after a
// crash the next run leaves each record once.
func TestRecordsKilled(t *testing.T) {
	needsMore(t)
	t.Parallel()
	for _, point := range attempts.FaultPoints() {
		for n, action := range []string{"kill", "EIO"} {
			t.Run(point+"/"+action, func(t *testing.T) {
				t.Parallel()
				l := matrixLab(t, "none")
				r := l.begin(l.prepared([]string{fmt.Sprintf("%s=records.%s#%d=%s", project.FaultVariable, point, n+1, action)}, "work"))
				l.end(r)
				switch action {
				case "kill":
					r.wants(t, -1)
				default:
					r.wants(t, terminal.Gated)
				}
				l.quiet()
				l.work(terminal.Gated)
				l.recorded()
			})
		}
	}
}

// recorded wants every record there is, once.
func (l *lab) recorded() {
	l.t.Helper()
	r := l.run("ledger", "rebuild", "--dry-run", "--json")
	r.wants(l.t, terminal.OK)
	var answer struct {
		LedgerSync struct{ Records, Missing, Changed int }
		Artifacts  struct{ Records, Missing, Changed int }
	}
	if err := json.Unmarshal(r.stdout.Bytes(), &answer); err != nil {
		l.t.Fatalf("%v: %s", err, r.stdout.String())
	}
	for _, c := range []struct{ Records, Missing, Changed int }{answer.LedgerSync, answer.Artifacts} {
		if c.Records == 0 || c.Missing+c.Changed > 0 {
			l.t.Errorf("records: %s", r.stdout.String())
		}
	}
	l.run("ledgersync", "validate").wants(l.t, terminal.OK)
}
