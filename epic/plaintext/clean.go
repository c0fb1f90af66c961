package plaintext

import "fmt"

// Capped makes text of unknown origin safe to store, in at most max bytes, with a mark that says how much was cut. See
// [Capped] for what it removes.
func Capped(s string, max int) string {
	whole := len(s)
	s = Head(s, 4*max+64) // what is cleaned away has to be looked at, but not without end
	cut := whole - len(s)
	s = Clean(s)
	if cut == 0 && len(s) <= max {
		return s
	}
	mark := fmt.Sprintf(" … [%d bytes cut]", cut+len(s)-min(max, len(s)))
	if len(mark) > max {
		mark = ""
	}
	return Head(s, max-len(mark)) + mark
}

// ShortLine makes text fit for a line of relay's own. The dots at its end stand for what is left out.
func ShortLine(s string, max int) string {
	short := Head(s, 4*max)
	line := Line(short)
	if len(line) > max || len(short) < len(s) {
		line = Head(line, max-len("…")) + "…"
	}
	return line
}
