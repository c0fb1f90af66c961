package claude

import (
	"cmp"
	"encoding/json"
	"strings"

	"relay/runners"
	"relay/runners/internal/adapter"
)

// Conversation returns a reader of the stream of Claude Code.
func Conversation() runners.MessageReader {
	return adapter.Conversation[outputEvent]((&speech{denied: map[string]bool{}, tasks: map[string]string{}}).event)
}

// speech turns the stream into events of a conversation.
type speech struct {
	denied map[string]bool   // ids of calls that were not allowed, and that it still has to report
	tasks  map[string]string // the call that began a task, by the task's id
}

// ownModel stands in the place of the model where the CLI itself speaks in the agent's name.
const ownModel = "<synthetic>"

// maxDenied is more than any message has.
const maxDenied = 1000

func (s *speech) event(_ []byte, ev *outputEvent, tell func(runners.Message)) {
	e := runners.Message{At: runners.Millis(ev.Time)}
	if ev.Parent != nil {
		e.Subtask = *ev.Parent
	}
	switch ev.Type.String() {
	case "system":
		s.system(ev, tell)
	case "assistant", "user":
		s.message(e, ev, tell)
	case streamEventType:
		if ev.Part.Type.String() == "message_delta" && !ev.PartOf.Empty() && !none(ev.Part.Usage) {
			e.Kind, e.At, e.ID, e.Usage = runners.Used, 0, ev.PartOf.String(), usedBy(ev.Part.Usage)
			tell(e)
		}
	case "result":
		e.Kind, e.Usage = runners.Used, ev.used()
		tell(e)
	}
}

func (s *speech) system(ev *outputEvent, tell func(runners.Message)) {
	switch ev.Subtype {
	case "init":
		tell(runners.Message{Kind: runners.Began, ID: ev.SessionID, Model: ev.Model})
	case "permission_denied":
		if len(s.denied) < maxDenied {
			s.denied[ev.ToolID] = true
		}
	case "task_started":
		if len(s.tasks) < maxDenied {
			s.tasks[ev.TaskID] = ev.ToolID
		}
	case "task_notification":
		tell(settled(cmp.Or(ev.ToolID, s.tasks[ev.TaskID]), ev.Status))
	}
}

// message tells what a message says, in which the tools' results are the user's.
func (s *speech) message(e runners.Message, ev *outputEvent, tell func(runners.Message)) {
	m := ev.message()
	if ev.Type.String() == "assistant" {
		s.assistant(e, &m, tell)
	} else {
		s.user(e, ev, &m, tell)
	}
}

func (s *speech) assistant(e runners.Message, m *message, tell func(runners.Message)) {
	said := e
	said.Kind, said.ID, said.Role = runners.Said, m.ID.String(), runners.Assistant
	if m.Model != ownModel {
		said.Model = m.Model
	}
	if said.Text = m.text(); len(m.blocks) == 0 {
		tell(said)
	}
	for i := range m.blocks {
		b := &m.blocks[i]
		if said.Text = ""; b.Type.String() == "text" {
			said.Text = b.Text.String()
		}
		tell(said)
		if b.Type.String() == "tool_use" {
			call := e
			call.Kind, call.ID, call.Message, call.Tool, call.Params = runners.Called, b.ID.String(), said.ID, b.Name.String(), b.Input
			tell(call)
		}
	}
	if !none(m.Usage) {
		used := e
		used.Kind, used.ID, used.Usage = runners.Used, said.ID, usedBy(m.Usage)
		tell(used)
	}
}

// user tells the results of tools, and what is said in the user's name.
func (s *speech) user(e runners.Message, ev *outputEvent, m *message, tell func(runners.Message)) {
	said := e
	said.Kind, said.ID, said.Role = runners.Said, ev.UUID, runners.User
	if said.Text = m.text(); said.Text != "" {
		tell(said)
	}
	for i := range m.blocks {
		switch b := &m.blocks[i]; b.Type.String() {
		case "text":
			said.Text = b.Text.String()
			tell(said)
		case "tool_result":
			over := e
			over.Kind, over.ID, over.Result, over.Status = runners.Returned, b.Ends.String(), b.Content, s.status(ev, b)
			over.GoesOn = ev.Ran.Async || ev.Kept.Async || strings.HasSuffix(ev.Ran.Status, "_launched")
			tell(over)
		}
	}
}

// status returns what became of a call.
func (s *speech) status(ev *outputEvent, b *contentBlock) runners.ActionStatus {
	if !b.Failed {
		return runners.ActionCompleted
	}
	id := b.Ends.String()
	rejected := s.denied[id]
	delete(s.denied, id)
	for _, m := range ev.Calls {
		rejected = rejected || m.ID == id && (m.Kind == "user-rejected" || m.Decision.Decision == "reject")
	}
	if rejected {
		return runners.Rejected
	}
	return runners.ActionFailed
}

// text is what a message holds that has no blocks.
func (m *message) text() string {
	if len(m.Content) == 0 || m.Content[0] != '"' {
		return ""
	}
	return adapter.JSONString(m.Content).String()
}

// usedBy is what a message has used. The next request reads all that this one has read and written.
func usedBy(raw json.RawMessage) runners.MessageUsage {
	u := usageOfClaude(raw)
	in, out := max(0, u.InputTokens), max(0, u.OutputTokens)
	return runners.MessageUsage{Input: in, Output: out, Context: in + out}
}

// used is what a run has used by its result.
func (ev *outputEvent) used() (u runners.MessageUsage) {
	if ev.Usage != nil {
		u.Input, u.Output = max(0, ev.Usage.total()), max(0, ev.Usage.Output)
	}
	switch {
	case ev.ThisRun != nil:
		for _, m := range ev.ThisRun {
			u.CostUSD += m.CostUSD
		}
	case ev.CostUSD != nil:
		u.CostUSD = *ev.CostUSD
	}
	for _, m := range ev.ModelUsage {
		u.ContextLimit = max(u.ContextLimit, m.Window)
	}
	return u
}

// settled tells the end of a subagent in the background.
func settled(call, status string) runners.Message {
	e := runners.Message{Kind: runners.Settled, Subtask: call, Status: runners.ActionCancelled} // killed, stopped
	if status == "completed" || status == "failed" {
		e.Status = runners.ActionStatus(status)
	}
	return e
}
