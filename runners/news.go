package runners

import "encoding/json"

// news tells who watches what an agent does. A CLI may print more between two looks than anyone can read: then the first
// things are told, and the last.
type news struct {
	told int  // since the last look
	held bool // there is one that was not told
	last note // which is this
	room []byte
}

const (
	maxTold   = 30
	maxRoom   = 64 << 10       // of the memory that is kept for the next one
	eventHead = 8*maxEvent + 4 // is all that becomes of a text of any length: see clean
)

// note is one thing an agent does, as it stands in a line: name, text and the main argument of a tool's input.
type note struct {
	kind  EventKind
	name  jsonString
	text  jsonString
	plain string // instead of a text
	input json.RawMessage
}

func (n *note) words() string {
	words := n.plain
	if len(n.text) > 0 {
		words = n.text.head(eventHead)
	}
	if words == "" {
		words = mainArgument(n.input)
	}
	if len(n.name) > 0 {
		words = n.name.head(eventHead) + " " + words
	}
	return words
}

// tell takes in what an agent does. The line it stands in is needed no longer than that.
func (n *news) tell(req *Request, what *note) {
	if req.Observe == nil {
		return
	}
	if n.told < maxTold {
		n.told++
		req.observe(what.kind, what.words())
		return
	}
	n.keep(what)
}

// say is tell for something that stands in no line.
func (n *news) say(req *Request, kind EventKind, text string) {
	n.tell(req, &note{kind: kind, plain: text})
}

// keep copies a note: its line will be gone.
func (n *news) keep(what *note) {
	n.held, n.last = true, note{kind: what.kind, plain: what.plain}
	n.room = append(n.room[:0], what.name...)
	name := len(n.room)
	if len(what.text) > maxRoom {
		n.last.plain = what.text.head(eventHead)
	} else {
		n.room = append(n.room, what.text...)
	}
	text := len(n.room)
	n.room = append(n.room, what.input...)
	n.last.name, n.last.text, n.last.input = n.room[:name:name], n.room[name:text:text], n.room[text:]
}

// looked tells what was held back since the last look.
func (n *news) looked(req *Request) {
	if n.told = 0; !n.held {
		return
	}
	req.observe(n.last.kind, n.last.words())
	n.held, n.last = false, note{}
	if cap(n.room) > maxRoom {
		n.room = nil
	}
}

// said is the last thing an agent said. Of a short one, which is soon followed by another, the words are not read before
// somebody asks for them.
type said struct {
	raw  jsonString
	text string
}

func (s *said) set(words jsonString, max int) {
	if s.raw, s.text = s.raw[:0], ""; len(words) > maxRoom {
		s.text = words.head(max)
		return
	}
	s.raw = append(s.raw, words...)
}

func (s *said) words(max int) string {
	if len(s.raw) > 0 {
		return s.raw.head(max)
	}
	return s.text
}
