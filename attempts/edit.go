package attempts

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"relay/epic/each"
	"relay/epic/plaintext"
)

// changed finds the records that somebody else changed in the ledger, from ours, which was written, to theirs, and says
// what they are with the change, and with everything that has happened since the ledger was written.
func changed(ours *fold, theirs *Ledger, now *fold) map[string]TaskRecord {
	out := map[string]TaskRecord{}
	for id := range ours.ledger.Tasks {
		if theirs.Tasks[id] == nil {
			theirs.Tasks[id] = &TaskRecord{}
		}
	}
	for id, rec := range theirs.Tasks {
		was := cmp.Or(ours.ledger.Tasks[id], &TaskRecord{})
		if sameJSON(was, rec) {
			continue
		}
		out[id] = mergeEdit(was, rec, cmp.Or(now.ledger.Tasks[id], was))
	}
	return out
}

// mergeEdit returns a record that somebody changed from was to theirs while relay went on to latest. Unchanged parts are
// those of latest: an attempt that was open in the ledger may have ended or landed since.
func mergeEdit(was, theirs, latest *TaskRecord) TaskRecord {
	next := theirs.clone()
	switch {
	case next.CountFrom != was.CountFrom:
	case was.Gate != nil && next.Gate == nil:
		next.CountFrom = len(next.Attempts) // as an ungate does
	default:
		next.CountFrom = latest.CountFrom
	}
	if theirs.Completed == was.Completed {
		next.Completed = latest.Completed
	}
	if sameJSON(theirs.Gate, was.Gate) {
		next.Gate = latest.Gate
	}
	if sameJSON(theirs.Answers, was.Answers) {
		next.Answers = latest.Answers
	}
	for i := range min(len(was.Attempts), len(next.Attempts), len(latest.Attempts)) {
		if sameJSON(was.Attempts[i], theirs.Attempts[i]) {
			next.Attempts[i] = latest.Attempts[i]
		}
	}
	if len(latest.Attempts) > len(was.Attempts) {
		next.Attempts = append(next.Attempts, latest.Attempts[len(was.Attempts):]...)
	}
	return next
}

func sameHead(a, b *Ledger) bool {
	return a.EpicID == b.EpicID && a.StartedAt.Equal(b.StartedAt) &&
		a.EndedAt.Equal(b.EndedAt) && a.Settings == a.Settings.overruled(b.Settings) && a.Integration == b.Integration
}

// ineffective names what somebody changed in the ledger besides the tasks, from ours to theirs. None of it is ever taken in:
// settings come from the configuration, the rest from the log.
func ineffective(ours, theirs *Ledger) []string {
	names := each.Of(ours.Settings.differences(theirs.Settings), func(difference string) string { return "settings." + difference })
	for _, one := range []struct {
		name string
		same bool
	}{
		{"epic_id", ours.EpicID == theirs.EpicID},
		{"started_at", ours.StartedAt.Equal(theirs.StartedAt)},
		{"ended_at", ours.EndedAt.Equal(theirs.EndedAt)},
		{"integration", ours.Integration == theirs.Integration},
		{"relay_status", sameJSON(ours.Status, theirs.Status)},
	} {
		if !one.same {
			names = append(names, one.name)
		}
	}
	return names
}

func sameJSON(a, b any) bool {
	x, err := json.Marshal(a)
	if err != nil {
		return false
	}
	y, err := json.Marshal(b)
	return err == nil && bytes.Equal(x, y)
}

// maxDiffLines bounds a diff that is shown.
const maxDiffLines = 5000

// diff shows what somebody changed, from what relay wrote to what is there.
func diff(ours *fold, theirs []byte) string {
	var wrote bytes.Buffer
	if err := ours.render(&wrote); err != nil {
		return err.Error()
	}
	text := udiff.Unified(LedgerFile+" (as relay wrote it)", LedgerFile, wrote.String(), plaintext.Capped(string(theirs), maxLedger))
	if n := strings.Count(text, "\n"); n > maxDiffLines {
		return fmt.Sprintf("(the diff has %d lines)\n", n)
	}
	return text
}
