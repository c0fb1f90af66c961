package sessions

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Reader reads the agents ledger of one folder, also while another process writes it. Nothing can be written through it.
type Reader struct {
	rows *sql.DB

	Clean func(text string) string // takes secrets out of what hits show, before it is cut to size; may be nil
}

// OpenReadOnly opens the agents ledger of relay's folder for reading. It fails with ErrMissing when there is none, and with ErrForeign,
// ErrNewer, ErrDamaged or ErrLocked.
func OpenReadOnly(ctx context.Context, dir string) (*Reader, error) {
	info, err := os.Stat(filepath.Join(dir, File))
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil, fmt.Errorf("%s: %w", File, ErrMissing)
	}
	if err != nil {
		return nil, err
	}
	rows, err := openReading(filepath.Join(dir, File))
	if err != nil {
		return nil, err
	}
	version, err := versionOf(ctx, rows)
	if err == nil && version == 0 {
		err = fmt.Errorf("%s: %w", File, ErrMissing)
	}
	if err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	return &Reader{rows: rows}, nil
}

// Close closes the file.
func (r *Reader) Close() error { return r.rows.Close() }

func all[T any](ctx context.Context, db *sql.DB, fields func(*T) []any, query string, args ...any) ([]T, error) {
	rows, err := db.QueryContext(ctx, selected(query), args...)
	list, err := scanned(rows, err, fields)
	return list, named(err)
}

// scanned reads each row of a query, unless it has failed.
func scanned[T any](rows *sql.Rows, err error, fields func(*T) []any) (list []T, _ error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var one T
		if err := rows.Scan(fields(&one)...); err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, rows.Err()
}

func one(s *string) []any { return []any{s} }

// Origin returns where in a run a message comes from, as its metadata say.
func (m *Message) Origin() Origin { return originOf(m.MetadataJSON) }

func originOf(metadata string) Origin {
	var m struct {
		Relay Origin `json:"relay"`
	}
	if json.Unmarshal([]byte(metadata), &m) != nil {
		return Origin{}
	}
	return m.Relay
}

// UnknownError means that no session or turn has an id, or one that begins so.
type UnknownError struct {
	Turn        bool
	ID, Nearest string
}

func (e *UnknownError) Error() string {
	said, more := fmt.Sprintf("there is no session %s", e.ID), "; the nearest is "
	if e.Turn {
		said, more = "the agents ledger has no turn "+e.ID, ": the nearest is "
	}
	if e.Nearest == "" {
		return said
	}
	return said + more + e.Nearest
}

// AmbiguousError means that the ids of several sessions begin so.
type AmbiguousError struct {
	ID   string
	Some []string // of them, the first two
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("several sessions begin with %s: %s", e.ID, strings.Join(e.Some, ", "))
}

// Find returns the session with an id, which may be shortened as long as no other one begins so. It fails with an *UnknownError or an
// *AmbiguousError.
func (r *Reader) Find(ctx context.Context, id string) (Session, error) {
	return find[Session](ctx, r, "agent_sessions", querySession, id)
}

// Turn returns the turn with an id, as Find does.
func (r *Reader) Turn(ctx context.Context, id string) (Turn, error) {
	return find[Turn](ctx, r, "agent_turns", queryTurn, id)
}

func find[T any](ctx context.Context, r *Reader, table, query, id string) (row T, err error) {
	whole, err := r.complete(ctx, table, id)
	if err != nil {
		return row, err
	}
	rows, err := all(ctx, r.rows, fieldsOf[T], query, whole)
	if err != nil || len(rows) == 0 {
		return row, errors.Join(err, ErrMissing)
	}
	return rows[0], nil
}

// complete returns the one id in a table that begins with a text.
func (r *Reader) complete(ctx context.Context, table, id string) (string, error) {
	found, err := all(ctx, r.rows, one, "SELECT id FROM "+table+" WHERE id = ?", id)
	if err == nil && len(found) == 0 && id != "" {
		found, err = all(ctx, r.rows, one, "SELECT id FROM "+table+" WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id LIMIT 2", id)
	}
	switch {
	case err != nil:
		return "", err
	case len(found) > 1:
		return "", &AmbiguousError{id, found}
	case len(found) == 1:
		return found[0], nil
	}
	turn, newest := table == "agent_turns", "created_at"
	if turn {
		newest = "timestamp"
	}
	const mostCompared = 5000
	ids, err := all(ctx, r.rows, one, "SELECT id FROM "+table+" ORDER BY "+newest+" DESC, id LIMIT ?", mostCompared)
	if err != nil {
		return "", err
	}
	return "", &UnknownError{turn, id, nearest(id, ids)}
}

func nearest(id string, ids []string) (best string) {
	least := len(id)
	for _, other := range ids {
		if d := levenshtein.ComputeDistance(id, other[:min(len(other), len(id))]); d < least {
			best, least = other, d
		}
	}
	return best
}

// Filter says which sessions are listed; what is empty lets all through.
type Filter struct{ Task, Runner, Run string }

// Listed is a session with where it comes from.
type Listed struct {
	Session
	Origin Origin `json:"relay"`
}

// List returns sessions, the oldest first. A subagent has the origin of the session that began it where it has none of its own.
func (r *Reader) List(ctx context.Context, f Filter) ([]Listed, error) {
	type row struct {
		Listed
		first, last string
	}
	rows, err := all(ctx, r.rows, func(l *row) []any { return append(fieldsOf(&l.Session), &l.first, &l.last) }, queryList)
	if err != nil {
		return nil, err
	}
	list := []Listed{}
	origins := map[string]Origin{} // a parent comes before its children
	for _, l := range rows {
		l.Origin = originOf(l.first)
		last := originOf(l.last)
		if l.Origin.Run == "" {
			l.Origin = last
		}
		if l.Origin.Run == "" {
			l.Origin = origins[l.ParentSession]
		}
		origins[l.ID] = l.Origin
		if (f.Task == "" || l.Origin.Task == f.Task) && (f.Runner == "" || l.Source == f.Runner) &&
			(f.Run == "" || l.Origin.Run == f.Run || last.Run == f.Run) {
			list = append(list, l.Listed)
		}
	}
	return list, nil
}
