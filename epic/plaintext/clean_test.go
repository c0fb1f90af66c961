package plaintext

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestCapped(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		in   string
		max  int
		want string
	}{
		{"plain\n\ttext", 100, "plain\n\ttext"},
		{"ümläut 😀", 100, "ümläut 😀"},
		{"a\x00b\x07c\x7f", 100, "abc"},
		{"bad \xff\xfe utf8", 100, "bad �� utf8"},
		{"\x1b[31mred\x1b[0m \x1b]0;title\x07after", 100, "red after"},
		{"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", 100, "link"},
		{"\x1b]never ends\nnext", 100, "\nnext"},
		{"\x1b(B\x1b=x\x1b", 100, "x"},
		{"one\r\ntwo\rthree", 100, "one\ntwo\nthree"},
		{"evil\u202egnp.exe\u2066x\u2069", 100, "evilgnp.exex"},
		{"c1 \u009b31m\u0085", 100, "c1 31m"},
		{"a\u2028b", 100, "a\nb"},
		{strings.Repeat("x", 50), 40, strings.Repeat("x", 18) + " … [10 bytes cut]"[:0] + " … [10 bytes cut]"},
		{"long", 2, "lo"},
		{"😀😀", 5, "😀"},
	} {
		got := Capped(tc.in, tc.max)
		if tc.max == 40 {
			if len(got) > 40 || !strings.HasSuffix(got, " … [10 bytes cut]") {
				t.Errorf("got %q", got)
			}
			continue
		}
		if got != tc.want {
			t.Errorf("%q: got %q, want %q", tc.in, got, tc.want)
		}
	}
}

func FuzzCapped(f *testing.F) {
	for _, s := range []string{"", "a\x1b[31m", "\x1b]0;\xff", strings.Repeat("é", 100), "\x1b", "\x1b\x1b[", "\r\r\n", "\xf0\x9f"} {
		f.Add(s, 20)
	}
	f.Fuzz(func(t *testing.T, s string, max int) {
		if max < 0 || max > 1<<20 {
			return
		}
		got := Capped(s, max)
		if len(got) > max || !utf8.ValidString(got) {
			t.Errorf("%q, %d: got %q", s, max, got)
		}
		for _, r := range got {
			if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
				t.Errorf("%q: got %q", s, got)
			}
		}
		if again := Capped(got, max); again != got {
			t.Errorf("%q becomes %q", got, again)
		}
	})
}
