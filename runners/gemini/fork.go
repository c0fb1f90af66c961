package gemini

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"

	"relay/runners"
	"relay/runners/internal/adapter"
)

// forkOf writes a copy of a session of the CLI's own that ends before a place in it, and returns its path; "" for no place. The CLI begins
// a new session with what is in such a file, in any folder. It fails when the session is gone or has no such place.
func (g *Runner) forkOf(ctx context.Context, env []string, req runners.Request) (string, error) {
	if req.Fork == nil {
		return "", nil
	}
	from := sessionFile(env, validSession(req.Fork.Session, ""))
	if from == "" {
		return "", runners.ErrSessionGone
	}
	session, err := readSession(ctx, from)
	if err != nil {
		return "", err
	}
	if session.id != req.Fork.Session {
		return "", runners.ErrSessionGone
	}
	place := *req.Fork
	place.Asked, _ = escaped(place.Asked)
	text, err := session.before(&place)
	if err != nil {
		return "", err
	}
	path := req.Prompt + ".session.json"
	return path, os.WriteFile(path, text, 0o600)
}

// keptSession is what the file of a session says when all of its lines are taken together.
type keptSession struct {
	id       string
	head     map[string]json.RawMessage // but for the messages
	messages []keptMessage
}

// keptMessage is a message, with what of it counts here.
type keptMessage struct {
	raw  json.RawMessage
	id   string
	asks string // what the session is asked in it; "": it is no request
}

// readSession reads the file of a session. Its lines are messages, later ones in the place of earlier ones with their id, and changes of
// other fields, also of all messages at once.
func readSession(ctx context.Context, path string) (keptSession, error) {
	s := keptSession{head: map[string]json.RawMessage{}}
	err := adapter.EachLine(ctx, path, func(line []byte) {
		fields := map[string]json.RawMessage{}
		if json.Unmarshal(line, &fields) != nil {
			return // half a line, of a CLI that was killed
		}
		if set, ok := fields["$set"]; ok {
			fields = map[string]json.RawMessage{}
			_ = json.Unmarshal(set, &fields) // without, nothing is set
		} else if _, ok := fields["type"]; ok {
			s.put(slices.Clone(line))
			return
		}
		if list, ok := fields["messages"]; ok {
			delete(fields, "messages")
			var all []json.RawMessage
			_ = json.Unmarshal(list, &all)
			s.messages = nil
			for _, m := range all {
				s.put(m)
			}
		}
		maps.Copy(s.head, fields)
	})
	_ = json.Unmarshal(s.head["sessionId"], &s.id) // "" is no session
	return s, err
}

// put adds a message, or puts it in the place of the one that has its id.
func (s *keptSession) put(raw json.RawMessage) {
	var m struct {
		ID      string
		Type    string
		Content []struct{ Text string }
	}
	_ = json.Unmarshal(raw, &m) // as far as it goes: the content of others is a text
	message := keptMessage{raw: raw, id: m.ID}
	if m.Type == "user" {
		for _, part := range m.Content {
			message.asks += part.Text
		}
	}
	if strings.HasPrefix(message.asks, "<session_context>") { // by the CLI itself
		message.asks = ""
	}
	if at := slices.IndexFunc(s.messages, func(other keptMessage) bool { return other.id == m.ID && m.ID != "" }); at >= 0 {
		s.messages[at] = message
		return
	}
	s.messages = append(s.messages, message)
}

// before returns the file of a session that ends before a place.
func (s *keptSession) before(f *runners.Fork) ([]byte, error) {
	var asked []string
	var places []int
	for i, m := range s.messages {
		if m.asks != "" {
			asked, places = append(asked, m.asks), append(places, i)
		}
	}
	n, err := f.Find(asked)
	if err != nil {
		return nil, err
	}
	messages := []json.RawMessage{}
	for _, m := range s.messages[:places[n]] {
		messages = append(messages, m.raw)
	}
	list, err := json.Marshal(messages)
	if err != nil {
		return nil, err
	}
	s.head["messages"] = list
	return json.Marshal(s.head)
}
