// Package redact keeps secrets out of everything that is recorded or told, and what it lets through harmless and short.
package redact

import (
	"slices"
	"strings"

	"relay/attempts"
	"relay/orchestrator/secrets"
)

// Redactor blanks secrets, removes control characters, and cuts texts to the lengths that the ledger holds.
type Redactor struct{ *secrets.Redactor }

// Receipt strings an agent had a hand in are cut to these lengths.
const (
	lineCap = 500
	textCap = 4 << 10
	listCap = 200
)

// Block returns a text of several lines, without control characters and secrets, cut to 4 KiB.
func (r Redactor) Block(s string) string { return attempts.Clean(r.plain(s), textCap) }

// plain cleans first: what is no part of a text may stand in the middle of a secret.
func (r Redactor) plain(s string) string { return r.Text(attempts.Clean(s, 64*textCap)) }

// Line returns the same in one line, cut to 500 bytes.
func (r Redactor) Line(s string) string {
	return attempts.Clean(strings.Join(strings.Fields(r.plain(s)), " "), lineCap)
}

func (r Redactor) list(in []string) []string {
	out := slices.Clone(in[:min(len(in), listCap)])
	for i := range out {
		out[i] = r.Line(out[i])
	}
	return out
}

// Receipt cleans every string of a receipt before it is recorded.
func (r Redactor) Receipt(in attempts.Receipt) attempts.Receipt {
	in.Summary, in.ErrorSummary = r.Block(in.Summary), r.Block(in.ErrorSummary)
	in.Findings, in.Suggestion, in.Learning = r.Block(in.Findings), r.Block(in.Suggestion), r.Block(in.Learning)
	in.Claimed, in.DiffStat = r.Line(in.Claimed), r.Block(r.Stat(in.DiffStat, in.FilesChanged))
	in.FilesChanged, in.PatternTags, in.Contested = r.list(in.FilesChanged), r.list(in.PatternTags), r.list(in.Contested)
	in.WeakerTests, in.Extra = r.list(in.WeakerTests), r.Block(in.Extra)
	in.Review, in.Statement = r.Reviewed(in.Review), in.Statement.Map(r.Line, r.Block)
	in.Looks = slices.Clone(in.Looks[:min(len(in.Looks), listCap)])
	for i := range in.Looks {
		in.Looks[i].Cause, in.Looks[i].Text = r.Line(in.Looks[i].Cause), r.Line(in.Looks[i].Text)
	}
	in.Checks = slices.Clone(in.Checks)
	for i := range in.Checks {
		in.Checks[i].Name, in.Checks[i].Tail = r.Line(in.Checks[i].Name), r.Block(in.Checks[i].Tail)
	}
	return in
}

// Stat takes names out of a summary of changes that git has shortened, when a file is named by a secret: half of one is
// not known for a secret.
func (r Redactor) Stat(stat string, files []string) string {
	if !strings.Contains(stat, "...") || !slices.ContainsFunc(files, func(f string) bool { return r.Text(f) != f }) {
		return stat
	}
	rows := strings.Split(stat, "\n")
	for i, row := range rows {
		if name, rest, ok := strings.Cut(row, "|"); ok && strings.Contains(name, "...") {
			rows[i] = " ... |" + rest
		}
	}
	return strings.Join(rows, "\n")
}

// Ended cleans what else an agent had a hand in. The evidence must be clean: see verdict.Evidence.Record. A session that looks like a
// secret cannot be resumed.
func (r Redactor) Ended(e attempts.Ended) attempts.Ended {
	e.Receipt, e.Model, e.Cause = r.Receipt(e.Receipt), r.Line(e.Model), r.Line(e.Cause)
	e.Changes, e.Tools = slices.Clone(e.Changes), slices.Clone(e.Tools)
	for i := range e.Changes {
		e.Changes[i].Path, e.Changes[i].From = r.Line(e.Changes[i].Path), r.Line(e.Changes[i].From)
	}
	for i := range e.Tools {
		e.Tools[i].Name = r.Line(e.Tools[i].Name)
	}
	if r.Text(e.Session) != e.Session {
		e.Session = ""
	}
	return e
}

// Briefed cleans what is recorded of a brief.
func (r Redactor) Briefed(b attempts.Briefed) *attempts.Briefed {
	b.Dir, b.Handoff, b.Documents, b.Files = r.Line(b.Dir), r.Line(b.Handoff), r.list(b.Documents), r.list(b.Files)
	b.Unclear, b.Cut = r.list(b.Unclear), r.list(b.Cut)
	return &b
}

// Long blanks secrets in a line that a brief may cut: half a secret is not known for one.
func (r Redactor) Long(s *string) {
	if len(*s) > 100 {
		*s = r.Text(*s)
	}
}
