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
	out.settings(l.Settings)
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

func (y ledgerWriter) settings(s Settings) {
	y.Line(0, "\nsettings:")
	y.Line(2, "max_attempts_per_task: ", strconv.Itoa(s.MaxAttemptsPerTask))
	y.Number(2, "timeout_minutes", s.TimeoutMinutes)
	y.Line(2, "review:")
	y.Line(4, "enabled: ", strconv.FormatBool(s.Review.Enabled))
	y.Line(4, "provider: ", yamltext.Scalar(s.Review.Provider))
	y.extra(4, s.Review.Extra)
	y.extra(2, s.Extra)
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

func (y ledgerWriter) attempt(a *Attempt) {
	y.Line(4, "- id: ", strconv.Itoa(a.ID))
	y.Time(6, "started_at", a.StartedAt)
	y.Time(6, "ended_at", a.EndedAt)
	y.Text(6, "result", string(a.Result))
	y.Text(6, "outcome", string(a.Outcome))
	y.Text(6, "cause", a.Cause)
	if a.Result != ResultInProgress || a.Charged {
		y.Line(6, "charged: ", strconv.FormatBool(a.Charged))
	}
	y.Text(6, "run", a.Run)
	y.Text(6, "runner", a.Runner)
	y.Text(6, "model", a.Model)
	y.Text(6, "base", a.Base)
	y.Text(6, "sealed", a.Sealed)
	y.Text(6, "head", a.Head)
	y.Text(6, "landed", a.Landed)
	y.Text(6, "session_id", a.Session)
	y.Value(6, "usage", a.Usage)
	y.receipt(6, &a.Receipt)
	y.landing(a.Landing)
	y.Value(6, "undone", a.Undone)
	y.extra(6, a.Extra)
}

// landing writes how an attempt that still runs is about to end.
func (y ledgerWriter) landing(e *Ended) {
	if e == nil {
		return
	}
	y.Line(6, "landing:")
	y.Text(8, "result", string(e.Result))
	y.Text(8, "outcome", string(e.Outcome))
	y.Text(8, "cause", e.Cause)
	y.Line(8, "charged: ", strconv.FormatBool(e.Charged))
	y.Text(8, "model", e.Model)
	y.Text(8, "head", e.Head)
	y.Text(8, "landed", e.Landed)
	y.Text(8, "session_id", e.Session)
	y.Value(8, "usage", e.Usage)
	y.receipt(8, &e.Receipt)
}

func (y ledgerWriter) receipt(indent int, r *Receipt) {
	y.Section(indent, "receipt", func() {
		y.Fields(indent+2, r)
		y.extra(indent+2, r.Extra)
	})
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
		y.Line(4, "reason: ", yamltext.Scalar(string(g.Reason)))
		y.Text(4, "detail", g.Detail)
		y.Time(4, "gated_at", g.At)
		y.extra(4, g.Extra)
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
