package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"relay/epic/pattern"
)

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
