package plaintext

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// seeds are texts that have been seen to matter: sequences with and without an end, C1 controls as characters and as lone
// bytes, characters with such a byte in them, invalid UTF-8, marks that turn text around.
var seeds = []string{
	"", "plain\n\ttext", "ümläut 😀", "a\x00b\x07c\x7f", "bad \xff\xfe utf8", "\x1b[31mred\x1b[0m \x1b]0;title\x07after",
	"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "\x1b]never ends\nnext", "\x1b(B\x1b=x\x1b", "one\r\ntwo\rthree",
	"evil\u202egnp.exe\u2066x\u2069", "c1 \u009b31m\u0085", "a\u2028b", "latin1 \x90 goes\x9d on", "\x1b]0;✳ “title”\x07after",
	"\x1bPdcs\nx\x1b\\after", "\x1b\x1b[", "\r\r\n", "\xf0\x9f", "\x1b[31日本", "\ufeffbom\ufffe", "\x1b]0;\xff",
	"tags\U000e0041\U000e007f", "\u200b\u200c\u200d\ufe0f", "❤\ufe0f\u200d🔥", "می\u200cخواهم", "\ufe00\U000e0100",
}

func TestClean(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain\n\ttext":                               "plain\n\ttext",
		"ümläut 😀":                                    "ümläut 😀",
		"a\x00b\x07c\x7f":                             "abc",
		"bad \xff\xfe utf8":                           "bad �� utf8",
		"\x1b]never ends\nnow":                        "\nnow",
		"\x1b[31mred\x1b[0m \x1b]0;title\x07after":    "red after",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\":    "link",
		"\x1b(B\x1b=x\x1b":                            "x",
		"one\r\ntwo\rthree":                           "one\ntwo\nthree",
		"evil\u202egnp.exe\u2066x\u2069":              "evilgnp.exex",
		"c1 \u009b31m\u0085":                          "c1 31m",
		"a\u2028b":                                    "a\nb",
		"latin1 \x90 goes \x9d on\nand on":            "latin1 � goes � on\nand on",
		"\x1b[1mlatin1 \x90 goes \x9d on\nand on":     "latin1 � goes � on\nand on",
		"\ufeffbom\ufffe":                             "bom",
		"hi\U000e0049\U000e0067\U000e007f":            "hi",
		"of\u200b no\u2060 width\u00ad":               "of no width",
		"a\u200c\u200d\u200c\ufe0f b\ufe00\U000e01ef": "a b",
		"❤\ufe0f\u200d🔥 👩\u200d💻 ©\ufe0f 1\ufe0f⃣":    "❤\ufe0f\u200d🔥 👩\u200d💻 ©\ufe0f 1\ufe0f⃣",
		"😀\ufe0f\ufe0e\ufe0f\u200d\u200c\u200d":       "😀\ufe0f\u200d",
		"می\u200cخواهم":                               "می\u200cخواهم",
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestEscape(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain, with ünïcödé 日本\n\tand tabs": "plain, with ünïcödé 日本\n\tand tabs",
		"\x1b[31mred":               `\u001b[31mred`,
		"\x1b]0;title\a":            `\u001b]0;title\u0007`,
		"over\rwritten":             `over\u000dwritten`,
		"dos\r\nline":               "dos\nline",
		"c1 \u009b31m":              `c1 \u009b31m`,
		"turned \u202earound\u2069": `turned \u202earound\u2069`,
		"not \xff utf-8":            "not \ufffd utf-8",
		"nul \x00 del \x7f":         `nul \u0000 del \u007f`,
		"tag \U000e0041":            `tag \udb40\udc41`,
	} {
		if got := Escape(in); got != want {
			t.Errorf("Escape(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCuts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in         string
		most       int
		head, tail string
	}{
		{"añb", 2, "a", "b"}, {"añb", 4, "añb", "añb"}, {"añb", 3, "añ", "ñb"}, {"añb", 0, "", ""}, {"añb", -1, "", ""}, {"😀😀", 5, "😀", "😀"},
	} {
		if head, tail := Head(c.in, c.most), Tail(c.in, c.most); head != c.head || tail != c.tail {
			t.Errorf("%q, %d: Head %q, Tail %q, want %q and %q", c.in, c.most, head, tail, c.head, c.tail)
		}
	}
}

// obeyed reports what a terminal or a reader would obey.
func obeyed(r rune) bool {
	hides := r == '\ufeff' || r >= 0xe0000 && r < 0xe1000
	return r != '\n' && r != '\t' && (hides || unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp))
}

func FuzzClean(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, "next line")
	}
	f.Fuzz(func(t *testing.T, s, next string) {
		got := Clean(s)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, obeyed) {
			t.Errorf("Clean(%q) = %q", s, got)
		}
		if again := Clean(got); again != got {
			t.Errorf("Clean(%q) = %q, and of that %q", s, got, again)
		}
		if whole := Clean(s + "\n" + next); !strings.HasSuffix(s, "\r") && whole != got+"\n"+Clean(next) {
			t.Errorf("%q takes something of the line after it: %q", s, whole)
		}
		one := Line(s)
		if strings.ContainsAny(one, "\n\t") || one != strings.TrimSpace(one) || strings.Contains(one, "  ") || strings.ContainsFunc(one, obeyed) {
			t.Errorf("Line(%q) = %q", s, one)
		}
	})
}

// A JSON document says the same before and after.
func FuzzEscape(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := Escape(s); !utf8.ValidString(got) || strings.ContainsFunc(got, obeyed) {
			t.Errorf("Escape(%q) = %q", s, got)
		}
		document, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var before, after string
		if err := json.Unmarshal(document, &before); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(Escape(string(document))), &after); err != nil || before != after {
			t.Errorf("JSON of %q became %q (%v)", s, after, err)
		}
	})
}

func FuzzCuts(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, 5)
	}
	f.Fuzz(func(t *testing.T, s string, most int) {
		head, tail := Head(s, most), Tail(s, most)
		if len(head) > max(most, 0) || len(tail) > max(most, 0) || !strings.HasPrefix(s, head) || !strings.HasSuffix(s, tail) {
			t.Fatalf("%q, %d: Head %q, Tail %q", s, most, head, tail)
		}
		if utf8.ValidString(s) && (!utf8.ValidString(head) || !utf8.ValidString(tail)) {
			t.Errorf("%q, %d: Head %q, Tail %q", s, most, head, tail)
		}
	})
}
