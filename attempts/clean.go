package attempts

import (
	"fmt"

	"relay/internal/plaintext"
)

// Clean makes text of unknown origin safe to store, in at most max bytes, with a mark that says how much was cut. See
// [plaintext.Clean] for what it removes.
func Clean(s string, max int) string {
	whole := len(s)
	s = plaintext.Head(s, 4*max+64) // what is cleaned away has to be looked at, but not without end
	cut := whole - len(s)
	s = plaintext.Clean(s)
	if cut == 0 && len(s) <= max {
		return s
	}
	mark := fmt.Sprintf(" … [%d bytes cut]", cut+len(s)-min(max, len(s)))
	if len(mark) > max {
		mark = ""
	}
	return plaintext.Head(s, max-len(mark)) + mark
}
