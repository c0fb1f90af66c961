package epic

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// scan finds the first thing that no YAML text may contain. The parser refuses it too, but without a place.
func scan(src []byte) (Problem, bool) {
	if len(src) > MaxSize {
		return Problem{
			Line: 1, Column: 1, Message: fmt.Sprintf("the file is larger than %d MiB", MaxSize>>20),
			Hint: "split the epic, or move long descriptions into files that the tasks name",
		}, true
	}
	if bytes.HasPrefix(src, []byte("\xff\xfe")) || bytes.HasPrefix(src, []byte("\xfe\xff")) {
		return Problem{Line: 1, Column: 1, Message: "the file is UTF-16", Hint: "save it as UTF-8"}, true
	}
	for i := 0; i < len(src); {
		if c := src[i]; c >= ' ' && c < 0x7f || c == '\n' {
			i++
			continue
		}
		r, size := utf8.DecodeRune(src[i:])
		if message := forbidden(r, size, i); message != "" {
			line, column := position(src, i)
			return Problem{Line: line, Column: column, Message: message, Hint: "take it out; in double quotes it can be written as an escape"}, true
		}
		i += size
	}
	return Problem{}, false
}

// forbidden returns text that says why a character may not stand in YAML, or nothing.
func forbidden(r rune, size, at int) string {
	switch {
	case r == utf8.RuneError && size == 1:
		return "the text is not valid UTF-8"
	case r == 0:
		return "the file contains a NUL byte"
	case r == '\t' || r == '\n' || r == '\r' || r == 0x85:
		return ""
	case r < ' ' || r >= 0x7f && r < 0xa0:
		return fmt.Sprintf("the file contains the control character U+%04X", r)
	case r == 0xfeff && at > 0 || r == 0xfffe || r == 0xffff:
		return fmt.Sprintf("the file contains the character U+%04X", r)
	}
	return ""
}

// position turns an offset into a line and a column.
func position(src []byte, offset int) (line, column int) {
	begin := bytes.LastIndexByte(src[:offset], '\n') + 1
	return bytes.Count(src[:offset], []byte("\n")) + 1, utf8.RuneCount(src[begin:offset]) + 1
}
