package sessions

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"

	"relay/internal/lazyregexp"
)

// What full-text search finds. Of a text, so many bytes are searched.
const (
	kindMessage  = 1
	kindToolCall = 2
	maxSearched  = 256 << 10
)

// document is what is said in one row.
type document struct {
	kind int
	id   string
	text string
}

// index puts what a batch says into the search file, and its marks.
func (d *DB) index(ctx context.Context, b Batch) error {
	docs := make([]*document, 0, len(b.Messages)+len(b.ToolCalls))
	for i := range b.Messages {
		text := b.Messages[i].Content
		if b.Messages[i].Titled {
			text, _, _ = strings.Cut(text, "\n")
		}
		docs = append(docs, &document{kindMessage, b.Messages[i].ID, head(text)})
	}
	for i := range b.ToolCalls {
		docs = append(docs, &document{kindToolCall, b.ToolCalls[i].ID, spoken(head(b.ToolCalls[i].ResultJSON))})
	}
	return inTx(ctx, d.search, func(tx *sql.Tx) error {
		if err := each(ctx, docs, d.newAdder(ctx, tx).document); err != nil {
			return err
		}
		put := tx.StmtContext(ctx, d.prepared[sqlPutMark])
		return each(ctx, pointers(b.Marks), func(ctx context.Context, m *Mark) error {
			_, err := put.ExecContext(ctx, m.Stream, m.Offset, m.Size, m.State)
			return err
		})
	})
}

// adder puts documents into the search file.
type adder struct{ name, find, words, again *sql.Stmt }

func (d *DB) newAdder(ctx context.Context, tx *sql.Tx) adder {
	in := func(text string) *sql.Stmt { return tx.StmtContext(ctx, d.prepared[text]) }
	return adder{name: in(sqlAddDocument), find: in(sqlDocument), words: in(sqlAddWords), again: in(sqlPutWords)}
}

func (a adder) document(ctx context.Context, doc *document) error {
	r, err := a.name.ExecContext(ctx, doc.kind, doc.id)
	if err != nil {
		return err
	}
	added, err := r.RowsAffected()
	if err != nil {
		return err
	}
	put, number := a.words, int64(0)
	if added > 0 {
		number, err = r.LastInsertId()
	} else {
		put = a.again
		err = a.find.QueryRowContext(ctx, doc.id, doc.kind).Scan(&number)
	}
	if err == nil {
		_, err = put.ExecContext(ctx, number, doc.text)
	}
	return err
}

// head returns what is searched of a text.
func head(s string) string { return s[:min(len(s), maxSearched)] }

// escapes are those of JSON; several of UTF-16 can be one letter.
var escapes = lazyregexp.New(`(?:\\u[0-9a-fA-F]{4})+|\\.?`)

// spoken takes the escapes out of JSON, so that the n of a line break is no part of the word after it.
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
