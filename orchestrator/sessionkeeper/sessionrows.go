package sessionkeeper

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"path"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"relay/attempts/sessions"
	"relay/epic/each"
	"relay/runners"
)

// AboutRows says what relay knows of a conversation: all that an agent was asked in one attempt, or a reviewer at once.
type AboutRows struct {
	Key       string // names the conversation where its CLI does not: run/task/n, or run/task/n/review/NAME/ROUND
	Source    string // its CLI's name in records
	Agent     string // its name in the configuration
	Model     string // where the CLI names none
	Project   string
	Workspace string // where it worked
	Session   string // the id that relay chose; "": the CLI chooses
	Asked     bool   // it was only to answer: a reviewer
	Began     int64  // when relay began the attempt, in milliseconds: the time of a conversation in which nothing was said; 0: not known

	Run, Task string
	Attempt   int
	Reviewer  string

	// Branch is the turn that the first turn follows, of the conversation from which this one is a branch; "": it is none.
	Branch string
	// Context is JSON that says where the conversation comes from; "": from nowhere.
	Context string

	// Qualified makes ids of relay's own of those that the CLI has given: for a conversation whose ids another one has, too.
	Qualified bool
	// Own says that a person's own program has kept the conversation: its id stays.
	Own bool
}

// Stream is one run of the agent's CLI in the conversation.
type Stream struct {
	Round  int    // of fixes, or of the reviewer
	Prompt string // what was asked; "": not known
}

// Place is where in a stream something stands.
type Place struct {
	Offset int64
	Seen   int64  // milliseconds
	Line   []byte // as it came; kept for the first of a session
}

// Assembler makes the rows of one conversation.
type Assembler struct {
	about    AboutRows
	stream   Stream
	index    int    // of the stream; -1: none has begun
	asked    bool   // what was asked is put down
	prompt   string // that is to be the first message of the stream
	summary  string
	latest   int64 // time of the last event
	main     *session
	sessions map[string]*session // by id
	children map[string]*session // subagents by the id of their call
	calls    map[string]*call    // of this stream by id: open ones, and those that began a subagent
	order    []*session

	changed changed
}

// NewAssembler returns an assembler for a conversation.
func NewAssembler(a AboutRows) *Assembler {
	return &Assembler{about: a, index: -1, sessions: map[string]*session{}}
}

// Begin begins the next stream.
func (a *Assembler) Begin(s Stream) {
	a.index++
	a.stream, a.prompt, a.main, a.asked = s, s.Prompt, nil, false
	a.children, a.calls = map[string]*session{}, map[string]*call{}
	for _, one := range a.order {
		one.begin()
	}
}

// Event takes in what a line tells.
func (a *Assembler) Event(e runners.Message, at Place) {
	if e.At <= 0 {
		e.At = at.Seen
	}
	a.latest = max(a.latest, e.At)
	switch e.Kind {
	case runners.Began:
		a.enter(e, at)
		return
	case runners.Settled:
		settle(a.calls[e.Subtask], a.children[e.Subtask], string(e.Status))
		return
	default:
	}
	s := a.sessionOf(e, at)
	switch e.Kind {
	case runners.Said:
		a.said(s, e, at)
	case runners.Called:
		a.called(s, e, at)
	case runners.Returned:
		a.returned(s, e, at)
	case runners.Used:
		a.used(s, e.ID, e.Usage)
	default:
	}
}

// Unreadable takes in a line that cannot be read, once there is a session. Several in a row are one message.
func (a *Assembler) Unreadable(line []byte, at Place) {
	if s := a.main; s != nil && !s.unread {
		quoted := strings.ToValidUTF8(string(line[:min(len(line), maxQuoted)]), "\uFFFD")
		a.note(s, fmt.Sprintf("lines from byte %d on cannot be read; the first: %s", at.Offset, quoted), at)
		s.unread = true
	}
}

// End takes in that the CLI's process is gone: calls that are open were cancelled then, and what was asked is answered as far as it is.
// at is 0 when the time is unknown; then it is the time of the last event.
func (a *Assembler) End(at int64) {
	at = cmp.Or(at, a.latest)
	if a.main == nil {
		began := cmp.Or(at, a.about.Began)
		a.enter(runners.Message{At: began}, Place{Seen: began})
	}
	for _, s := range a.order {
		for _, c := range s.open {
			a.close(c, sessions.Cancelled, runners.Message{At: at})
		}
		if s.open = nil; s.row.IsSubagent && s.row.TaskStatus == "" {
			settle(nil, s, sessions.Cancelled)
		}
		a.changed.closeTurn(s)
	}
}

// Summarize takes in what the attempt came to.
func (a *Assembler) Summarize(text string) {
	a.summary = text
	for _, s := range a.order {
		if !s.row.IsSubagent {
			s.row.Summary, s.dirty = text, true
		}
	}
}

// Sessions returns the ids of the sessions so far, with those of subagents.
func (a *Assembler) Sessions() []string {
	return each.Of(a.order, func(s *session) string { return s.row.ID })
}

// Count returns how many sessions, messages and tool calls there are so far.
func (a *Assembler) Count() (sessions, messages, calls int64) {
	for _, s := range a.order {
		messages += s.next
		calls += s.calls
	}
	return int64(len(a.order)), messages, calls
}

// Pending returns how many bytes wait to be taken, about.
func (a *Assembler) Pending() int { return a.changed.bytes }

// Take returns the rows that are new or have changed since the last call.
func (a *Assembler) Take() sessions.Batch {
	var b sessions.Batch
	for _, s := range a.order {
		if s.dirty {
			b.Sessions = append(b.Sessions, s.row)
			s.dirty = false
		}
	}
	b.Messages = each.Of(a.changed.messages, (*message).take)
	for _, c := range a.changed.calls {
		b.ToolCalls = append(b.ToolCalls, c.row)
		c.dirty = false
	}
	b.Turns = a.changed.turns
	a.changed = changed{}
	return b
}

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

	recent []*message     // of this stream, with ids that the CLI gave, the oldest first
	seen   map[uint64]int // hashes of such ids, with the stream in which they came first
	open   []*call

	last   *message // of any role
	answer *message // the last of the agent in this turn
	unread bool     // the last message is about lines that cannot be read

	queries    []string // ids of the messages that ask
	turnCalls  int64
	turnTokens int64
	turnEnd    int64
	lastTurn   string

	run   runners.MessageUsage // what the messages of this stream have used
	prior runners.MessageUsage // what the session had used before, where its CLI counts it as a whole
}

func (s *session) begin() {
	s.recent, s.open, s.unread = nil, nil, false
	s.run = runners.MessageUsage{}
}

// enter makes the session of a stream the current one, and puts down what was asked.
func (a *Assembler) enter(e runners.Message, at Place) {
	id := cmp.Or(e.ID, a.about.Session, a.about.ownID(""))
	if a.about.Qualified && !a.about.Own {
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
		a.changed.closeTurn(s)
		id := fmt.Sprintf("%s:%d%s", s.row.ID, a.index, sessions.PromptSuffix)
		m := a.newMessage(s, id, sessions.User, runners.Message{At: e.At}, Place{})
		m.content.WriteString(a.prompt)
		a.changed.bytes += len(a.prompt)
		s.queries = append(s.queries, m.row.ID)
		a.prompt, a.asked = "", true
	}
}

// ownID makes an id of relay's own for a session.
func (a *AboutRows) ownID(id string) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("relay:"+a.Key+id)).String()
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
	if f := e.Editor; f != nil {
		s.row.ForceMode, s.row.IsAgentic, s.row.State = cmp.Or(f.Mode, mode), !f.Chat, f.State
		s.row.ContextJSON, s.row.Summary = string(f.Context), f.Summary
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
	if a.children[e.Subtask] = s; c != nil {
		a.changed.link(s, c)
	}
	return s
}

// link makes a session that of the subagent that a call has begun.
func (n *changed) link(s *session, c *call) {
	s.row.ParentSession, s.row.ParentMessage, s.row.TaskDescription = c.session.row.ID, c.row.Message, description(c.row.ParamsJSON)
	c.child, c.row.ChildSession, s.dirty = s, s.row.ID, true
	settle(c, s, c.outcome)
	n.touchCall(c)
}

// settle says how a subagent has ended; "": it has not. It may have said nothing yet, and its call may be unknown.
func settle(c *call, s *session, status string) {
	if c != nil {
		c.outcome = status
	}
	if s != nil && status != "" {
		if status == sessions.Rejected {
			status = sessions.Failed
		}
		s.row.TaskStatus, s.dirty = status, true
	}
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
