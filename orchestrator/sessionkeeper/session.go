package sessionkeeper

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"path"
	"path/filepath"

	"github.com/google/uuid"

	"relay/attempts/sessions"
	"relay/runners"
)

const (
	maxRecent = 16        // messages of a session that further parts may be added to
	maxOpen   = 1000      // calls of a session at a time
	maxRaw    = 256 << 10 // of the first event of a session
)

// session is one conversation that rows are made of.
type session struct {
	row   sessions.Session
	dirty bool
	next  int64 // sequence of the next message
	calls int64 // how many there are

	byID   map[string]*message // of this stream, by the id that the CLI gave
	recent []*message          // those, the oldest first
	seen   map[uint64]int      // hashes of such ids, with the stream in which they came first
	open   []*call

	last   *message // of any role
	answer *message // the last of the agent in this turn
	unread *unread  // the last message, if it is about lines that cannot be read

	queries    []string // ids of the messages that ask
	turnCalls  int64
	turnTokens int64
	turnEnd    int64
	lastTurn   string

	run   runners.MessageUsage // what the messages of this stream have used
	prior runners.MessageUsage // what the session had used before, where its CLI counts it as a whole
}

func (s *session) begin() {
	s.byID, s.recent, s.open, s.unread = map[string]*message{}, nil, nil, nil
	s.run = runners.MessageUsage{}
}

// enter makes the session of a stream the current one, and puts down what was asked.
func (a *Assembler) enter(e runners.Message, at Place) {
	id := cmp.Or(e.ID, a.about.Session, a.about.ownID(""))
	if a.about.Qualified {
		id = a.about.ownID(id)
	}
	if a.main != nil && (e.ID == "" || a.main.row.ID == id) {
		return
	}
	s := a.sessions[id]
	if s == nil {
		s = a.newSession(id, e, at)
	}
	a.main = s
	if e.Model != "" && s.row.Model != e.Model {
		s.row.Model, s.dirty = e.Model, true
	}
	if a.prompt != "" {
		a.ask(s, e.At)
	}
}

// ownID makes an id of relay's own for a session.
func (a *AboutRows) ownID(id string) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("relay:"+a.Key+id)).String()
}

func (a *Assembler) ask(s *session, at int64) {
	a.changed.closeTurn(s)
	m := a.newMessage(s, fmt.Sprintf("%s:%d%s", s.row.ID, a.index, sessions.PromptSuffix), sessions.User, runners.Message{At: at}, Place{})
	m.content.WriteString(a.prompt)
	a.changed.bytes += len(a.prompt)
	s.queries = append(s.queries, m.row.ID)
	a.prompt, a.asked = "", true
}

func (a *Assembler) newSession(id string, e runners.Message, at Place) *session {
	mode := "agent"
	if a.about.Asked {
		mode = "ask"
	}
	s := &session{
		row: sessions.Session{
			ID: id, Source: a.about.Source, Model: cmp.Or(e.Model, a.about.Model), Project: a.about.Project, CreatedAt: e.At,
			IsAgentic: true, ForceMode: mode, Workspace: a.about.Workspace, Summary: a.summary, ContextJSON: a.about.Context,
		},
		lastTurn: a.about.Branch,
		dirty:    true, seen: map[uint64]int{},
	}
	if e.Dir != "" {
		s.row.Workspace, s.row.Project = e.Dir, path.Base(filepath.ToSlash(e.Dir))
	}
	if len(at.Line) <= maxRaw && json.Valid(at.Line) {
		s.row.RawJSON = string(at.Line)
	}
	s.begin()
	a.sessions[id] = s
	a.order = append(a.order, s)
	return s
}

// sessionOf returns the session that an event is about: that of the stream, or a subagent's.
func (a *Assembler) sessionOf(e runners.Message, at Place) *session {
	if a.main == nil {
		a.enter(runners.Message{At: e.At}, at)
	}
	if e.Subtask == "" {
		return a.main
	}
	if s := a.children[e.Subtask]; s != nil {
		return s
	}
	return a.newChild(e, at)
}

func (a *Assembler) newChild(e runners.Message, at Place) *session {
	parent, c := a.main, a.calls[e.Subtask]
	callID := e.Subtask
	if c != nil {
		parent, callID = c.session, c.row.ID
	}
	id := "task-" + callID
	s := a.sessions[id]
	if s == nil {
		s = a.newSession(id, runners.Message{At: max(e.At, parent.row.CreatedAt+1), Model: e.Model}, at)
		s.row.Summary, s.row.Model = "", e.Model
		s.row.IsSubagent, s.row.ParentSession, s.row.ToolCall = true, parent.row.ID, callID
	}
	if c != nil {
		s.row.ParentMessage, s.row.TaskDescription = c.row.Message, description(c.row.ParamsJSON)
		c.child, c.row.ChildSession = s, s.row.ID
		a.changed.touchCall(c)
	}
	a.children[e.Subtask] = s
	return s
}

func description(params string) string {
	var p struct {
		Description string `json:"description"`
		Prompt      string `json:"prompt"`
	}
	_ = json.Unmarshal([]byte(params), &p) // what is there
	return cmp.Or(p.Description, p.Prompt)
}

// rowID returns the id of a row, of one kind, for one that the CLI gave. Where an earlier stream of the session had the same, it
// gets a number.
func (a *Assembler) rowID(s *session, kind, id string, local bool, at Place) string {
	switch {
	case id == "":
		return fmt.Sprintf("%s:%d:%d", s.row.ID, a.index, at.Offset)
	case local:
		return fmt.Sprintf("%s:%d:%s", s.row.ID, a.index, id)
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(kind + id)) // it never fails
	key := hash.Sum64()
	first, ok := s.seen[key]
	if !ok {
		s.seen[key] = a.index
	}
	if ok && first != a.index {
		id = fmt.Sprintf("%s~%d", id, a.index)
	}
	if a.about.Qualified {
		id = s.row.ID + ":" + id
	}
	return id
}
