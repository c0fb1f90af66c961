package plaintext

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// FuzzPrinted holds printed against the library whose parser it uses.
func FuzzPrinted(f *testing.F) {
	for _, s := range []string{"", "a\x1b[31mred\x1b[0m", "\x1b]0;title ä\x07x", "\x1bP1$r\x1b\\y", "\x1b[38;5;1", "\x1b]8;;http://x\x1b\\link", "ä\x1bä[1m€😀", "\u009b31mx\u009c", "\x1b(B\x1bM\x18\x1a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = string([]rune(s))
		if got, want := printed(s), ansi.Strip(s); got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	})
}
