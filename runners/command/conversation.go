package command

import (
	"fmt"
	"unicode/utf8"

	"relay/runners/conversation"
)

// maxSaid is how much of the output of a command becomes the message, in bytes.
const maxSaid = 1 << 20

// Conversation returns a reader of what any command prints: one message with the first megabyte.
func Conversation() conversation.Reader { return &speech{} }

// speech joins the lines that a command prints.
type speech struct{ said int }

// Line implements [conversation.Reader].
func (s *speech) Line(line []byte, tell func(conversation.Event)) bool {
	if s.said > maxSaid {
		return true
	}
	e := conversation.Event{Kind: conversation.Said, Role: conversation.Assistant, Joined: s.said > 0}
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
