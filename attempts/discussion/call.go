package discussion

import (
	"fmt"
)

// Answer is what an action has come to.
type Answer struct {
	Value    any      // as the action's output schema has it, for [encoding/json]
	Warnings []string // files that cannot be read, a sentence each
}

type entryAnswer struct {
	ID     string `json:"entry_id"`
	Status Status `json:"status,omitempty"`
}

// Thread is an open discussion.
type Thread struct {
	ID     string `json:"entry_id"`
	Topic  string `json:"topic"`
	Status Status `json:"status"`
}

type openAnswer struct {
	Threads []Thread `json:"open_threads"`
}

type replayAnswer struct {
	ID        string `json:"entry_id"`
	Narrative string `json:"narrative"`
}

// Call does one of the five actions with a JSON input. Input that its schema refuses is an [InvalidError]; nothing is written then.
func (l *Ledger) Call(action string, input []byte) (answer Answer, err error) {
	in, err := check(action, input)
	if err != nil {
		return Answer{}, err
	}
	switch action {
	case ActionAppend:
		id, err := l.Append(openingOf(in))
		return Answer{Value: entryAnswer{ID: id}}, err
	case ActionLink:
		var to []Related
		for _, r := range objects(in, "link_to") {
			to = append(to, Related{text(r, "entry_id"), text(r, "relation")})
		}
		e, err := l.Link(text(in, "current_entry_id"), to)
		if err != nil {
			return Answer{}, err
		}
		return Answer{Value: entryAnswer{ID: e.ID}}, nil
	case ActionMark:
		e, err := l.Mark(text(in, "entry_id"), Status(text(in, "new_status")), text(in, "note"))
		if err != nil {
			return Answer{}, err
		}
		return Answer{Value: entryAnswer{e.ID, e.Status}}, nil
	case ActionOpen:
		threads, warnings, err := l.OpenThreads()
		return Answer{openAnswer{threads}, warnings}, err
	default: // check knows no other one
		id, narrative, err := l.Replay(text(in, "entry_id"))
		return Answer{Value: replayAnswer{id, narrative}}, err
	}
}

func openingOf(in map[string]any) Opening {
	o := Opening{Topic: text(in, "topic"), Summary: text(in, "summary"), Status: Status(text(in, "status"))}
	for _, p := range objects(in, "positions") {
		o.Positions = append(o.Positions, Position{text(p, "by"), text(p, "stance"), text(p, "rationale")})
	}
	related, _ := in["related_entries"].([]any)
	for _, id := range related {
		s, _ := id.(string)
		o.Related = append(o.Related, s)
	}
	return o
}

// text returns a text of an object that the schema has passed.
func text(in map[string]any, key string) string {
	s, _ := in[key].(string)
	return s
}

func objects(in map[string]any, key string) (list []map[string]any) {
	items, _ := in[key].([]any)
	for _, item := range items {
		m, _ := item.(map[string]any)
		list = append(list, m)
	}
	return list
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
