package discussion

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Answer is what an action has come to, as the action's output schema has it.
type Answer struct {
	ID        string   `json:"entry_id,omitempty"`
	Status    Status   `json:"status,omitempty"`
	Threads   []Thread `json:"open_threads,omitzero"`
	All       []Thread `json:"discussions,omitzero"` // of [ActionList]
	Narrative string   `json:"narrative,omitempty"`
	Origin    string   `json:"-"` // of a marked entry
	Warnings  []string `json:"-"` // files that cannot be read, a sentence each
}

// Thread is an open discussion.
type Thread struct {
	ID     string `json:"entry_id"`
	Topic  string `json:"topic"`
	Status Status `json:"status"`
}

// mostOpen is how many entries are looked at for a report, the newest.
const mostOpen = 200

// OpenIn returns the open discussions of a checkout, the oldest first. It leaves out those of tasks that wait for a person, which relay
// opened and reports itself, and what cannot be read.
func OpenIn(top string) (threads []Thread) {
	l, err := Open(top, Options{})
	if err != nil {
		return nil
	}
	defer l.Close()
	list, _ := l.Newest(mostOpen)
	for _, there := range list {
		if e := there.Entry; e != nil && e.Open() && !strings.HasSuffix(e.Origin, "/"+OfGate) {
			threads = append(threads, Thread{e.ID, e.Name(), e.Status})
		}
	}
	return threads
}

// OfGate ends the origin of a discussion about a task that waits for a person.
const OfGate = "gate"

// Input is what actions take: each some of it, as its input schema says.
type Input struct {
	Topic     string     `json:"topic,omitempty"`
	Summary   string     `json:"summary,omitempty"`
	Status    Status     `json:"status,omitempty"`
	Positions []Position `json:"positions,omitzero"`
	Related   []string   `json:"related_entries,omitempty"`
	Current   string     `json:"current_entry_id,omitempty"`
	LinkTo    []Related  `json:"link_to,omitempty"`
	ID        string     `json:"entry_id,omitempty"`
	NewStatus Status     `json:"new_status,omitempty"`
	Note      string     `json:"note,omitempty"`
}

// ActionList lists the discussions of every status, for a person: it is not one of the five actions, and takes no input.
const ActionList = "list"

// Call does one of the five actions with a JSON input. Input that its schema refuses is an [InvalidError]; nothing is written then.
func (l *Ledger) Call(action string, text []byte) (answer Answer, err error) {
	if action == ActionList {
		answer.All, answer.Warnings, err = l.Threads(func(Status) bool { return true })
		return answer, err
	}
	if err := check(action, text); err != nil {
		return Answer{}, err
	}
	var in Input
	if err := json.Unmarshal(text, &in); err != nil {
		return Answer{}, err
	}
	var e *Entry
	switch action {
	case ActionAppend:
		answer.ID, err = l.Append(Opening{Topic: in.Topic, Summary: in.Summary, Status: in.Status, Positions: in.Positions, Related: in.Related})
	case ActionLink:
		if e, err = l.Link(in.Current, in.LinkTo); err == nil {
			answer.ID = e.ID
		}
	case ActionMark:
		if e, err = l.Mark(in.ID, in.NewStatus, in.Note); err == nil {
			answer.ID, answer.Status, answer.Origin = e.ID, e.Status, e.Origin
		}
	case ActionOpen:
		answer.Threads, answer.Warnings, err = l.Threads(Status.Open)
	default: // check knows no other one
		answer.ID, answer.Narrative, err = l.Replay(in.ID)
	}
	return answer, err
}

// Threads returns the discussions with a status that fits, the oldest first, and what cannot be read.
func (l *Ledger) Threads(fits func(Status) bool) (threads []Thread, warnings []string, err error) {
	threads = []Thread{}
	list, err := l.List()
	for _, there := range list {
		if there.Err != nil {
			warnings = append(warnings, fmt.Sprintf("%s was left out: %v", there.Path, there.Err))
		} else if e := there.Entry; fits(e.Status) {
			threads = append(threads, Thread{e.ID, e.Name(), e.Status})
		}
	}
	return threads, warnings, err
}

// Replay returns the recorded history of an entry, and nothing else.
func (l *Ledger) Replay(id string) (full, narrative string, err error) {
	list, err := l.List()
	if err != nil {
		return "", "", err
	}
	found, err := find(list, id)
	if err != nil {
		return "", "", err
	}
	names := make(map[string]string)
	for _, other := range list {
		if other.Entry != nil {
			names[other.Entry.ID] = other.Entry.Topic
		}
	}
	return found.Entry.ID, narrate(found.Entry, names), nil
}
