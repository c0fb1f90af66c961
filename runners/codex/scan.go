package codex

import "relay/runners/internal/jsonscan"

// Events that come often.
const (
	codexBegins   = "turn.started"
	codexStepDone = "item.completed"
)

// The fields that matter of the events that come often.
var (
	codexEventFields = []string{"type", "item"}
	codexItemFields  = []string{"id", "type", "status", "text", "command", "changes", "server", "tool", "query"}
)

// frequentEvent is an event that comes often: a step, or one that means nothing here.
type frequentEvent struct {
	kind []byte
	step bool
	item turnItem
}

// read reads an event with what is needed of it. ok is false when it has to be decoded in full.
func (t *frequentEvent) read(line []byte) (ok bool) {
	s := jsonscan.New(line)
	for f := (jsonscan.Fields{Names: codexEventFields}); f.Next(&s); {
		switch f.Name {
		case "type":
			t.kind = s.Word()
			t.step = t.isStep()
		case "item":
			if t.step {
				t.item.read(&s)
			} else { // of another event, or its type is yet to come
				s.GiveUp()
			}
		}
	}
	switch string(t.kind) {
	case "", "thread.started", "error", "turn.completed", "turn.failed":
		return false
	}
	return s.Done()
}

func (t *frequentEvent) isStep() bool {
	switch string(t.kind) {
	case "item.started", "item.updated", codexStepDone:
		return true
	}
	return false
}

func (i *turnItem) read(s *jsonscan.Scanner) {
	for f := (jsonscan.Fields{Names: codexItemFields}); f.Next(s); {
		switch f.Name {
		case "id":
			i.ID = s.Text()
		case "type":
			i.Type = s.Text()
		case "status":
			i.Status = s.Text()
		case "text":
			i.Text = s.Text()
		case "command":
			i.Command = s.Text()
		case "changes":
			i.changes = s.Value()
		case "server":
			i.Server = s.Text()
		case "tool":
			i.Tool = s.Text()
		case "query":
			i.Query = s.Text()
		}
	}
}
