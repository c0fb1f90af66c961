package adapter

import (
	"encoding/json"

	"relay/runners"
)

// progress counts the events that reach the watcher of an agent. A CLI may print more between two polls than anyone can read: then
// the watcher gets the first MaxReported events, and the last.
type progress struct {
	reported int    // since the last poll
	held     bool   // there is an event that was not told
	last     Action // which is this
}

// Bounds of what an observer gets.
const (
	MaxReported = 30                     // events that the watcher gets between two polls, besides the last
	EventHead   = 8*runners.MaxEvent + 4 // bytes of a text that an event can show: see runners.CleanText
)

// Action is one thing an agent does, as it stands in a line: name, text and the main argument of a tool's input.
type Action struct {
	Kind  runners.EventKind
	Name  JSONString
	Text  JSONString
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

// Tell passes an agent's action to the observer, or keeps it for the next poll.
func (s *Stream) Tell(what *Action) {
	switch n := &s.progress; {
	case s.Req.Observe == nil:
	case n.reported < MaxReported:
		n.reported++
		Observe(s.Req, what.Kind, what.summary())
	default:
		n.held, n.last = true, *what
	}
}

// TellText reports an event that refers to no line.
func (s *Stream) TellText(kind runners.EventKind, text string) {
	s.Tell(&Action{Kind: kind, Plain: text})
}

// mainArgument picks what a person wants to see of a tool's input.
func mainArgument(input json.RawMessage) string {
	var args map[string]json.RawMessage
	if json.Unmarshal(input, &args) != nil {
		return ""
	}
	for _, key := range mainArguments {
		if s := JSONName(args[key]); s != "" {
			return s
		}
	}
	return ""
}

var mainArguments = []string{"command", "file_path", "path", "pattern", "url", "query", "description"}
