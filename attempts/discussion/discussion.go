// Package discussion reads and writes the discussion ledger of a checkout: YAML files below .ledger/entries, one for each discussion, in
// which people and agents record what is open, who takes which position, and how it went on.
//
// Everything about that format belongs here: the entry, the schemas of the five actions, the lenient reader, and the writer, which adds
// to entries and removes nothing: it changes only the value of status. The records that relay itself writes do not belong here.
package discussion

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Folders below the top folder of a checkout: that of the ledger, and that of its entries.
const (
	TopFolder = ".ledger"
	Folder    = TopFolder + "/entries"
)

// MaxSize is how large the file of an entry may be, in bytes.
const MaxSize = 1 << 20

// Status says where a discussion stands.
type Status string

// The statuses of discussions. A new one is exploring, tentative or unresolved.
const (
	Exploring  Status = "exploring"
	Tentative  Status = "tentative"
	Unresolved Status = "unresolved"
	Accepted   Status = "accepted"
	Deprecated Status = "deprecated"
	Revived    Status = "revived"
)

// Open reports whether a discussion of this status is still open.
func (s Status) Open() bool {
	return slices.Contains([]Status{Exploring, Tentative, Unresolved, Revived}, s)
}

// Entry is one discussion, as its file tells it.
type Entry struct {
	ID        string     `yaml:"entry_id"`
	Topic     string     `yaml:"topic"`
	Summary   string     `yaml:"summary"`
	Positions []Position `yaml:"positions"`
	Status    Status     `yaml:"status"`
	Created   string     `yaml:"created_at"`       // date and time in RFC 3339, unless somebody has written something else
	Origin    string     `yaml:"origin,omitempty"` // what a program has made it from; "": a person or an agent has written it
	Related   []string   `yaml:"related_entries"`
	Links     []Link     `yaml:"links"`
	History   []Change   `yaml:"history"`
}

// Position is what somebody holds, and why.
type Position struct {
	By        string `json:"by" yaml:"by"`
	Stance    string `json:"stance" yaml:"stance"`
	Rationale string `json:"rationale" yaml:"rationale"`
}

// Link says how an entry relates to another one.
type Link struct {
	To       string `yaml:"entry_id"`
	Relation string `yaml:"relation"`
	At       string `yaml:"at"`
	By       string `yaml:"by"`
}

// Change is one item of the history of an entry; the first is its birth.
type Change struct {
	Status Status `yaml:"status"`
	Note   string `yaml:"note"`
	At     string `yaml:"at"`
	By     string `yaml:"by"`
}

// Open reports whether the discussion is open.
func (e *Entry) Open() bool { return e.Status.Open() }

// HasNote reports whether the history has a note that somebody has written at a time.
func (e *Entry) HasNote(note, at, by string) bool {
	return slices.ContainsFunc(e.History, func(c Change) bool { return c.Note == note && c.At == at && c.By == by })
}

// Name is the topic of an entry, or its id where it has none.
func (e *Entry) Name() string {
	return cmp.Or(e.Topic, e.ID)
}

// CreatedAt is when the entry was made. ok is false when it does not say.
func (e *Entry) CreatedAt() (at time.Time, ok bool) { return ParseTime(e.Created) }

// At is when something was written last. ok is false when the entry does not say.
func (e *Entry) At() (at time.Time, ok bool) {
	last := e.Created
	if n := len(e.History); n > 0 {
		last = e.History[n-1].At
	}
	return ParseTime(last)
}

// Stamp returns a time as entries have it.
func Stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// ParseTime reads a time as entries have it, and what people write in its place: a date, or a space in place of T.
func ParseTime(text string) (at time.Time, ok bool) {
	if len(text) > 10 && text[10] == ' ' {
		text = text[:10] + "T" + strings.ReplaceAll(text[11:], " ", "")
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}
