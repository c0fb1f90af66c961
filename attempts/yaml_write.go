package attempts

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// render writes the ledger as attempt-ledger.yml: the seed's keys, names and order (attempt ledger, "Ledger Schema").
//
// It is written by hand and not by a YAML library, because a library takes 30 times as long and a snapshot holds up
// every task of the run. A test reads everything back with a library and compares.
func (f *fold) render(w io.Writer) error {
	out := &yamlWriter{w: bufio.NewWriterSize(w, 32<<10)}
	l := f.ledger
	out.line(0, "version: ", strconv.Itoa(l.Version))
	out.text(0, "epic_id", l.EpicID)
	out.time(0, "started_at", l.StartedAt)
	if out.time(0, "ended_at", l.EndedAt); !l.EndedAt.IsZero() && !l.StartedAt.IsZero() {
		out.number(0, "duration_minutes", max(0, l.EndedAt.Sub(l.StartedAt).Round(time.Second).Minutes()))
	}
	out.settings(l.Settings)
	ids := f.order()
	out.line(0, "\ntask_status:", empty(len(ids)))
	for _, id := range ids {
		out.line(2, key(id), ": ", string(f.statusOf(id)))
	}
	out.attempts(l, ids)
	out.gates(l, ids)
	out.status(l.Status)
	out.line(0, "\nfolded:")
	out.text(2, "run", l.Folded.Run)
	out.line(2, "seq: ", strconv.FormatUint(l.Folded.Seq, 10))
	if f.extra != "" {
		out.line(0, "\n", strings.TrimRight(f.extra, "\n"))
	}
	return out.w.Flush()
}

// order is every task of the epic as in its file, then those only the ledger knows.
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

type yamlWriter struct {
	w *bufio.Writer
}

const spaces = "                "

func (y *yamlWriter) line(indent int, parts ...string) {
	y.w.WriteString(spaces[:indent])
	for _, p := range parts {
		y.w.WriteString(p)
	}
	y.w.WriteByte('\n')
}

// empty marks a map without entries, which would read as null otherwise.
func empty(n int) string {
	if n == 0 {
		return " {}"
	}
	return ""
}

func (y *yamlWriter) settings(s Settings) {
	y.line(0, "\nsettings:")
	y.line(2, "max_attempts_per_task: ", strconv.Itoa(s.MaxAttemptsPerTask))
	y.number(2, "timeout_minutes", s.TimeoutMinutes)
	y.line(2, "review:")
	y.line(4, "enabled: ", strconv.FormatBool(s.Review.Enabled))
	y.line(4, "provider: ", scalar(s.Review.Provider))
}

func (y *yamlWriter) attempts(l *Ledger, ids []string) {
	n := 0
	for _, id := range ids {
		rec := l.Tasks[id]
		if len(rec.Attempts) == 0 {
			continue
		}
		if n++; n == 1 {
			y.line(0, "\nattempts:")
		}
		y.line(2, key(id), ":")
		for i := range rec.Attempts {
			y.attempt(&rec.Attempts[i])
		}
	}
	if n == 0 {
		y.line(0, "\nattempts: {}")
	}
}

func (y *yamlWriter) attempt(a *Attempt) {
	y.line(4, "- id: ", strconv.Itoa(a.ID))
	y.time(6, "started_at", a.StartedAt)
	y.time(6, "ended_at", a.EndedAt)
	y.text(6, "result", string(a.Result))
	y.text(6, "outcome", string(a.Outcome))
	if a.Result != ResultInProgress || a.Charged {
		y.line(6, "charged: ", strconv.FormatBool(a.Charged))
	}
	y.text(6, "run", a.Run)
	y.text(6, "runner", a.Runner)
	y.text(6, "model", a.Model)
	y.text(6, "base", a.Base)
	y.text(6, "head", a.Head)
	y.text(6, "session_id", a.Session)
	if u := a.Usage; u != nil {
		y.line(6, "usage:")
		y.line(8, "input_tokens: ", strconv.FormatInt(u.InputTokens, 10))
		y.line(8, "output_tokens: ", strconv.FormatInt(u.OutputTokens, 10))
		y.number(8, "cost_usd", u.CostUSD)
	}
	y.receipt(&a.Receipt)
}

func (y *yamlWriter) receipt(r *Receipt) {
	if r.empty() {
		return
	}
	y.line(6, "receipt:")
	y.text(8, "summary", r.Summary)
	y.list(8, "files_changed", r.FilesChanged)
	y.text(8, "error_category", string(r.ErrorCategory))
	y.text(8, "error_summary", r.ErrorSummary)
	y.text(8, "quality_gate_verdict", string(r.Verdict))
	y.text(8, "quality_gate_findings", r.Findings)
	y.text(8, "suggestion", r.Suggestion)
	y.text(8, "learning", r.Learning)
	y.list(8, "pattern_tags", r.PatternTags)
	if len(r.Checks) > 0 {
		y.line(8, "checks:")
	}
	for _, c := range r.Checks {
		y.line(10, "- name: ", scalar(c.Name))
		y.line(12, "exit_code: ", strconv.Itoa(c.ExitCode))
		y.number(12, "seconds", c.Seconds)
		y.text(12, "log", c.Log)
		y.text(12, "tail", c.Tail)
		y.text(12, "phase", c.Phase)
	}
	y.text(8, "claimed", r.Claimed)
	y.text(8, "diff_stat", r.DiffStat)
	y.text(8, "salvage", r.Salvage)
}

func (r *Receipt) empty() bool {
	return r.Summary == "" && len(r.FilesChanged) == 0 && r.ErrorCategory == "" && r.ErrorSummary == "" && r.Verdict == "" &&
		r.Findings == "" && r.Suggestion == "" && r.Learning == "" && len(r.PatternTags) == 0 && len(r.Checks) == 0 &&
		r.Claimed == "" && r.DiffStat == "" && r.Salvage == ""
}

func (y *yamlWriter) gates(l *Ledger, ids []string) {
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
			y.line(0, "\ngated_tasks:")
		}
		y.line(2, key(id), ":")
		y.line(4, "reason: ", scalar(string(g.Reason)))
		y.text(4, "detail", g.Detail)
		y.time(4, "gated_at", g.At)
	}
	if n == 0 {
		y.line(0, "\ngated_tasks: {}")
	}
	if counted == 0 {
		return
	}
	y.line(0, "\ncount_from: # attempts before these no longer count against the limits")
	for _, id := range ids {
		if n := l.Tasks[id].CountFrom; n > 0 {
			y.line(2, key(id), ": ", strconv.Itoa(n))
		}
	}
}

func (y *yamlWriter) status(s RelayStatus) {
	if s == (RelayStatus{}) {
		y.line(0, "\nrelay_status: {}")
		return
	}
	y.line(0, "\nrelay_status:")
	y.text(2, "state", s.State)
	y.line(2, "pid: ", strconv.Itoa(s.PID))
	y.time(2, "started_at", s.StartedAt)
	y.time(2, "stopped_at", s.StoppedAt)
	if s.State == "stopped" {
		y.line(2, "last_exit_code: ", strconv.Itoa(s.LastExitCode))
		y.text(2, "last_exit_reason", s.LastExitReason)
	}
}

func (y *yamlWriter) number(indent int, name string, v float64) {
	y.line(indent, name, ": ", strconv.FormatFloat(v, 'f', -1, 64))
}

func (y *yamlWriter) time(indent int, name string, t time.Time) {
	if !t.IsZero() {
		y.line(indent, name, `: "`, t.UTC().Format(time.RFC3339Nano), `"`)
	}
}

func (y *yamlWriter) list(indent int, name string, items []string) {
	if len(items) == 0 {
		return
	}
	y.line(indent, name, ":")
	for _, s := range items {
		y.line(indent+2, "- ", scalar(s))
	}
}

// text writes a string of any content: as a block when it has lines that a person may want to read, else as a scalar.
func (y *yamlWriter) text(indent int, name, s string) {
	if s == "" {
		return
	}
	if !blocky(s) {
		y.line(indent, name, ": ", scalar(s))
		return
	}
	mark := "|-"
	if body, ended := strings.CutSuffix(s, "\n"); ended {
		s, mark = body, "|"
	}
	y.line(indent, name, ": ", mark)
	for line := range strings.SplitSeq(s, "\n") {
		if line == "" {
			y.w.WriteByte('\n')
			continue
		}
		y.line(indent+2, line)
	}
}

// blocky reports whether a literal block holds the string exactly as it is.
func blocky(s string) bool {
	if !strings.Contains(strings.TrimSuffix(s, "\n"), "\n") || strings.ContainsAny(s[:1], " \t\n") || strings.HasSuffix(s, "\n\n") {
		return false
	}
	for _, r := range s {
		if r != '\n' && r != '\t' && !printable(r) {
			return false
		}
	}
	return utf8.ValidString(s)
}

// printable reports whether YAML lets the character stand for itself everywhere.
func printable(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r <= 0x9f, r == 0x2028, r == 0x2029, r == 0xfeff, r == 0xfffe, r == 0xffff:
		return false
	}
	return true
}

// key writes a task id as a key.
func key(id string) string { return scalar(id) }

// scalar writes a string on one line: bare when it is a plain word that no reader takes for something else, else in
// double quotes.
func scalar(s string) string {
	if bare(s) {
		return s
	}
	b := make([]byte, 0, len(s)+8)
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\t':
			b = append(b, `\t`...)
		case printable(r):
			b = utf8.AppendRune(b, r)
		case r > 0xffff:
			b = append(b, `\U`...)
			b = hexRune(b, r, 8)
		default:
			b = append(b, `\u`...)
			b = hexRune(b, r, 4)
		}
	}
	return string(append(b, '"'))
}

func hexRune(b []byte, r rune, digits int) []byte {
	for i := digits - 1; i >= 0; i-- {
		b = append(b, "0123456789abcdef"[(r>>(4*i))&15])
	}
	return b
}

// bare reports whether a string may stand without quotes: letters first, then what task ids, words and paths are made of.
func bare(s string) bool {
	if s == "" || len(s) > 200 {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
		inside := c >= '0' && c <= '9' || c == '-' || c == '.' || c == '/'
		if !letter && (i == 0 || !inside) {
			return false
		}
	}
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "y", "n", "null":
		return false
	}
	return true
}
