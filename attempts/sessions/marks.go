package sessions

import (
	"context"
	"database/sql"
	"errors"
)

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
