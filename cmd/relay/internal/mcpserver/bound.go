package mcpserver

import (
	"fmt"

	"relay/internal/plaintext"
)

// MaxAnswer bounds the text of one answer, in bytes.
const MaxAnswer = 32 << 10

// part is some of a text.
type part struct {
	text string
	next int // offset of what follows; 0: there is no more
	size int // of the whole text
}

// cut returns what of a text stands from an offset on, at most MaxAnswer bytes and no half of a character.
func cut(text string, from int) part {
	from = min(max(from, 0), len(text))
	for from < len(text) && from > 0 && text[from]&0xC0 == 0x80 { // in the middle of a character
		from--
	}
	p := part{text: text[from:], size: len(text)}
	if len(p.text) > MaxAnswer {
		p.text = plaintext.Head(p.text, MaxAnswer)
		p.next = from + len(p.text)
	}
	return p
}

// more says how to ask for what follows; "" when nothing does.
func (p part) more() string {
	if p.next == 0 {
		return ""
	}
	return fmt.Sprintf("This is not all: the answer has %d bytes. Call the tool again with \"offset\": %d for what follows.", p.size, p.next)
}
