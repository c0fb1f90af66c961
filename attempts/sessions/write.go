package sessions

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Begin begins a transaction, if there is none: all that is written from now on is durable when [DB.Commit] returns nil, and nothing of
// it if the process ends before. Errors are ErrLocked and others.
func (d *DB) Begin(ctx context.Context) error {
	if d.in != nil {
		return nil
	}
	tx, err := d.rows.BeginTx(ctx, nil)
	if err == nil {
		d.in = &writing{tx: tx, of: d, bound: map[string]*sql.Stmt{}}
		if _, err = tx.ExecContext(ctx, sqlAnyOrder); err != nil {
			d.rollback()
		}
	}
	return named(err)
}

// Commit ends the transaction that Begin has begun, if there is one.
func (d *DB) Commit() error {
	if d.in == nil {
		return nil
	}
	defer d.rollback()
	return named(d.in.tx.Commit())
}

func (d *DB) rollback() {
	if d.in != nil {
		_ = d.in.tx.Rollback()
		d.in = nil
	}
}

// change does something in the transaction that Begin has begun, or in one of its own. An error takes back all of it.
func (d *DB) change(ctx context.Context, do func(*writing) error) error {
	alone := d.in == nil
	if err := d.Begin(ctx); err != nil {
		return err
	}
	if err := do(d.in); err != nil {
		d.rollback()
		return named(err)
	}
	if alone {
		return d.Commit()
	}
	return nil
}

// Write puts a batch into the ledger in one transaction: all of it is there, and durable, when Write returns nil, and nothing of it
// otherwise. After Begin it is a part of that transaction, and an error takes back all of that. A row with an id that is there already
// replaces that one, so the same rows can be written any number of times. What a row refers to has to be there before it or be in the
// same transaction, but for the parent message of a session, and the parent turn and the messages of a turn.
//
// Errors are *TakenError, ErrLocked, ErrFull, ErrDamaged, and others.
func (d *DB) Write(ctx context.Context, b Batch) error {
	return d.change(ctx, func(w *writing) error {
		if err := each(ctx, b.Sessions, w.session); err != nil {
			return err
		}
		if err := w.messages(ctx, b.Messages); err != nil {
			return err
		}
		if err := each(ctx, b.Turns, w.turn); err != nil {
			return err
		}
		if err := each(ctx, b.ToolCalls, func(ctx context.Context, c *ToolCall) error {
			return w.owned(ctx, putToolCall, columnsIn(c).values, &TakenError{"tool call", c.ID, c.Session})
		}); err != nil {
			return err
		}
		return each(ctx, b.Marks, func(ctx context.Context, m *Mark) error {
			_, err := w.exec(ctx, putMark, m.Stream, m.Offset, m.State)
			return err
		})
	})
}

// each does something with every row until it fails or ctx ends. Only the batch can be interrupted, not one of its rows: a statement
// that can be costs a goroutine.
func each[T any](ctx context.Context, rows []T, do func(context.Context, *T) error) error {
	whole := context.WithoutCancel(ctx)
	for i := range rows {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := do(whole, &rows[i]); err != nil {
			return err
		}
	}
	return nil
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
	if _, err := w.exec(ctx, putSession, values...); err != nil {
		return fmt.Errorf("session %q: %w", s.ID, err)
	}
	const mostMoved = 1000 // also where sessions begin each other in a circle
	parents := []string{s.ID}
	if s.ParentSession != "" {
		parents = append(parents, s.ParentSession)
	}
	for n := 0; n < mostMoved && len(parents) > 0; n++ {
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
	err := each(ctx, list, func(ctx context.Context, m *Message) error {
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

// Mark returns how far a stream has been read. ok is false for one that was not.
func (d *DB) Mark(ctx context.Context, stream string) (m Mark, ok bool, err error) {
	m.Stream = stream
	whole := context.WithoutCancel(ctx) // it reads one row
	get := d.prepared[getMark]
	if d.in != nil {
		get = d.in.statement(whole, getMark)
	}
	err = get.QueryRowContext(whole, stream).Scan(&m.Offset, &m.State)
	if errors.Is(err, sql.ErrNoRows) {
		return Mark{}, false, nil
	}
	return m, err == nil, named(err)
}

// Unmark forgets how far a stream has been read.
func (d *DB) Unmark(ctx context.Context, stream string) error {
	return d.change(ctx, func(w *writing) error {
		_, err := w.exec(context.WithoutCancel(ctx), unmark, stream)
		return err
	})
}

// Forget takes sessions out of the ledger, with the subagents they have begun and all that was said in them. Tool calls of other sessions
// that have begun one of them stay, and refer to none. It ignores sessions that do not exist.
func (d *DB) Forget(ctx context.Context, sessions ...string) error {
	return d.change(ctx, func(w *writing) error {
		for _, id := range sessions {
			for _, text := range sqlForget() {
				if _, err := w.tx.ExecContext(ctx, text, id); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Shrink gives back the room that forgotten sessions have taken, and leaves nothing of them in the file.
func (d *DB) Shrink(ctx context.Context) error {
	for _, statement := range []string{sqlVacuum, sqlCheckpoint} {
		if _, err := d.rows.ExecContext(ctx, statement); err != nil {
			return named(err)
		}
	}
	return nil
}
