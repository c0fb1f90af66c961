package sessions

import (
	"context"
	"database/sql"
	"fmt"
)

// Write puts a batch into the ledger in one transaction: all of it is there, and durable, when Write returns nil, and nothing of it
// otherwise. A row with an id that is there already replaces that one, so the same rows can be written any number of times. What a row
// refers to has to be there before it or be in the batch, but for the parent message of a session, and the parent turn and the messages
// of a turn.
//
// What the rows say is then put into the search file with the batch's marks. When that fails, Write returns the error, the rows stay, and
// the marks are as they were.
//
// Errors are *TakenError, ErrLocked, ErrFull, ErrDamaged, and others.
func (d *DB) Write(ctx context.Context, b Batch) error {
	if err := b.check(); err != nil {
		return err
	}
	ordered, err := parentsFirst(b.Sessions)
	if err != nil {
		return err
	}
	if err := d.writeRows(ctx, b, ordered); err != nil {
		return named(File, err)
	}
	return named(SearchFile, d.index(ctx, b))
}

func (d *DB) writeRows(ctx context.Context, b Batch, ordered []*Session) error {
	return d.writing(ctx, d.rows, func(w *writing) error {
		if err := each(ctx, ordered, w.session); err != nil {
			return err
		}
		if err := w.messages(ctx, b.Messages); err != nil {
			return err
		}
		if err := each(ctx, pointers(b.Turns), w.turn); err != nil {
			return err
		}
		return each(ctx, pointers(b.ToolCalls), func(ctx context.Context, c *ToolCall) error {
			return w.owned(ctx, putToolCall, columnsIn(c).values, &TakenError{"tool call", c.ID, c.Session})
		})
	})
}

func inTx(ctx context.Context, db *sql.DB, do func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// writing does something in one transaction, with the statements that are prepared.
func (d *DB) writing(ctx context.Context, db *sql.DB, do func(*writing) error) error {
	return inTx(ctx, db, func(tx *sql.Tx) error {
		return do(&writing{tx: tx, of: d, bound: map[string]*sql.Stmt{}})
	})
}

// each does something with every row until it fails or ctx ends. Only the batch can be interrupted, not one of its rows: a statement
// that can be costs a goroutine.
func each[T any](ctx context.Context, rows []*T, do func(context.Context, *T) error) error {
	whole := context.WithoutCancel(ctx)
	for _, row := range rows {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := do(whole, row); err != nil {
			return err
		}
	}
	return nil
}

func pointers[T any](rows []T) []*T {
	list := make([]*T, len(rows))
	for i := range rows {
		list[i] = &rows[i]
	}
	return list
}

// writing is one transaction.
type writing struct {
	tx    *sql.Tx
	of    *DB
	bound map[string]*sql.Stmt
}

func (w *writing) statement(ctx context.Context, name string) *sql.Stmt {
	if w.bound[name] == nil {
		w.bound[name] = w.tx.StmtContext(ctx, w.of.prepared[name])
	}
	return w.bound[name]
}

func (w *writing) exec(ctx context.Context, name string, values ...any) (int64, error) {
	r, err := w.statement(ctx, name).ExecContext(ctx, values...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// session writes a session, later than its parent, and moves those that it has begun after it.
func (w *writing) session(ctx context.Context, s *Session) error {
	values := columnsIn(s).values
	added, err := w.exec(ctx, newSession, values...)
	if err == nil && added == 0 {
		_, err = w.exec(ctx, putSession, values...)
	}
	if err != nil {
		return fmt.Errorf("session %q: %w", s.ID, err)
	}
	var parents []string
	if s.ParentSession != "" {
		parents = append(parents, s.ParentSession)
	}
	if added == 0 { // a new one has begun none yet
		parents = append(parents, s.ID)
	}
	for len(parents) > 0 {
		rows, err := w.statement(ctx, olderChildren).QueryContext(ctx, parents[0])
		moved, err := scanned(rows, err, one)
		if err != nil {
			return err
		}
		parents = append(parents[1:], moved...)
	}
	return nil
}

func (w *writing) messages(ctx context.Context, list []Message) error {
	added := map[string]int64{}
	err := each(ctx, pointers(list), func(ctx context.Context, m *Message) error {
		values := columnsIn(m).values
		n, err := w.exec(ctx, newMessage, values...)
		if err == nil && n == 0 {
			return w.owned(ctx, putMessage, values, &TakenError{"message", m.ID, m.Session})
		}
		if err != nil {
			return fmt.Errorf("message %q: %w", m.ID, err)
		}
		added[m.Session]++
		return nil
	})
	for session, n := range added {
		if err != nil {
			break
		}
		_, err = w.exec(ctx, addMessages, session, n)
	}
	return err
}

// turn writes a turn and says of it and of its parent whether others follow it.
func (w *writing) turn(ctx context.Context, t *Turn) error {
	if err := w.owned(ctx, putTurn, columnsIn(t).values, &TakenError{"turn", t.ID, t.Session}); err != nil {
		return err
	}
	for _, id := range []string{t.ID, t.Parent} {
		if id == "" {
			continue
		}
		if _, err := w.exec(ctx, hasChildren, id); err != nil {
			return err
		}
	}
	return nil
}

// owned writes a row, unless another session has one of its id.
func (w *writing) owned(ctx context.Context, name string, values []any, taken *TakenError) error {
	n, err := w.exec(ctx, name, values...)
	if err != nil {
		return fmt.Errorf("%s %q: %w", taken.Row, taken.ID, err)
	}
	if n == 0 {
		return taken
	}
	return nil
}
