package command

import (
	"fmt"

	"relay/epic/plaintext"
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
	if room := maxSaid - s.said; len(line) >= room {
		e.Text = plaintext.Head(string(line), room) + fmt.Sprintf("\n[relay: more than %d MiB]", maxSaid>>20)
	} else {
		e.Text = string(line)
	}
	e.Text += "\n"
	s.said += len(e.Text)
	tell(e)
	return true
}
