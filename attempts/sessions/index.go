package sessions

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"

	"relay/internal/lazyregexp"
)

// What full-text search finds. Of a text, so many bytes are searched.
const (
	kindMessage  = 1
	kindToolCall = 2
	maxSearched  = 256 << 10
)

type document struct {
	kind int
	id   string
	text string
}

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
	return d.writing(ctx, d.search, func(w *writing) error {
		if err := each(ctx, docs, w.document); err != nil {
			return err
		}
		return each(ctx, pointers(b.Marks), func(ctx context.Context, m *Mark) error {
			_, err := w.exec(ctx, sqlPutMark, m.Stream, m.Offset, m.State)
			return err
		})
	})
}

func (w *writing) document(ctx context.Context, doc *document) error {
	var number int64
	put := sqlAddWords
	err := w.statement(ctx, sqlAddDocument).QueryRowContext(ctx, doc.kind, doc.id).Scan(&number)
	if errors.Is(err, sql.ErrNoRows) {
		put = sqlPutWords
		err = w.statement(ctx, sqlDocument).QueryRowContext(ctx, doc.id, doc.kind).Scan(&number)
	}
	if err == nil {
		_, err = w.exec(ctx, put, number, doc.text)
	}
	return err
}

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
