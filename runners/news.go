package runners

import (
	"encoding/json"
	"relay/runners/internal/cleantext"
	"relay/runners/internal/jsonscan"
)

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
	maxRoom   = 64 << 10                 // of the memory that is kept for the next one
	eventHead = 8*cleantext.MaxEvent + 4 // is all that becomes of a text of any length: see clean
)

// note is one thing an agent does, as it stands in a line: name, text and the main argument of a tool's input.
type note struct {
	kind  EventKind
	name  jsonscan.String
	text  jsonscan.String
	plain string // instead of a text
	input json.RawMessage
}

func (n *note) words() string {
	words := n.plain
	if len(n.text) > 0 {
		words = n.text.Head(eventHead)
	}
	if words == "" {
		words = mainArgument(n.input)
	}
	if len(n.name) > 0 {
		words = n.name.Head(eventHead) + " " + words
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
		observe(*req, what.kind, what.words())
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
		n.last.plain = what.text.Head(eventHead)
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
	observe(*req, n.last.kind, n.last.words())
	n.held, n.last = false, note{}
	if cap(n.room) > maxRoom {
		n.room = nil
	}
}

// said is the last thing an agent said. Of a short one, which is soon followed by another, the words are not read before
// somebody asks for them.
type said struct {
	raw  jsonscan.String
	text string
}

func (s *said) set(words jsonscan.String, max int) {
	if s.raw, s.text = s.raw[:0], ""; len(words) > maxRoom {
		s.text = words.Head(max)
		return
	}
	s.raw = append(s.raw, words...)
}

func (s *said) words(max int) string {
	if len(s.raw) > 0 {
		return s.raw.Head(max)
	}
	return s.text
}

// mainArgument picks what a person wants to see of a tool's input.
func mainArgument(input json.RawMessage) string {
	if len(input) == 0 {
		return ""
	}
	args := map[string]json.RawMessage{}
	s := jsonscan.New(input)
	for f := (jsonscan.Fields{Names: mainArguments}); f.Next(&s); {
		args[f.Name] = s.Value()
	}
	if !s.Done() {
		clear(args)
		if json.Unmarshal(input, &args) != nil {
			return ""
		}
	}
	for _, key := range mainArguments {
		if s := jsonscan.Name(args[key]); s != "" {
			return s
		}
	}
	return ""
}

var mainArguments = []string{"command", "file_path", "path", "pattern", "url", "query", "description"}
