package sessions

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"relay/epic/pattern"
	"relay/epic/plaintext"
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

// Search returns the newest messages and tool results that hold all words, whatever their case. A word that ends in * matches any ending;
// a word with spaces in it matches as a phrase. Of a prompt of relay's, which repeats much, only the first line counts.
func (r *Reader) Search(ctx context.Context, words []string, most int) ([]Hit, error) {
	hits := []Hit{}
	under := search{rows: r.rows, clean: r.Clean}
	content, result := "m.content <> ''", "c.result_json <> ''"
	for _, w := range words {
		plain, prefix := strings.CutSuffix(strings.ToValidUTF8(w, " "), "*")
		if strings.IndexFunc(plain, isWord) < 0 {
			continue
		}
		under.match = append(under.match, wordPattern(plain, prefix))
		for _, part := range strings.FieldsFunc(plain, func(r rune) bool { return r >= utf8.RuneSelf || !isWord(r) }) {
			content, result = content+" AND m.content LIKE '%"+part+"%'", result+" AND c.result_json LIKE '%"+part+"%'"
		}
	}
	if len(under.match) == 0 {
		return hits, nil
	}
	found, err := all(ctx, r.rows, func(d *document) []any { return []any{&d.kind, &d.id} }, fmt.Sprintf(queryFound, content, result))
	for _, d := range found {
		if len(hits) == most {
			break
		}
		h, ok, err := under.hit(ctx, d)
		if err != nil {
			return nil, err
		}
		if ok {
			hits = append(hits, h)
		}
	}
	return hits, err
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// wordPattern matches a word or a phrase where no letter stands beside it.
func wordPattern(plain string, prefix bool) *regexp.Regexp {
	parts := strings.FieldsFunc(plain, func(r rune) bool { return !isWord(r) })
	pattern := `(?i)(?:^|[^\pL\pN])(` + strings.Join(parts, `[^\pL\pN]+`) + `)`
	if !prefix {
		pattern += `(?:$|[^\pL\pN])`
	}
	return regexp.MustCompile(pattern) // of letters and digits
}

// document names a row that can be found.
type document struct{ kind, id string }

// search is a search under way.
type search struct {
	rows  *sql.DB
	clean func(text string) string
	match []*regexp.Regexp // all of them have to match
}

// hit reads a row. ok is false when it does not have all words, or has been removed meanwhile.
func (s *search) hit(ctx context.Context, d document) (h Hit, ok bool, err error) {
	var said, metadata string
	h.ID = d.id
	if d.kind == kindMessage {
		err = s.rows.QueryRowContext(ctx, queryHitMessage, d.id).Scan(&h.Session, &h.Role, &h.Sequence, &h.Time, &said, &metadata)
		if strings.HasSuffix(d.id, PromptSuffix) {
			said, _, _ = strings.Cut(said, "\n")
		}
	} else {
		err = s.rows.QueryRowContext(ctx, queryHitCall, d.id).Scan(&h.Session, &h.Tool, &h.Sequence, &h.Time, &said, &metadata)
		said = spoken(said)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return Hit{}, false, nil
	}
	for _, m := range s.match {
		if !m.MatchString(said) {
			return Hit{}, false, named(err)
		}
	}
	if s.clean != nil {
		said = s.clean(said)
	}
	h.Snippet, h.Origin = snippet(said, first(said, s.match)), originOf(metadata)
	return h, err == nil, named(err)
}

// escapes are those of JSON; several of UTF-16 can be one letter.
var escapes = pattern.New(`(?:\\u[0-9a-fA-F]{4})+|\\.?`)

// spoken takes the escapes out of JSON, so that the n of a line break is not a part of the word after it.
func spoken(text string) string {
	return escapes.ReplaceAllStringFunc(text, func(escape string) string {
		switch escape {
		case `\b`, `\f`, `\n`, `\r`, `\t`, `\u`:
			return " "
		}
		var letters string
		if json.Unmarshal([]byte(`"`+escape+`"`), &letters) != nil {
			return escape[1:]
		}
		return letters
	})
}

// How much of a text a hit shows before and after its first word, in bytes.
const (
	snippetBefore = 60
	snippetAfter  = 140
)

// first returns where the first of some words stands; 0 if none does.
func first(text string, match []*regexp.Regexp) int {
	at := len(text)
	for _, m := range match {
		if place := m.FindStringSubmatchIndex(text); place != nil {
			at = min(at, place[2])
		}
	}
	if at == len(text) {
		return 0
	}
	return at
}

// snippet returns in one line what stands around a place of a text.
func snippet(text string, at int) string {
	before := plaintext.Tail(text[:at], snippetBefore)
	after := plaintext.Head(text[at:], snippetAfter)
	found := plaintext.Line(before + after)
	if len(before) < at {
		found = "…" + found
	}
	if at+len(after) < len(text) {
		found += "…"
	}
	return plaintext.Clean(found)
}

// Limits bound a query of the user's.
type Limits struct {
	Rows int
	Time time.Duration
}

// Table is what a query returns. A value is nil, an int64, a float64, a string, or the bytes of a BLOB.
type Table struct {
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"`
	More    bool     `json:"more"` // there are more rows than the limit allows
}

// Errors of a query.
var (
	ErrNotRead = errors.New("only queries that read are run")
	ErrTooLong = errors.New("the query took longer than it may")
)

// quoted matches what can have a semicolon that ends no statement: quotes and comments.
var quoted = pattern.New("(?s)'[^']*'|\"[^\"]*\"|`[^`]*`|\\[[^]]*]|--[^\n]*|/\\*.*?\\*/")

// SQL runs one query that the user has written. The query runs as the source of another one, so that it cannot be any other statement, and
// through a connection that only reads.
func (r *Reader) SQL(ctx context.Context, query string, limits Limits) (*Table, error) {
	query = strings.TrimRight(query, "; \t\r\n")
	word := strings.TrimSpace(query)
	if end := strings.IndexFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }); end >= 0 {
		word = word[:end]
	}
	reads := slices.Contains([]string{"SELECT", "WITH", "VALUES"}, strings.ToUpper(word))
	if !reads || strings.Contains(quoted.ReplaceAllString(query, ""), ";") {
		return nil, ErrNotRead
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limits.Time, ErrTooLong)
	defer cancel()
	rows, err := r.rows.QueryContext(ctx, fmt.Sprintf(sqlWhole, query, limits.Rows+1))
	if err != nil {
		return nil, cmp.Or(context.Cause(ctx), named(err))
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	t := &Table{Columns: columns, Rows: [][]any{}}
	for rows.Next() {
		if t.More = len(t.Rows) == limits.Rows; t.More {
			return t, nil
		}
		values, to := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			to[i] = &values[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		for i, v := range values {
			if f, ok := v.(float64); ok && math.IsInf(f, 0) { // JSON does not have it
				values[i] = fmt.Sprint(f)
			}
		}
		t.Rows = append(t.Rows, values)
	}
	return t, cmp.Or(context.Cause(ctx), rows.Err())
}
