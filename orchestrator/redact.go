package orchestrator

import (
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"

	"relay/attempts"
	"relay/orchestrator/secrets"
	"relay/reanchor"
	"relay/runners"
)

// redactor keeps secrets out of everything that is recorded or told, and what it lets through harmless and short.
type redactor struct{ *secrets.Redactor }

// Receipt strings an agent had a hand in are cut to these lengths.
const (
	lineCap = 500
	textCap = 4 << 10
	listCap = 200
)

func (r redactor) text(s string) string { return attempts.Clean(r.plain(s), textCap) }

// plain cleans first: what is no part of a text may stand in the middle of a secret.
func (r redactor) plain(s string) string { return r.Text(attempts.Clean(s, 64*textCap)) }

func (r redactor) line(s string) string {
	return attempts.Clean(strings.Join(strings.Fields(r.plain(s)), " "), lineCap)
}

func (r redactor) list(in []string) []string {
	out := slices.Clone(in[:min(len(in), listCap)])
	for i := range out {
		out[i] = r.line(out[i])
	}
	return out
}

// receipt cleans every string of a receipt before it is recorded.
func (r redactor) receipt(in attempts.Receipt) attempts.Receipt {
	in.Summary, in.ErrorSummary = r.text(in.Summary), r.text(in.ErrorSummary)
	in.Findings, in.Suggestion, in.Learning = r.text(in.Findings), r.text(in.Suggestion), r.text(in.Learning)
	in.Claimed, in.DiffStat = r.line(in.Claimed), r.text(r.stat(in.DiffStat, in.FilesChanged))
	in.FilesChanged, in.PatternTags, in.Contested = r.list(in.FilesChanged), r.list(in.PatternTags), r.list(in.Contested)
	in.WeakerTests = r.list(in.WeakerTests)
	in.Review = r.reviewed(in.Review)
	in.Checks = slices.Clone(in.Checks)
	for i := range in.Checks {
		in.Checks[i].Name, in.Checks[i].Tail = r.line(in.Checks[i].Name), r.text(in.Checks[i].Tail)
	}
	return in
}

// stat takes names out of a summary of changes that git has shortened, when a file is named by a secret: half of one is
// not known for a secret.
func (r redactor) stat(stat string, files []string) string {
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

// ended cleans what else an agent had a hand in. A session that looks like a secret cannot be resumed.
func (r redactor) ended(e attempts.Ended) attempts.Ended {
	e.Receipt, e.Model = r.receipt(e.Receipt), r.line(e.Model)
	if r.Text(e.Session) != e.Session {
		e.Session = ""
	}
	return e
}

// brief is what an agent is told, without the secrets that others left in names, commits and receipts. What the user
// wrote into the plan stays as it is.
func (o *Options) brief(in reanchor.Input) []byte {
	r := redactor{o.Secrets}
	in.Facts.Recent = slices.Clone(in.Facts.Recent)
	for i := range in.Facts.Recent {
		r.long(&in.Facts.Recent[i].Subject)
	}
	in.Facts.Changes = slices.Clone(in.Facts.Changes)
	for i := range in.Facts.Changes {
		r.long(&in.Facts.Changes[i].Path)
		r.long(&in.Facts.Changes[i].From)
	}
	return o.told(reanchor.Brief(in))
}

// long blanks secrets in a line that a brief may cut: half a secret is not known for one.
func (r redactor) long(s *string) {
	if len(*s) > 100 {
		*s = r.Text(*s)
	}
}

// told is a prompt without secrets.
func (o *Options) told(prompt []byte) []byte {
	return []byte(o.Secrets.Except(string(prompt), string(o.Plan)))
}

// private blanks secrets in a file that an agent wrote and that has been read, and makes it the user's alone. An
// agent can stand in the way of that; then the file goes, as far as it can. A disk without room is an error: what would be
// freed here is not enough for anything, and the next attempt would pay for that.
func (o *Options) private(path string) error {
	data, err := runners.ReadResultFile(path)
	if err != nil {
		return nil //nolint:nilerr // there is none, or none that anything reads
	}
	part := path + ".part"
	_ = os.Remove(part) // else it may be a link to somewhere
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = f.WriteString(o.Secrets.Text(string(data)))
		if err = errors.Join(err, f.Close()); err == nil {
			err = os.Rename(part, path)
		}
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return errors.Join(err, os.Remove(part))
	case err != nil:
		_, _ = os.Remove(path), os.Remove(part)
	}
	return nil
}
