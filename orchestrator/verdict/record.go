package verdict

import (
	"encoding/json"
	"math"
	"slices"

	"relay/epic/each"
	"relay/epic/plaintext"
)

// Bounds of a record of evidence.
const (
	recordText = 1 << 10 // bytes of a text
	recordList = 20      // items of a list
	recordSize = 16 << 10
)

// Record returns the evidence as JSON for the event log: clean has removed secrets from each text, long texts and lists are cut. Deciding
// from the record returns the same row and outcome. Record returns nil if e is nil, or the JSON would exceed 16 KiB.
func (e *Evidence) Record(clean func(string) string) json.RawMessage {
	if e == nil {
		return nil
	}
	f := func(s string) string { return cutText(s, clean) }
	texts := plaintext.Cleaner{Line: f, Block: f, Own: f, Most: math.MaxInt}
	own := plaintext.CleanAll(texts, *e) // e stays as it is
	own.cutLists()
	texts.Most = recordList
	text, err := json.Marshal(plaintext.CleanAll(texts, own))
	if err != nil || len(text) > recordSize {
		return nil
	}
	return text
}

// ReadRecord reads evidence that Record has written.
func ReadRecord(text []byte) (*Evidence, error) {
	e := &Evidence{}
	return e, json.Unmarshal(text, e)
}

// cutLists shortens the lists in which one item decides, and keeps that item: the first check that speaks against the work, and the
// reviewer that waiting helps least.
func (e *Evidence) cutLists() {
	if e.Checks != nil && len(e.Checks.Runs) > recordList {
		against, yes := e.against()
		e.Checks.Runs = e.Checks.Runs[:recordList]
		if _, kept := e.against(); yes && !kept {
			e.Checks.Runs[recordList-1] = against
		}
	}
	if e.Panel != nil && len(e.Panel.Missing) > recordList {
		if worst := e.Panel.worst(); worst >= recordList {
			e.Panel.Missing[recordList-1] = e.Panel.Missing[worst]
		}
		e.Panel.Missing = e.Panel.Missing[:recordList]
	}
}

// worst returns the index of the missing reviewer that decides. There must be one.
func (p *Panel) worst() int {
	return Worst(each.Of(p.Missing, func(m Absent) ReviewerFault { return m.Fault }))
}

// cutText never empties a text, as an empty one means that nothing was seen.
func cutText(s string, clean func(string) string) string {
	if s == "" {
		return ""
	}
	if s = plaintext.Capped(clean(s), recordText); s == "" {
		return "…"
	}
	return s
}

// Replaced reports whether reviewers approve, and those who gave no opinion will not before a person repairs them.
func (p *Panel) Replaced() bool {
	return p.Seconded && !slices.ContainsFunc(p.Missing, func(m Absent) bool { return !ClassOf(m.Fault.Outcome).Refused })
}
