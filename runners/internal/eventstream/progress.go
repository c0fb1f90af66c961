package eventstream

import (
	"encoding/json"

	"relay/runners"
	"relay/runners/internal/adapter"
	"relay/runners/internal/cleantext"
	"relay/runners/internal/jsonscan"
)

// Progress tells the watcher of an agent what it does. A CLI may print more between two polls than anyone can read: then the
// first MaxTold events are told, and the last.
type Progress struct {
	reported int    // since the last poll
	held     bool   // there is an event that was not told
	last     Action // which is this
	room     []byte
}

// How much is told and kept.
const (
	MaxReported = 30                       // events that are told between two polls, besides the last
	maxRoom     = 64 << 10                 // of the memory that is kept for the next one
	EventHead   = 8*cleantext.MaxEvent + 4 // bytes of a text that an event can show: see cleantext.Clean
)

// Action is one thing an agent does, as it stands in a line: name, text and the main argument of a tool's input.
type Action struct {
	Kind  runners.EventKind
	Name  jsonscan.String
	Text  jsonscan.String
	Plain string // instead of a text
	Input json.RawMessage
}

func (n *Action) summary() string {
	words := n.Plain
	if len(n.Text) > 0 {
		words = n.Text.Head(EventHead)
	}
	if words == "" {
		words = mainArgument(n.Input)
	}
	if len(n.Name) > 0 {
		words = n.Name.Head(EventHead) + " " + words
	}
	return words
}

// Report passes an agent's action to the observer, or keeps it for Flush. The line that what refers to may be reused
// afterwards.
func (n *Progress) Report(req *runners.Request, what *Action) {
	if req.Observe == nil {
		return
	}
	if n.reported < MaxReported {
		n.reported++
		adapter.Observe(*req, what.Kind, what.summary())
		return
	}
	n.keep(what)
}

// ReportText reports an event that refers to no line.
func (n *Progress) ReportText(req *runners.Request, kind runners.EventKind, text string) {
	n.Report(req, &Action{Kind: kind, Plain: text})
}

// keep copies a note: its line will be gone.
func (n *Progress) keep(what *Action) {
	n.held, n.last = true, Action{Kind: what.Kind, Plain: what.Plain}
	n.room = append(n.room[:0], what.Name...)
	name := len(n.room)
	if len(what.Text) > maxRoom {
		n.last.Plain = what.Text.Head(EventHead)
	} else {
		n.room = append(n.room, what.Text...)
	}
	text := len(n.room)
	n.room = append(n.room, what.Input...)
	n.last.Name, n.last.Text, n.last.Input = n.room[:name:name], n.room[name:text:text], n.room[text:]
}

// Flush reports the last event held back since the last poll.
func (n *Progress) Flush(req *runners.Request) {
	if n.reported = 0; !n.held {
		return
	}
	adapter.Observe(*req, n.last.Kind, n.last.summary())
	n.held, n.last = false, Action{}
	if cap(n.room) > maxRoom {
		n.room = nil
	}
}

// LastMessage is the last thing an agent said. Of a short message, which is soon followed by another, the text is not
// decoded before somebody asks for it.
type LastMessage struct {
	raw  jsonscan.String
	head string
}

// Set replaces the message. Of a long one at most max bytes are kept.
func (s *LastMessage) Set(words jsonscan.String, max int) {
	if s.raw, s.head = s.raw[:0], ""; len(words) > maxRoom {
		s.head = words.Head(max)
		return
	}
	s.raw = append(s.raw, words...)
}

// Text returns the beginning of the message, at most max bytes.
func (s *LastMessage) Text(max int) string {
	if len(s.raw) > 0 {
		return s.raw.Head(max)
	}
	return s.head
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
