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
	err = d.prepared[sqlMark].QueryRowContext(whole, stream).Scan(&m.Offset, &m.State)
	if errors.Is(err, sql.ErrNoRows) {
		return Mark{}, false, nil
	}
	return m, err == nil, named(SearchFile, err)
}

// Unmark forgets how far streams have been read.
func (d *DB) Unmark(ctx context.Context, streams ...string) error {
	return named(SearchFile, inTx(ctx, d.search, func(tx *sql.Tx) error {
		return each(ctx, pointers(streams), func(ctx context.Context, stream *string) error {
			_, err := tx.ExecContext(ctx, sqlUnmark, *stream)
			return err
		})
	}))
}

// Forget takes sessions out of the ledger, with the subagents they have begun and all that was said in them. Tool calls of other sessions
// that have begun one of them stay, and begin none any more. Sessions that are not there are passed over.
func (d *DB) Forget(ctx context.Context, sessions ...string) error {
	var gone []document
	err := inTx(ctx, d.rows, func(tx *sql.Tx) error {
		for _, id := range sessions {
			docs, err := forget(ctx, tx, id)
			if err != nil {
				return err
			}
			gone = append(gone, docs...)
		}
		return nil
	})
	if err != nil {
		return named(File, err)
	}
	return named(SearchFile, d.unindex(ctx, pointers(gone)))
}

// Shrink gives back the room that forgotten sessions have taken, and leaves nothing of them in the files.
func (d *DB) Shrink(ctx context.Context) error {
	for name, db := range map[string]*sql.DB{File: d.rows, SearchFile: d.search} {
		for _, statement := range []string{sqlVacuum, sqlCheckpoint} {
			if _, err := db.ExecContext(ctx, statement); err != nil {
				return named(name, err)
			}
		}
	}
	return nil
}

// forget deletes one session with those below it, and returns what search knows of them.
func forget(ctx context.Context, tx *sql.Tx, id string) (gone []document, err error) {
	rows, err := tx.QueryContext(ctx, sqlFamilyDocuments, id)
	gone, err = scanned(rows, err, func(doc *document) []any { return []any{&doc.kind, &doc.id} })
	if err != nil {
		return nil, err
	}
	for _, text := range sqlForget() {
		if _, err := tx.ExecContext(ctx, text, id); err != nil {
			return nil, err
		}
	}
	return gone, nil
}

func (d *DB) unindex(ctx context.Context, docs []*document) error {
	return inTx(ctx, d.search, func(tx *sql.Tx) error {
		return each(ctx, docs, func(ctx context.Context, doc *document) error {
			if _, err := tx.ExecContext(ctx, sqlDropWords, doc.id, doc.kind); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, sqlDropDocument, doc.id, doc.kind)
			return err
		})
	})
}
