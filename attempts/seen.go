package attempts

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"time"
	"unique"

	"github.com/segmentio/encoding/json"

	"relay/attempts/internal/durable"
	"relay/epic/each"
)

// seenFile has what the logs of a long epic added up to at a time, as viewers read it: the events of 10,000 tasks take them longer than all
// else. A line with the version of relay and a hash of the rest comes first. No run works by it.
const (
	seenFile = "ledger.json"
	longLogs = 1000 // events
	seenPart = 16   // the file is written again when there are so much of them more
)

// seen is the content of seenFile.
type seen struct {
	Logs       []durable.Mark
	Next       uint64 // event
	Jobs, Base int
	Written    snapshots
	Ledger     Ledger // without tasks
	IDs        []string
	Records    []TaskRecord // without attempts
	Tries      []int        // attempts by record
	Attempts   []Attempt    // of all records
}

// Seal returns the first line of a file for viewers: the version of relay, and a hash of all that the file is made of and has.
func Seal(relay string, of ...[]byte) []byte {
	sum := sha256.New()
	for _, part := range of {
		sum.Write(part)
	}
	return fmt.Appendf(nil, "%s %x\n", relay, sum.Sum(nil))
}

// keepSeen writes seenFile, if the logs of a store have grown enough. After a failure viewers do without it.
func keepSeen(s *Store) {
	of := sumUp(s)
	if of == nil {
		return
	}
	seal := Seal(s.opts.Relay)
	if text, err := json.Append(slices.Grow(seal, int(s.seen.stamp.Size)*9/8), of, 0); err == nil {
		copy(text, Seal(s.opts.Relay, text[len(seal):]))
		s.seen = show(s.fsys, seenFile, text)
	}
	s.seen.upTo = of.Next
}

// sumUp copies what viewers need, which the run changes meanwhile; nil: they need no newer one, or an event is being folded in.
func sumUp(s *Store) (of *seen) {
	s.now.view(func(now *fold) {
		s.journal.mu.Lock()
		next, folded := s.journal.seq+1, len(s.journal.queue) == 0
		marks := each.Of(append(slices.Clip(s.older), s.journal.copy), (*durable.Copy).Mark)
		s.journal.mu.Unlock()
		if s.opts.Relay == "" || !folded || next < max(longLogs, s.seen.upTo+s.seen.upTo/seenPart) {
			return
		}
		of = &seen{Logs: marks, Next: next, Jobs: now.jobs, Base: now.base, Written: now.written, Ledger: *now.ledger}
		l := &of.Ledger
		l.Tasks, l.EndedAt, l.EpicReviews = nil, time.Time{}, slices.Clone(l.EpicReviews) // viewers do not know which tasks there are
		l.Cooldowns, l.Refused, l.Held = maps.Clone(l.Cooldowns), maps.Clone(l.Refused), maps.Clone(l.Held)
		of.Attempts = make([]Attempt, 0, next/2) // each has two events
		for id, rec := range now.ledger.Tasks {
			of.IDs, of.Tries, of.Attempts = append(of.IDs, id), append(of.Tries, len(rec.Attempts)), append(of.Attempts, rec.Attempts...)
			of.Records = append(of.Records, *rec)
			of.Records[len(of.Records)-1].Attempts = nil
		}
	})
	return of
}

// show writes a file for viewers, who do without it after a failure.
func show(fsys durable.FS, name string, text []byte) snapshot {
	if durable.Replace(fsys, name, nil, durable.Text(text)) != nil {
		return snapshot{}
	}
	return snapshot{sum: fmt.Sprintf("%x", sha256.Sum256(text))}
}

// recall begins with what seenFile has, if the logs begin with what it is made of.
func (h *history) recall(relay string) {
	file, err := durable.OpenHashed(h.fsys, seenFile, maxLedger)
	if err != nil || file == nil {
		return
	}
	defer file.Close()
	text, err := file.Text()
	begin := bytes.IndexByte(text, '\n') + 1
	s := seen{Attempts: make([]Attempt, 0, bytes.Count(text, []byte(`"started_at":`)))} // the decoder begins with room for ten
	if err != nil || !bytes.Equal(text[:begin], Seal(relay, text[begin:])) || json.Unmarshal(text[begin:], &s) != nil ||
		!h.begin() || len(s.Logs) > len(h.logs)-h.start {
		return
	}
	for i, m := range s.Logs {
		if h.logs[h.start+i].name() != m.Name || !m.In(h.fsys) {
			return
		}
	}
	for i, m := range s.Logs {
		h.logs[h.start+i].from = m.Size
	}
	s.Ledger.Tasks = make(map[string]*TaskRecord, len(s.IDs))
	for i := range s.Attempts {
		s.Attempts[i].Receipt.FilesChanged = slices.Clone(s.Attempts[i].Receipt.FilesChanged)            // without room for ten
		for _, text := range []*string{&s.Attempts[i].Run, &s.Attempts[i].Base, &s.Attempts[i].Sealed} { // most have the same
			*text = unique.Make(*text).Value()
		}
	}
	for i, id := range s.IDs {
		rec, n := &s.Records[i], s.Tries[i]
		rec.Attempts, s.Attempts = s.Attempts[:n:n], s.Attempts[n:]
		s.Ledger.Tasks[id] = rec
	}
	h.fold, h.skipped, h.high = newFold(nil, &s.Ledger), s.Next-1, s.Next-1
	h.links.Again(h.skipped)
	h.fold.jobs, h.fold.base, h.fold.bases, h.fold.written = s.Jobs, s.Base, s.Base, s.Written
}
