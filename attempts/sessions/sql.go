package sessions

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"relay/internal/lazyregexp"
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

// What a query is refused or stopped for.
var (
	ErrNotOne   = errors.New("one statement is wanted")
	ErrNotRead  = errors.New("only queries that read are run")
	ErrTooLong  = errors.New("the query took longer than it may")
	ErrTooLarge = errors.New("the query needs more memory than it may")
)

const (
	maxQueryText = 64 << 10
	maxValue     = 16 << 20 // bytes of one value or row
	maxAnswer    = 64 << 20 // bytes of the values of all rows
	mostColumns  = 200
)

// SQL runs one query that the user has written. Nothing it says can change anything: the file is opened for reading, and a statement that
// is anything else than a query over its tables is refused before it runs, among them ATTACH, PRAGMA that sets something, and functions
// that reach outside of the database.
func (r *Reader) SQL(ctx context.Context, query string, limits Limits) (*Table, error) {
	query, err := statement(query)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limits.Time, ErrTooLong)
	defer cancel()
	db, err := openReading(r.path) // a connection of its own: what bounds it is not taken off again
	if err != nil {
		return nil, err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, cmp.Or(context.Cause(ctx), named(File, err))
	}
	defer conn.Close()
	denied, err := guard(conn)
	if err != nil {
		return nil, err
	}
	table, err := read(ctx, conn, query, limits.Rows)
	if err != nil && *denied {
		err = fmt.Errorf("%w: %w", ErrNotRead, err)
	}
	if err != nil {
		return nil, cmp.Or(context.Cause(ctx), refusal(err))
	}
	return table, nil
}

// read runs a statement that may be no query, and collects its first rows.
func read(ctx context.Context, conn *sql.Conn, query string, most int) (*Table, error) {
	first := strings.ToUpper(query[:len(query)-len(strings.TrimLeftFunc(query, unicode.IsLetter))])
	switch first {
	default: // such as VACUUM, of which SQLite does not ask whether it may be
		return nil, ErrNotRead
	case "EXPLAIN", "PRAGMA":
	case "SELECT", "WITH", "VALUES":
		if _, err := conn.ExecContext(ctx, "EXPLAIN "+query); err != nil { // is compiled, so that mistakes are those of the user's text
			return nil, err
		}
		query = fmt.Sprintf(sqlWhole, query, most+1)
	}
	rows, err := conn.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	t := &Table{Columns: columns, Rows: [][]any{}}
	size := 0
	for rows.Next() {
		if t.More = len(t.Rows) == most; t.More {
			return t, nil
		}
		values := make([]any, len(columns))
		to := make([]any, len(columns))
		for i := range values {
			to[i] = &values[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		size += plain(values)
		if size > maxAnswer {
			return nil, ErrTooLarge
		}
		t.Rows = append(t.Rows, values)
	}
	return t, rows.Err()
}

// plain makes values such that JSON can hold them, and returns how many bytes of text they have.
func plain(values []any) (size int) {
	for i, v := range values {
		switch v := v.(type) {
		case float64:
			if math.IsInf(v, 0) {
				values[i] = fmt.Sprint(v)
			}
		case string:
			size += len(v)
		case []byte:
			size += len(v)
		}
	}
	return size
}

// guard makes a connection refuse whatever is no query, and bounds what one may be. Whether something was refused is in denied.
func guard(conn *sql.Conn) (denied *bool, err error) {
	for id, value := range map[int]int{
		sqlite3.SQLITE_LIMIT_LENGTH: maxValue, sqlite3.SQLITE_LIMIT_SQL_LENGTH: maxQueryText, sqlite3.SQLITE_LIMIT_ATTACHED: 0,
		sqlite3.SQLITE_LIMIT_COLUMN: mostColumns, sqlite3.SQLITE_LIMIT_EXPR_DEPTH: mostColumns,
	} {
		if _, err := sqlite.Limit(conn, id, value); err != nil {
			return nil, err
		}
	}
	denied = new(bool)
	return denied, conn.Raw(func(driver any) error {
		to, ok := driver.(sqlite.AuthorizerRegisterer)
		if !ok {
			return errors.ErrUnsupported
		}
		return to.RegisterAuthorizer(func(action sqlite.AuthorizerActionCode, name, value, _, _ string) sqlite.AuthorizerReturnCode {
			if reads(action, name, value) {
				return sqlite.AuthorizerOK
			}
			*denied = true
			return sqlite.AuthorizerDeny
		})
	})
}

// reads reports whether a statement that only reads does something.
func reads(action sqlite.AuthorizerActionCode, name, value string) bool {
	switch action { //nolint:exhaustive // all else changes something
	case sqlite.AuthSelect, sqlite.AuthRead, sqlite.AuthRecursive:
		return true
	case sqlite.AuthFunction:
		return value != "load_extension"
	case sqlite.AuthPragma:
		return slices.Contains(strings.Fields(sqlReadingPragmas), strings.ToLower(name))
	}
	return false
}

// refusal says which of the errors above one of the driver is.
func refusal(err error) error {
	failed, ok := errors.AsType[*sqlite.Error](err)
	if !ok || errors.Is(err, ErrNotRead) {
		return err
	}
	switch failed.Code() & 0xff {
	case sqlite3.SQLITE_READONLY:
		return fmt.Errorf("%w: %w", ErrNotRead, err)
	case sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_TOOBIG:
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	return named(File, err)
}

// statement returns the one statement that a text holds, without the comments before it and the semicolon after it. It fails with
// ErrNotOne when there is none, or more than one.
func statement(text string) (string, error) {
	statements, from, to, at := 0, 0, 0, 0
	ended := true
	for _, token := range tokens.FindAllString(text, -1) {
		switch {
		case token == ";":
			ended = true
		case strings.TrimSpace(token) == "", strings.HasPrefix(token, "--"), strings.HasPrefix(token, "/*"):
		default:
			if ended {
				statements++
				from = at
			}
			ended, to = false, at+len(token)
		}
		at += len(token)
	}
	if statements != 1 {
		return "", fmt.Errorf("%w: there are %d", ErrNotOne, statements)
	}
	return text[from:to], nil
}

// tokens are those of SQL that decide where a statement ends, as SQLite's own tokenizer sees them. A doubled quote begins another token of
// the same kind.
var tokens = lazyregexp.New("(?s)[ \\t\\r\\n\\f]+|--[^\\n]*\\n?|/\\*.*?(?:\\*/|\\z)|\\[[^\\]]*\\]?|'[^']*'?|\"[^\"]*\"?|`[^`]*`?|.")
