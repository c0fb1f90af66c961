package secrets

import (
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic/plaintext"
)

// Cleaner blanks secrets, removes control characters, and cuts texts to the lengths that the ledger holds.
type Cleaner struct{ *Redactor }

// Receipt strings an agent had a hand in are cut to these lengths.
const (
	lineCap = 500
	textCap = 4 << 10
	listCap = 200
)

// Block returns a text of several lines, without control characters and secrets, cut to 4 KiB.
func (r Cleaner) Block(s string) string { return plaintext.Capped(r.plain(s), textCap) }

// plain cleans first: characters that it removes may split a secret.
func (r Cleaner) plain(s string) string { return r.Text(plaintext.Capped(s, 64*textCap)) }

// Line returns the same in one line, cut to 500 bytes.
func (r Cleaner) Line(s string) string {
	return plaintext.Capped(strings.Join(strings.Fields(r.plain(s)), " "), lineCap)
}

// Clean returns a copy of a value without secrets in what an agent or a reviewer had a hand in; that may quote anything.
func Clean[T any](r Cleaner, value T) T {
	return plaintext.CleanAll(plaintext.Cleaner{Line: r.Line, Block: r.Block, Most: listCap}, value)
}

// Stat takes names out of a summary of changes that git has shortened, when a file is named by a secret: half of one is
// not known for a secret.
func (r Cleaner) Stat(stat string, files []string) string {
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
func (r Cleaner) Ended(e attempts.Ended) attempts.Ended {
	e.Receipt.DiffStat = r.Stat(e.Receipt.DiffStat, e.Receipt.FilesChanged)
	if r.Text(e.Session) != e.Session {
		e.Session = ""
	}
	return Clean(r, e)
}

// Long blanks secrets in a line that a brief may cut: half a secret is not known for one.
func (r Cleaner) Long(s *string) {
	if len(*s) > 100 {
		*s = r.Text(*s)
	}
}
