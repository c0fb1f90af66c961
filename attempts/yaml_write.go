package attempts

import (
	"io"
	"strconv"
	"strings"
	"time"

	"relay/attempts/internal/durable"
	"relay/epic/each"
	"relay/epic/plaintext"
)

// render writes the ledger as attempt-ledger.yml: the seed's keys, names and order (attempt ledger, "Ledger Schema").
//
// It is not written by a YAML library, because a library takes 30 times as long and a snapshot holds up every task of the run.
// A test reads everything back with a library and compares.
func (f *fold) render(w io.Writer) error {
	out := durable.NewYAMLWriter(w)
	l := f.ledger
	out.Line(0, "version: ", strconv.Itoa(l.Version))
	out.Text(0, "epic_id", l.EpicID)
	out.Time(0, "started_at", l.StartedAt)
	if out.Time(0, "ended_at", l.EndedAt); !l.EndedAt.IsZero() && !l.StartedAt.IsZero() {
		out.Number(0, "duration_minutes", max(0, l.EndedAt.Sub(l.StartedAt).Round(time.Second).Minutes()))
	}
	out.Whole = true
	out.Line(0, "\nsettings:")
	out.Fields(2, &l.Settings)
	out.Whole = false
	out.Section(0, "\nintegration", func() { out.Fields(2, &l.Integration) })
	ids := f.tasks.order(l.Tasks)
	writeSection(out, "\ntask_status", func() {
		for _, id := range ids {
			out.Line(2, durable.YAMLScalar(id), ": ", string(f.tasks.stateOf(id, l.Tasks[id])))
		}
	})
	writeSection(out, "\nattempts", func() { writeAttempts(out, l, ids) })
	writeSection(out, "\ngated_tasks", func() {
		for _, id := range ids {
			if g := l.Tasks[id].Gate; g != nil {
				out.Line(2, durable.YAMLScalar(id), ":")
				out.Line(4, "reason: ", durable.YAMLScalar(string(g.Reason)))
				out.Fields(4, g, "reason")
			}
		}
	})
	writeCounts(out, l, ids)
	out.Section(0, "\nanswers", func() {
		for _, id := range ids {
			out.Value(2, durable.YAMLScalar(id), l.Tasks[id].Answers)
		}
	})
	out.Value(0, "\nepic_reviews", l.EpicReviews)
	writeSection(out, "\nrelay_status", func() {
		if l.Status.State == "stopped" {
			out.Fields(2, &l.Status)
		} else if l.Status != (RelayStatus{}) {
			out.Fields(2, &l.Status, "last_exit_code", "last_exit_reason")
		}
	})
	out.Line(0, "\nfolded:")
	out.Text(2, "run", l.Folded.Run)
	out.Line(2, "seq: ", strconv.FormatUint(l.Folded.Seq, 10))
	if f.extra != "" {
		out.Line(0, "\n", strings.TrimRight(f.extra, "\n"))
	}
	return out.Flush()
}

// writeSection writes a map, also when it is empty: its name alone would read as null.
func writeSection(y *durable.YAMLWriter, name string, body func()) {
	if y.Section(0, name, body) {
		y.Line(0, name, ": {}")
	}
}

func writeAttempts(y *durable.YAMLWriter, l *Ledger, ids []string) {
	for _, id := range ids {
		if len(l.Tasks[id].Attempts) > 0 {
			y.Line(2, durable.YAMLScalar(id), ":")
		}
		for i := range l.Tasks[id].Attempts {
			a := &l.Tasks[id].Attempts[i]
			var without []string
			if a.Result == ResultInProgress && !a.Charged { // one under way is not charged yet
				without = []string{"charged"}
			}
			y.Entry(4, a, without...)
		}
	}
}

func writeCounts(y *durable.YAMLWriter, l *Ledger, ids []string) {
	heading := "\ncount_from: # attempts before these no longer count against the limits\n"
	for _, id := range ids {
		if n := l.Tasks[id].CountFrom; n > 0 {
			y.Line(0, heading, "  ", durable.YAMLScalar(id), ": ", strconv.Itoa(n))
			heading = ""
		}
	}
}

// mostDeclared is how many files a gate names.
const mostDeclared = 10

// DeclaredFiles returns the line of epic.yml by which a task declares files, with the first ten of them.
func DeclaredFiles(files []string) string {
	shown := each.Of(files[:min(len(files), mostDeclared)], func(f string) string { return durable.YAMLScalar(plaintext.Capped(f, 200)) })
	if len(files) > mostDeclared {
		shown = append(shown, "…")
	}
	return "files: [" + strings.Join(shown, ", ") + "]"
}
