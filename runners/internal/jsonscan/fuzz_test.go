package jsonscan

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"relay/internal/plaintext"
)

// FuzzScan fails when something is taken for JSON that is none, or a string for another one.
func FuzzScan(f *testing.F) {
	for _, text := range []string{
		`{"a":[1,-0.5e+3,true,false,null,"x\né\ud83d\ude00\ud800"],"b":{}}`, ` [ ] `, `01`, `1.`, `"\x"`, "\"\x01\"", "\"a\xffb\"", `{"a":1,}`, `{"a" 1}`, `[1 2]`, `"`,
		`"` + strings.Repeat("é", 300) + `x"`, `"\ud83d\ude00"`, `"\ud83dx"`, `"` + strings.Repeat(`\u00e9\n\\`, 100) + `"`,
		`"` + strings.Repeat(`line\n`, 100) + `"`, `"` + strings.Repeat(`\ud83d\ude00`, 100) + `"`, `"x` + strings.Repeat(`\\`, 300) + `"`, strings.Repeat("[", 2000), `"\u12g4"`, `tru`, `-`, `{"text":"` + strings.Repeat(`word\n`, 50) + `"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s := New(text)
		raw := s.Value()
		s.at = skipSpaces(text, max(0, s.at))
		if raw == nil || !s.Done() {
			if json.Valid(text) && bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("[")) < maxNested {
				t.Errorf("%q is JSON", text)
			}
			return
		}
		if !json.Valid(text) {
			t.Fatalf("%q is no JSON", text)
		}
		if raw[0] != '"' {
			return
		}
		var want string
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		q := String(raw)
		if q.String() != want || string(q.Append([]byte("x"))) != "x"+want || string(q.Bytes()) != want || q.Empty() != (want == "") {
			t.Errorf("%q: got %q, want %q", raw, q.String(), want)
		}
		for _, max := range []int{1, 5, 10, 64} {
			if got := q.Head(max); got != plaintext.Head(want, max) {
				t.Errorf("%q, %d bytes: got %q, want %q", raw, max, got, plaintext.Head(want, max))
			}
			if got := q.Tail(max).String(); !strings.HasSuffix(want, got) || len(got) < min(max, len(want)) {
				t.Errorf("%q, last %d bytes: got %q of %q", raw, max, got, want)
			}
		}
	})
}
