package discussion

import (
	"encoding/json"
	"fmt"
)

// Answer is what an action has come to.
type Answer struct {
	Value    any      // as the action's output schema has it, for [encoding/json]
	Warnings []string // files that cannot be read, a sentence each
}

type fields map[string]any

// Thread is an open discussion.
type Thread struct {
	ID     string `json:"entry_id"`
	Topic  string `json:"topic"`
	Status Status `json:"status"`
}

type input struct {
	Topic     string     `json:"topic"`
	Summary   string     `json:"summary"`
	Status    Status     `json:"status"`
	Positions []Position `json:"positions"`
	Related   []string   `json:"related_entries"`
	Current   string     `json:"current_entry_id"`
	LinkTo    []Related  `json:"link_to"`
	ID        string     `json:"entry_id"`
	NewStatus Status     `json:"new_status"`
	Note      string     `json:"note"`
}

// Call does one of the five actions with a JSON input. Input that its schema refuses is an [InvalidError]; nothing is written then.
func (l *Ledger) Call(action string, text []byte) (answer Answer, err error) {
	if err := check(action, text); err != nil {
		return Answer{}, err
	}
	var in input
	if err := json.Unmarshal(text, &in); err != nil {
		return Answer{}, err
	}
	switch action {
	case ActionAppend:
		o := Opening{Topic: in.Topic, Summary: in.Summary, Status: in.Status, Positions: in.Positions, Related: in.Related}
		id, err := l.Append(o)
		return Answer{Value: fields{"entry_id": id}}, err
	case ActionLink:
		e, err := l.Link(in.Current, in.LinkTo)
		if err != nil {
			return Answer{}, err
		}
		return Answer{Value: fields{"entry_id": e.ID}}, nil
	case ActionMark:
		e, err := l.Mark(in.ID, in.NewStatus, in.Note)
		if err != nil {
			return Answer{}, err
		}
		return Answer{Value: fields{"entry_id": e.ID, "status": e.Status}}, nil
	case ActionOpen:
		threads, warnings, err := l.OpenThreads()
		return Answer{fields{"open_threads": threads}, warnings}, err
	default: // check knows no other one
		id, narrative, err := l.Replay(in.ID)
		return Answer{Value: fields{"entry_id": id, "narrative": narrative}}, err
	}
}

// OpenThreads returns the open discussions, the oldest first, and what cannot be read.
func (l *Ledger) OpenThreads() (threads []Thread, warnings []string, err error) {
	threads = []Thread{}
	list, err := l.List()
	for _, there := range list {
		if there.Err != nil {
			warnings = append(warnings, fmt.Sprintf("%s was left out: %v", there.Path, there.Err))
		} else if e := there.Entry; e.Open() {
			threads = append(threads, Thread{e.ID, e.Name(), e.Status})
		}
	}
	return threads, warnings, err
}
