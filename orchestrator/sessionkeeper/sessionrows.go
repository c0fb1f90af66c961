package sessionkeeper

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"relay/attempts/sessions"
	"relay/runners"
)

// AboutRows says what relay knows of a conversation: all that an agent was asked in one attempt, or a reviewer at once.
type AboutRows struct {
	Key       string // names the conversation where its CLI does not: run/task/n, or run/task/n/review/NAME/ROUND
	Source    string // the agent's name
	Model     string // that was asked for; "": the CLI's own
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
	if e.Kind == runners.Began {
		a.enter(e, at)
		return
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
	s := a.main
	if s == nil {
		return
	}
	u := s.unread
	if u == nil || s.last != u.m {
		u = &unread{first: at}
		u.first.Line = append([]byte(nil), line[:min(len(line), maxQuoted)]...)
		u.m = a.note(s, "", at)
		s.unread = u
	}
	u.lines++
	u.m.content.Reset()
	quoted := strings.ToValidUTF8(string(u.first.Line), "\uFFFD")
	if u.lines == 1 {
		fmt.Fprintf(&u.m.content, "1 line at byte %d cannot be read: %s", u.first.Offset, quoted)
	} else {
		fmt.Fprintf(&u.m.content, "%d lines from byte %d on cannot be read; the first: %s", u.lines, u.first.Offset, quoted)
	}
	a.changed.bytes++
	a.changed.touch(u.m)
}

// Missing takes in that so many bytes of the stream are not there.
func (a *Assembler) Missing(size int64, at Place) {
	if s := a.main; s != nil {
		a.note(s, strconv.FormatInt(size, 10)+" bytes of the transcript are missing here: it was longer than what relay keeps of one", at)
	}
}

// End takes in that the CLI's process is gone: calls that are open were cancelled then, and what was asked is answered as far as it is.
// at is 0 when the time is unknown; then it is the time of the last event.
func (a *Assembler) End(at int64) {
	if at == 0 {
		at = a.latest
	}
	if a.main == nil {
		began := cmp.Or(at, a.about.Began)
		a.enter(runners.Message{At: began}, Place{Seen: began})
	}
	for _, s := range a.order {
		for _, c := range s.open {
			a.close(c, sessions.Cancelled, nil, at)
		}
		s.open = nil
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
func (a *Assembler) Sessions() (ids []string) {
	for _, s := range a.order {
		ids = append(ids, s.row.ID)
	}
	return ids
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
	for _, m := range a.changed.messages {
		b.Messages = append(b.Messages, m.take())
	}
	for _, c := range a.changed.calls {
		b.ToolCalls = append(b.ToolCalls, c.row)
		c.dirty = false
	}
	b.Turns = a.changed.turns
	a.changed = changed{}
	return b
}
