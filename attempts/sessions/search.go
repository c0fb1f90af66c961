package sessions

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"relay/internal/plaintext"
)

// Hit is a message or a tool result in which all words of a search stand.
type Hit struct {
	Session  string `json:"session_id"`
	ID       string `json:"id"`             // of the message or the tool call
	Role     string `json:"role,omitempty"` // of a message
	Tool     string `json:"tool,omitempty"` // whose result it is
	Sequence int64  `json:"sequence"`       // of the message
	Time     int64  `json:"timestamp,omitempty"`
	Snippet  string `json:"snippet"` // what stands around the first word, in one line
	Origin   Origin `json:"relay"`
}

// Search returns the messages and tool results that hold all words, those that were written last first. A word that ends in * stands for
// all that begin so; a word with a space in it is looked for as it is.
func (r *Reader) Search(ctx context.Context, words []string, most int) ([]Hit, error) {
	query := matchQuery(words)
	hits := []Hit{}
	if query == "" || r.search == nil {
		return hits, nil
	}
	for limit := most; ; limit *= 2 { // rows that are gone, or are not there yet, leave room for others
		numbers, err := all(ctx, r.search, func(n *int64) []any { return []any{n} }, queryWords, query, limit)
		if err != nil {
			return nil, err
		}
		hits = hits[:0]
		for _, n := range numbers {
			h, ok, err := r.hit(ctx, n, words)
			if err != nil {
				return nil, err
			}
			if ok && len(hits) < most {
				hits = append(hits, h)
			}
		}
		if len(hits) == most || len(numbers) < limit {
			return hits, nil
		}
	}
}

// matchQuery makes of words what FTS5 takes: each in quotes, so that none is an operator.
func matchQuery(words []string) string {
	var quoted []string
	for _, w := range words {
		plain, prefix := strings.CutSuffix(w, "*")
		if strings.IndexFunc(plain, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) < 0 {
			continue
		}
		q := `"` + strings.ReplaceAll(strings.ToValidUTF8(strings.ReplaceAll(plain, "\x00", " "), " "), `"`, `""`) + `"`
		if prefix {
			q += "*"
		}
		quoted = append(quoted, q)
	}
	return strings.Join(quoted, " ")
}

// hit reads the row that a document stands for. ok is false when it is gone.
func (r *Reader) hit(ctx context.Context, number int64, words []string) (h Hit, ok bool, err error) {
	var kind int
	var said, metadata string
	err = r.search.QueryRowContext(ctx, queryDocument, number).Scan(&kind, &h.ID)
	if err == nil && kind == kindMessage {
		err = r.rows.QueryRowContext(ctx, queryHitMessage, h.ID).Scan(&h.Session, &h.Role, &h.Sequence, &h.Time, &said, &metadata)
	} else if err == nil {
		err = r.rows.QueryRowContext(ctx, queryHitCall, h.ID).Scan(&h.Session, &h.Tool, &h.Sequence, &h.Time, &said, &metadata)
		said = spoken(said)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return Hit{}, false, nil
	}
	if r.Clean != nil {
		said = r.Clean(around(said, first(head(said), words)))
	}
	h.Snippet, h.Origin = snippet(head(said), words), originOf(metadata)
	return h, err == nil, named(File, err)
}

// How much of a text a hit shows before and after its first word, in bytes.
const (
	snippetBefore = 60
	snippetAfter  = 140
)

// cleaned is how much of a text is looked at for secrets before and after the first word, in bytes and whole words.
const cleaned = 8 << 10

// around returns the part of a text around a place in which no word is cut.
func around(text string, at int) string {
	begin, end := max(at-cleaned, 0), min(at+cleaned, len(text))
	if begin > 0 {
		begin = strings.LastIndexAny(text[:begin], " \t\r\n") + 1
	}
	if more := strings.IndexAny(text[end:], " \t\r\n"); more >= 0 {
		end += more
	} else {
		end = len(text)
	}
	return text[begin:end]
}

func first(text string, words []string) int {
	at, folded := len(text), strings.ToLower(text)
	if len(folded) != len(text) {
		folded = text // some letters have another length in lower case
	}
	for _, w := range words {
		w = strings.ToLower(strings.TrimSuffix(w, "*"))
		if i := strings.Index(folded, w); i >= 0 && w != "" {
			at = min(at, i)
		}
	}
	if at == len(text) {
		at = 0
	}
	return at
}

func snippet(text string, words []string) string {
	at := first(text, words)
	before := plaintext.Tail(text[:at], snippetBefore)
	after := plaintext.Head(text[at:], snippetAfter)
	found := plaintext.Line(before + after)
	if len(before) < at {
		found = "…" + found
	}
	if at+len(after) < len(text) {
		found += "…"
	}
	if !utf8.ValidString(found) {
		return plaintext.Clean(found)
	}
	return found
}
