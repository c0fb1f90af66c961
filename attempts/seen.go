package attempts

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/segmentio/encoding/json"

	"relay/attempts/internal/durable"
	"relay/epic/each"
)

// seenFile has what the logs of a long epic added up to at a time, as viewers read it: the events of 10,000 tasks take them longer than all
// else. It has a seal, a seen, and a seenTask for each task, a line each. No run works by it.
const (
	seenFile = "ledger.json"
	longLogs = 1000 // events
	seenPart = 16   // the file is written again when there are so much of them more
)

type seen struct {
	Logs       []durable.Mark
	Next       uint64 // event
	Jobs, Base int
	Written    snapshots
	Ledger     Ledger // without tasks
	Tasks      int    // how many there are
	tasks      []seenTask
}

type seenTask struct {
	ID     string
	Record TaskRecord
}

// Seal returns the first line of a file for viewers, as [durable.Seal] does.
func Seal(relay string, of ...[]byte) []byte { return durable.Seal(relay, of...) }

// keepSeen writes seenFile, if the logs of a store have grown enough. After a failure viewers do without it.
func keepSeen(s *Store) {
	of := sumUp(s)
	if of == nil {
		return
	}
	seal := Seal(s.opts.Relay)
	text, _ := json.Append(slices.Grow(seal, int(s.seen.stamp.Size)*9/8), of, 0) // the events that it is made of are JSON
	for i := range of.tasks {
		text, _ = json.Append(append(text, '\n'), &of.tasks[i], 0)
	}
	text = append(text, '\n')
	copy(text, Seal(s.opts.Relay, text[len(seal):]))
	s.seen = show(s.fsys, seenFile, text)
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
		of.Tasks, l.Tasks, l.EndedAt, l.EpicReviews = len(l.Tasks), nil, time.Time{}, slices.Clone(l.EpicReviews) // viewers know no plan
		l.Cooldowns, l.Refused, l.Held = maps.Clone(l.Cooldowns), maps.Clone(l.Refused), maps.Clone(l.Held)
		for id, rec := range now.ledger.Tasks {
			of.tasks = append(of.tasks, seenTask{id, *rec})
			of.tasks[len(of.tasks)-1].Record.Attempts = slices.Clone(rec.Attempts)
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
	var s seen
	var ends []func() bool
	read := taskReader(&s.Ledger)
	same := durable.Sealed(h.fsys, seenFile, relay, maxLedger, func(line []byte) error {
		if s.Ledger.Tasks != nil {
			return read(line)
		}
		if err := json.Unmarshal(line, &s); err != nil || !h.begin() || len(s.Logs) > len(h.logs)-h.start {
			return cmp.Or(err, errStop)
		}
		s.Ledger.Tasks = make(map[string]*TaskRecord, min(s.Tasks, 1<<16)) // nothing has proved the number yet
		ends = each.Of(s.Logs, func(m durable.Mark) func() bool { return m.In(h.fsys) })
		return nil
	})
	for i, isIn := range ends {
		same = isIn() && same && h.logs[h.start+i].name() == s.Logs[i].Name
	}
	if !same || s.Ledger.Tasks == nil {
		return
	}
	for i, m := range s.Logs {
		h.logs[h.start+i].from = m.Size
	}
	h.fold, h.skipped, h.high = newFold(nil, &s.Ledger), s.Next-1, s.Next-1
	h.links.Again(h.skipped)
	h.fold.jobs, h.fold.base, h.fold.bases, h.fold.written = s.Jobs, s.Base, s.Base, s.Written
}

// taskReader returns a function that adds a task of seenFile. It keeps texts of many attempts once, and lists without room for more.
func taskReader(to *Ledger) func(line []byte) error {
	var t seenTask
	var room, all []Attempt
	texts := map[string]string{}
	return func(line []byte) error {
		t = seenTask{Record: TaskRecord{Attempts: room}}
		if err := json.Unmarshal(line, &t); err != nil {
			return err
		}
		tried, from := t.Record.Attempts, len(all)
		for i := range tried {
			a, r := &tried[i], &tried[i].Receipt
			same := append(make([]*string, 0, 32), &a.Run, &a.Base, &a.Sealed, &a.Runner, &a.Model,
				(*string)(&a.Result), (*string)(&a.Outcome), (*string)(&r.Verdict))
			for i := range r.Checks {
				same = append(same, &r.Checks[i].Name, &r.Checks[i].Phase, (*string)(&r.Checks[i].Attribution))
			}
			for _, text := range same {
				if _, known := texts[*text]; !known {
					texts[*text] = *text
				}
				*text = texts[*text]
			}
		}
		if cap(all)-from < len(tried) {
			all, from = make([]Attempt, 0, 256+len(tried)), 0
		}
		for i := range tried {
			files := tried[i].Receipt.FilesChanged
			tried[i].Receipt.FilesChanged = append([]string(nil), files...)
			all = append(all, tried[i])
			tried[i] = Attempt{Receipt: Receipt{FilesChanged: files[:0]}} // the decoder fills in what is there
		}
		room, t.Record.Attempts = tried[:0], all[from:len(all):len(all)]
		to.Tasks[t.ID] = new(t.Record)
		return nil
	}
}
