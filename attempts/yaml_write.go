package attempts

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"relay/attempts/internal/yamltext"
)

// render writes the ledger as attempt-ledger.yml: the seed's keys, names and order (attempt ledger, "Ledger Schema").
//
// It is not written by a YAML library, because a library takes 30 times as long and a snapshot holds up every task of the run.
// A test reads everything back with a library and compares.
func (f *fold) render(w io.Writer) error {
	out := ledgerWriter{yamltext.NewWriter(w)}
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
	ids := f.order()
	out.Line(0, "\ntask_status:", empty(len(ids)))
	for _, id := range ids {
		out.Line(2, yamltext.Scalar(id), ": ", string(f.statusOf(id)))
	}
	out.attempts(l, ids)
	out.gates(l, ids)
	out.Value(0, "\nepic_reviews", l.EpicReviews)
	out.status(l.Status)
	out.Line(0, "\nfolded:")
	out.Text(2, "run", l.Folded.Run)
	out.Line(2, "seq: ", strconv.FormatUint(l.Folded.Seq, 10))
	if f.extra != "" {
		out.Line(0, "\n", strings.TrimRight(f.extra, "\n"))
	}
	return out.Flush()
}

// order returns every task of the epic as in its file, then those only the ledger knows.
func (f *fold) order() []string {
	ids := make([]string, 0, len(f.ledger.Tasks))
	for i := range f.tasks {
		ids = append(ids, f.graph.ID(i))
	}
	if len(ids) < len(f.ledger.Tasks) {
		n := len(ids)
		for id := range f.ledger.Tasks {
			if _, ok := f.index(id); !ok {
				ids = append(ids, id)
			}
		}
		slices.Sort(ids[n:])
	}
	return ids
}

func (f *fold) statusOf(id string) Status {
	if i, ok := f.index(id); ok {
		return f.states[i]
	}
	return f.ledger.Tasks[id].status(false)
}

// ledgerWriter knows the parts of the ledger.
type ledgerWriter struct{ *yamltext.Writer }

// empty marks a map without entries, which would read as null otherwise.
func empty(n int) string {
	if n == 0 {
		return " {}"
	}
	return ""
}

func (y ledgerWriter) attempts(l *Ledger, ids []string) {
	n := 0
	for _, id := range ids {
		rec := l.Tasks[id]
		if len(rec.Attempts) == 0 {
			continue
		}
		if n++; n == 1 {
			y.Line(0, "\nattempts:")
		}
		y.Line(2, yamltext.Scalar(id), ":")
		for i := range rec.Attempts {
			y.attempt(&rec.Attempts[i])
		}
	}
	if n == 0 {
		y.Line(0, "\nattempts: {}")
	}
}

// attempt leaves out that one under way is not charged yet.
func (y ledgerWriter) attempt(a *Attempt) {
	if a.Result == ResultInProgress && !a.Charged {
		y.Entry(4, a, "charged")
		return
	}
	y.Entry(4, a)
}

func (y ledgerWriter) gates(l *Ledger, ids []string) {
	n, counted := 0, 0
	for _, id := range ids {
		if l.Tasks[id].CountFrom > 0 {
			counted++
		}
		g := l.Tasks[id].Gate
		if g == nil {
			continue
		}
		if n++; n == 1 {
			y.Line(0, "\ngated_tasks:")
		}
		y.Line(2, yamltext.Scalar(id), ":")
		y.Whole = true
		y.Fields(4, g)
		y.Whole = false
	}
	if n == 0 {
		y.Line(0, "\ngated_tasks: {}")
	}
	if counted == 0 {
		return
	}
	y.Line(0, "\ncount_from: # attempts before these no longer count against the limits")
	for _, id := range ids {
		if n := l.Tasks[id].CountFrom; n > 0 {
			y.Line(2, yamltext.Scalar(id), ": ", strconv.Itoa(n))
		}
	}
}

func (y ledgerWriter) status(s RelayStatus) {
	if s == (RelayStatus{}) {
		y.Line(0, "\nrelay_status: {}")
		return
	}
	y.Line(0, "\nrelay_status:")
	y.Text(2, "state", s.State)
	y.Line(2, "pid: ", strconv.Itoa(s.PID))
	y.Time(2, "started_at", s.StartedAt)
	y.Time(2, "stopped_at", s.StoppedAt)
	if s.State == "stopped" {
		y.Line(2, "last_exit_code: ", strconv.Itoa(s.LastExitCode))
		y.Text(2, "last_exit_reason", s.LastExitReason)
	}
}
