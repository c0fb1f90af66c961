package command

import (
	"fmt"
	"unicode/utf8"

	"relay/runners"
)

// maxSaid is how much of the output of a command becomes the message, in bytes.
const maxSaid = 1 << 20

// Conversation returns a reader of what any command prints: one message with the first megabyte.
func Conversation() runners.MessageReader { return &speech{} }

// speech joins the lines that a command prints.
type speech struct{ said int }

// Line implements [runners.MessageReader].
func (s *speech) Line(line []byte, tell func(runners.Message)) bool {
	if s.said > maxSaid {
		return true
	}
	e := runners.Message{Kind: runners.Said, Role: runners.Assistant, Joined: s.said > 0}
	text := line
	if room := maxSaid - s.said; len(text) >= room {
		for text = text[:room]; len(text) > 0 && !utf8.Valid(text[max(0, len(text)-utf8.UTFMax):]) && room-len(text) < utf8.UTFMax; {
			text = text[:len(text)-1]
		}
		e.Text = string(text) + fmt.Sprintf("\n[relay: more than %d MiB]\n", maxSaid>>20)
		s.said = maxSaid + 1
	} else {
		e.Text = string(text) + "\n"
		s.said += len(e.Text)
	}
	tell(e)
	return true
}
