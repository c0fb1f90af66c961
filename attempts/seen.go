package attempts

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"time"

	"relay/attempts/internal/durable"
	"relay/epic/each"
)

// seenFile has what the logs of a long epic added up to at a time, as viewers read it: the events of 10,000 tasks take them longer than all
// else. It has a seal and a seen, then for each task a seenTask and its attempts. No run works by it.
const (
	seenFile = "ledger.json"
	longLogs = 1000 // events
	seenPart = 16   // the file is written again when there are so much of them more
)

// seen begins seenFile.
type seen struct {
	Logs       []durable.Mark
	Next       uint64 // event
	Jobs, Base int
	Written    snapshots
	Ledger     Ledger // without tasks
	tasks      []seenTask
}

// seenTask is a task in seenFile.
type seenTask struct {
	ID       string
	Record   TaskRecord // without attempts
	Tries    int        // lines with an attempt that follow
	attempts []Attempt
}

// Seal returns the first line of a file for viewers, as [durable.Seal] does.
func Seal(relay string, of ...[]byte) []byte { return durable.Seal(relay, of...) }

// keepSeen writes seenFile, if the logs of a store have grown enough. After a failure viewers do without it.
func keepSeen(s *Store) {
	of := sumUp(s)
	if of == nil {
		return
	}
	lines := []any{of}
	for i := range of.tasks {
		lines = append(lines, &of.tasks[i])
		for k := range of.tasks[i].attempts {
			lines = append(lines, &of.tasks[i].attempts[k])
		}
	}
	s.seen = show(s.fsys, seenFile, durable.SealLines(s.opts.Relay, int(s.seen.stamp.Size)*9/8, lines))
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
		for id, rec := range now.ledger.Tasks {
			of.tasks = append(of.tasks, seenTask{id, *rec, len(rec.Attempts), slices.Clone(rec.Attempts)})
			of.tasks[len(of.tasks)-1].Record.Attempts = nil
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
	lines, s := durable.OpenSealed(h.fsys, seenFile, relay, maxLedger), seen{}
	defer lines.Close()
	if !lines.Next(&s) || !h.begin() || len(s.Logs) > len(h.logs)-h.start {
		return
	}
	ends := each.Of(s.Logs, func(m durable.Mark) func() bool { return m.In(h.fsys) })
	s.Ledger.Tasks = readTasks(lines.Next)
	same := lines.Whole()
	for i, isIn := range ends {
		same = isIn() && same && h.logs[h.start+i].name() == s.Logs[i].Name
	}
	if !same {
		return
	}
	for i, m := range s.Logs {
		h.logs[h.start+i].from = m.Size
	}
	h.fold, h.skipped, h.high = newFold(nil, &s.Ledger), s.Next-1, s.Next-1
	h.links.Again(h.skipped)
	h.fold.jobs, h.fold.base, h.fold.bases, h.fold.written = s.Jobs, s.Base, s.Base, s.Written
}

// readTasks reads all tasks of seenFile. Attempts have many strings that are the same, which are kept once.
func readTasks(next func(to any) bool) map[string]*TaskRecord {
	tasks, texts, all, t := map[string]*TaskRecord{}, map[string]string{}, []Attempt(nil), seenTask{}
	for next(&t) {
		from := len(all)
		for range t.Tries {
			if len(all) == cap(all) {
				all, from = append(make([]Attempt, 0, 256+2*(len(all)-from)), all[from:]...), 0
			}
			if all = append(all, Attempt{}); !next(&all[len(all)-1]) {
				break
			}
			a := &all[len(all)-1]
			a.Receipt.FilesChanged = slices.Clone(a.Receipt.FilesChanged) // without room for ten
			same := []*string{
				&a.Run, &a.Base, &a.Sealed, &a.Runner, &a.Model, (*string)(&a.Result), (*string)(&a.Outcome), (*string)(&a.Receipt.Verdict),
			}
			for k := range a.Receipt.Checks {
				same = append(same, &a.Receipt.Checks[k].Name, &a.Receipt.Checks[k].Phase, (*string)(&a.Receipt.Checks[k].Attribution))
			}
			for _, text := range same {
				if _, known := texts[*text]; !known {
					texts[*text] = *text
				}
				*text = texts[*text]
			}
		}
		t.Record.Attempts = all[from:len(all):len(all)]
		tasks[t.ID], t = new(t.Record), seenTask{}
	}
	return tasks
}
