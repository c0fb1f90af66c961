package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

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

// Search returns the newest messages and tool results that hold all words, also within longer ones. It ignores the case of ASCII letters. A
// word with spaces in it matches as a phrase. Of a prompt of relay's, which repeats much, only the first line counts.
func (r *Reader) Search(ctx context.Context, words []string, most int) ([]Hit, error) {
	hits, match := []Hit{}, "true"
	var args []any
	var quoted []string
	for _, w := range words {
		if w = strings.TrimRight(strings.ToValidUTF8(w, " "), "*"); strings.TrimSpace(w) != "" {
			args, quoted = append(args, w), append(quoted, regexp.QuoteMeta(w))
			match += fmt.Sprintf(" AND instr(lower(said), lower(?%d)) > 0", len(args))
		}
	}
	if len(args) == 0 {
		return hits, nil
	}
	type row struct {
		Hit
		said, metadata string
	}
	found, err := all(ctx, r.rows, func(h *row) []any {
		return []any{&h.Session, &h.ID, &h.Role, &h.Tool, &h.Sequence, &h.Time, &h.said, &h.metadata}
	}, fmt.Sprintf(queryFound, match, most), args...)
	first := regexp.MustCompile("(?i)" + strings.Join(quoted, "|"))
	for _, h := range found {
		if h.Role == "" {
			h.said = spoken.Replace(h.said)
		}
		if r.Clean != nil {
			h.said = r.Clean(h.said)
		}
		at := 0
		if place := first.FindStringIndex(h.said); place != nil {
			at = place[0]
		}
		h.Snippet, h.Origin = snippet(h.said, at), originOf(h.metadata)
		hits = append(hits, h.Hit)
	}
	return hits, err
}

// spoken takes the escapes of JSON out of what is shown.
var spoken = strings.NewReplacer(`\n`, " ", `\t`, " ", `\r`, " ", `\"`, `"`, `\\`, `\`)

// How much of a text a hit shows before and after its first word, in bytes.
const (
	snippetBefore = 60
	snippetAfter  = 140
)

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

// reads matches the beginning of a query that changes nothing.
var reads = pattern.New(`(?i)^\s*(SELECT|WITH|VALUES)\b`)

// SQL runs one query that the user has written. The query runs as the source of another one, so that it cannot be any other statement, and
// through a connection that only reads.
func (r *Reader) SQL(ctx context.Context, query string, limits Limits) (*Table, error) {
	query = strings.TrimRight(query, "; \t\r\n")
	if !reads.MatchString(query) || strings.Contains(quoted.ReplaceAllString(query, ""), ";") {
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
		t.Rows = append(t.Rows, values)
	}
	return t, cmp.Or(context.Cause(ctx), rows.Err())
}
