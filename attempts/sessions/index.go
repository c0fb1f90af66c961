package sessions

import (
	"context"
	"database/sql"
	"strings"
	"unicode/utf16"
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
	tx, err := d.search.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
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
	if err := each(ctx, docs, d.newAdder(ctx, tx).document); err != nil {
		return err
	}
	put := tx.StmtContext(ctx, d.prepared[sqlPutMark])
	err = each(ctx, pointers(b.Marks), func(ctx context.Context, m *Mark) error {
		_, err := put.ExecContext(ctx, m.Stream, m.Offset, m.Size, m.State)
		return err
	})
	if err != nil {
		return err
	}
	return tx.Commit()
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

// spoken takes the escapes out of JSON, so that the n of a line break is no part of the word after it.
func spoken(json string) string {
	if !strings.Contains(json, `\`) {
		return json
	}
	var out strings.Builder
	out.Grow(len(json))
	for {
		before, after, found := strings.Cut(json, `\`)
		out.WriteString(before)
		if !found || after == "" {
			return out.String()
		}
		r, n := unescape(after)
		out.WriteRune(r)
		json = after[n:]
	}
}

// unescape returns the character that follows a backslash in JSON, and how many bytes of the text say so.
func unescape(s string) (r rune, size int) {
	if s[0] != 'u' {
		if strings.IndexByte("bfnrt", s[0]) >= 0 {
			return ' ', 1
		}
		return rune(s[0]), 1
	}
	first, ok := hex4(s[1:])
	if !ok {
		return ' ', 1
	}
	if utf16.IsSurrogate(first) && strings.HasPrefix(s[5:], `\u`) {
		if second, ok := hex4(s[7:]); ok {
			return utf16.DecodeRune(first, second), 11
		}
	}
	return first, 5
}

func hex4(s string) (r rune, ok bool) {
	if len(s) < 4 {
		return 0, false
	}
	for _, c := range []byte(s[:4]) {
		digit := strings.IndexByte("0123456789abcdef", c|0x20)
		if digit < 0 {
			return 0, false
		}
		r = r<<4 | rune(digit)
	}
	return r, true
}
