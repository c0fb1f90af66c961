package runners

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

// codexTurn is an event that comes often: a step, or one that means nothing here.
type codexTurn struct {
	kind []byte
	step bool
	item codexItem
}

// read reads an event with what is needed of it. ok is false when it has to be decoded in full.
func (t *codexTurn) read(line []byte) (ok bool) {
	s := scan{text: line}
	for f := (fields{names: codexEventFields}); f.next(&s); {
		switch f.name {
		case "type":
			t.kind = s.word()
			t.step = t.isStep()
		case "item":
			if t.step {
				t.item.read(&s)
			} else { // of another event, or its type is yet to come
				s.giveUp()
			}
		}
	}
	switch string(t.kind) {
	case "", "thread.started", "error", "turn.completed", "turn.failed":
		return false
	}
	return s.done()
}

func (t *codexTurn) isStep() bool {
	switch string(t.kind) {
	case "item.started", "item.updated", codexStepDone:
		return true
	}
	return false
}

func (i *codexItem) read(s *scan) {
	for f := (fields{names: codexItemFields}); f.next(s); {
		switch f.name {
		case "id":
			i.ID = s.string()
		case "type":
			i.Type = s.string()
		case "status":
			i.Status = s.string()
		case "text":
			i.Text = s.string()
		case "command":
			i.Command = s.string()
		case "changes":
			i.changes = s.value()
		case "server":
			i.Server = s.string()
		case "tool":
			i.Tool = s.string()
		case "query":
			i.Query = s.string()
		}
	}
}
