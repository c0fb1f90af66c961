package sessions

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"relay/epic/pattern"
	"relay/epic/plaintext"
)

// Hit is a message or a tool result in which all words of a search stand.
type Hit struct {
	Session  string `json:"session_id"`
	ID       string `json:"id"`             // of the message or the tool call
	Role     string `json:"role,omitempty"` // of a message
	Tool     string `json:"tool,omitempty"` // whose result it is
	Sequence int64  `json:"sequence"`       // of the message
	Time     int64  `json:"timestamp,omitempty"`
	Snippet  string `json:"snippet"` // what stands around the first word, in one line
	Origin   Origin `json:"relay"`
}

// Search returns the newest messages and tool results that hold all words, whatever their case. A word that ends in * matches any ending;
// a word with spaces in it matches as a phrase. Of a prompt of relay's, which repeats much, only the first line counts.
func (r *Reader) Search(ctx context.Context, words []string, most int) ([]Hit, error) {
	hits := []Hit{}
	var match []*regexp.Regexp
	content, result := "m.content <> ''", "c.result_json <> ''"
	for _, w := range words {
		plain, prefix := strings.CutSuffix(strings.ToValidUTF8(w, " "), "*")
		if strings.IndexFunc(plain, isWord) < 0 {
			continue
		}
		match = append(match, wordPattern(plain, prefix))
		for _, part := range strings.FieldsFunc(plain, func(r rune) bool { return r >= utf8.RuneSelf || !isWord(r) }) {
			content, result = content+" AND m.content LIKE '%"+part+"%'", result+" AND c.result_json LIKE '%"+part+"%'"
		}
	}
	if len(match) == 0 {
		return hits, nil
	}
	found, err := all(ctx, r.rows, func(d *document) []any { return []any{&d.kind, &d.id} }, fmt.Sprintf(queryFound, content, result))
	for _, d := range found {
		if len(hits) == most {
			break
		}
		h, ok, err := r.hit(ctx, d, match)
		if err != nil {
			return nil, err
		}
		if ok {
			hits = append(hits, h)
		}
	}
	return hits, err
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// wordPattern matches a word or a phrase where no letter stands beside it.
func wordPattern(plain string, prefix bool) *regexp.Regexp {
	parts := strings.FieldsFunc(plain, func(r rune) bool { return !isWord(r) })
	pattern := `(?i)(?:^|[^\pL\pN])(` + strings.Join(parts, `[^\pL\pN]+`) + `)`
	if !prefix {
		pattern += `(?:$|[^\pL\pN])`
	}
	return regexp.MustCompile(pattern) // of letters and digits
}

// document names a row that can be found.
type document struct{ kind, id string }

// hit reads a row. ok is false when it does not have all words, or has been removed meanwhile.
func (r *Reader) hit(ctx context.Context, d document, match []*regexp.Regexp) (h Hit, ok bool, err error) {
	var said, metadata string
	h.ID = d.id
	if d.kind == kindMessage {
		err = r.rows.QueryRowContext(ctx, queryHitMessage, d.id).Scan(&h.Session, &h.Role, &h.Sequence, &h.Time, &said, &metadata)
		if strings.HasSuffix(d.id, PromptSuffix) {
			said, _, _ = strings.Cut(said, "\n")
		}
	} else {
		err = r.rows.QueryRowContext(ctx, queryHitCall, d.id).Scan(&h.Session, &h.Tool, &h.Sequence, &h.Time, &said, &metadata)
		said = spoken(said)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return Hit{}, false, nil
	}
	for _, m := range match {
		if !m.MatchString(said) {
			return Hit{}, false, named(err)
		}
	}
	if r.Clean != nil {
		said = r.Clean(around(said, first(said, match)))
	}
	h.Snippet, h.Origin = snippet(said, first(said, match)), originOf(metadata)
	return h, err == nil, named(err)
}

// escapes are those of JSON; several of UTF-16 can be one letter.
var escapes = pattern.New(`(?:\\u[0-9a-fA-F]{4})+|\\.?`)

// spoken takes the escapes out of JSON, so that the n of a line break is not a part of the word after it.
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

// How much of a text a hit shows before and after its first word, in bytes.
const (
	snippetBefore = 60
	snippetAfter  = 140
)

// cleaned is how much of a text is looked at for secrets before and after the first word, in bytes and whole words.
const cleaned = 8 << 10

// around returns the part of a text around a place in which no word is cut.
func around(text string, at int) string {
	begin, end := max(at-cleaned, 0), min(at+cleaned, len(text))
	if begin > 0 {
		begin = strings.LastIndexAny(text[:begin], " \t\r\n") + 1
	}
	if more := strings.IndexAny(text[end:], " \t\r\n"); more >= 0 {
		end += more
	} else {
		end = len(text)
	}
	return text[begin:end]
}

// first returns where the first of some words stands; 0 if none does.
func first(text string, match []*regexp.Regexp) int {
	at := len(text)
	for _, m := range match {
		if place := m.FindStringSubmatchIndex(text); place != nil {
			at = min(at, place[2])
		}
	}
	if at == len(text) {
		return 0
	}
	return at
}

// snippet returns in one line what stands around a place of a text.
func snippet(text string, at int) string {
	before := plaintext.Tail(text[:at], snippetBefore)
	after := plaintext.Head(text[at:], snippetAfter)
	found := plaintext.Line(before + after)
	if len(before) < at {
		found = "…" + found
	}
	if at+len(after) < len(text) {
		found += "…"
	}
	return plaintext.Clean(found)
}
