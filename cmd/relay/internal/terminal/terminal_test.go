package terminal

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"syscall"
	"testing"
	"unicode"
	"unicode/utf8"

	"relay/epic/plaintext"
)

// What comes out drives no terminal, whatever goes in and wherever it is cut; JSON stays the JSON it was.
func FuzzScrubber(f *testing.F) {
	f.Add([]byte("a\x1b[31m\u202e é"), 3)
	f.Add([]byte("日本\r\n\xff"), 1)
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		var whole, parts bytes.Buffer
		w := NewWriter(&whole)
		_, _ = w.Write(data)
		p := NewWriter(&parts)
		cut = max(1, cut%7)
		for rest := data; len(rest) > 0; {
			n := min(cut, len(rest))
			_, _ = p.Write(rest[:n])
			rest = rest[n:]
		}
		if whole.String() != parts.String() {
			t.Errorf("in pieces of %d: %q, at once: %q", cut, parts.String(), whole.String())
		}
		if out := whole.String(); !utf8.ValidString(out) || strings.ContainsFunc(out, drives) {
			t.Errorf("%q came out as %q", data, out)
		}
		encoded, err := json.Marshal(string(data))
		if err != nil {
			t.Fatal(err)
		}
		var back, want string
		if err := json.Unmarshal([]byte(plaintext.Escape(string(encoded))), &back); err != nil {
			t.Fatalf("JSON of %q was spoilt: %v", data, err)
		}
		if err := json.Unmarshal(encoded, &want); err != nil || back != want {
			t.Errorf("JSON of %q became %q (%v)", data, back, err)
		}
	})
}

// drives reports what a terminal would obey.
func drives(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) || r == '\ufeff')
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestScrubberNeverStopsItsWriter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err   error
		lost  bool
		fails bool
	}{
		"full disk":          {err: syscall.ENOSPC, fails: true},
		"full disk, a night": {err: syscall.ENOSPC, lost: true},
		"nobody reads":       {err: syscall.EPIPE},
		"terminal gone":      {err: syscall.EIO},
	} {
		s := NewWriter(failing{c.err})
		s.Optional = c.lost
		for range 3 {
			if n, err := s.Write([]byte("abc")); n != 3 || err != nil {
				t.Errorf("%s: Write = %d, %v", name, n, err)
			}
		}
		if err := s.Failure(); (err != nil) != c.fails || (err != nil && !errors.Is(err, c.err)) {
			t.Errorf("%s: failure %v", name, err)
		}
	}
}
