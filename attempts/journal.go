package attempts

import (
	"errors"
	"io/fs"
	"sort"
	"sync"
	"time"

	"relay/attempts/internal/chain"
	"relay/attempts/internal/durable"
	"relay/epic/plaintext"
)

// journal writes the event log of one run.
type journal struct {
	opts *Options
	run  string

	mu    sync.Mutex
	log   *durable.Log
	copy  *durable.Copy // of the log
	links *chain.Chain
	seq   uint64
	queue []Event // written, not yet folded
	buf   []byte
	err   error // the first failure; nothing is written after it
}

// write numbers the events and writes their lines.
func (j *journal) write(events []Event) (last uint64, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return 0, j.err
	}
	j.buf = j.buf[:0]
	back := make([]Event, len(events))
	synced, links, seq := j.log.Synced(), *j.links, j.seq
	for i, e := range events {
		seq++
		j.stamp(&e, seq, synced)
		if j.buf, back[i], err = link(&links, j.buf, e); err != nil {
			return 0, err
		}
	}
	if err := j.log.Write(seq, j.buf); err != nil {
		return 0, j.failLocked(err)
	}
	_, _ = j.copy.Write(j.buf)
	if cap(j.buf) > bigEvent {
		j.buf = nil
	}
	j.seq, *j.links = seq, links
	j.queue = append(j.queue, back...)
	return seq, nil
}

// link is encode for the next line of a chain.
func link(links *chain.Chain, dst []byte, e Event) ([]byte, Event, error) {
	e.Link = links.Link
	lines, back, err := encode(dst, e)
	links.Add(e.Seq, lines[len(dst):], e.Written != nil)
	return lines, back, err
}

func (j *journal) keepHead(open, held bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.links.Head.Held = j.links.Head.Held || held
	j.links.Save(open)
}

func (j *journal) stamp(e *Event, seq, synced uint64) {
	e.Seq, e.Run = seq, j.run
	e.At = j.opts.Now().UTC().Truncate(time.Millisecond)
	e.Synced = 0
	if synced != seq-1 {
		e.Synced = synced
	}
	if e.RunStarted != nil {
		rs := *e.RunStarted
		rs.Version = LogVersion
		if rs.EpicID == "" {
			rs.EpicID = j.opts.Epic.ID
		}
		e.RunStarted = &rs
	}
}

// take returns the events up to one of them that were written and not taken yet.
func (j *journal) take(upTo uint64) []Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := upToSeq(j.queue, upTo)
	ready := j.queue[:n:n]
	if j.queue = j.queue[n:]; len(j.queue) == 0 {
		j.queue = nil
	}
	return ready
}

// upToSeq counts the events of a list in order that are not after a number.
func upToSeq(events []Event, seq uint64) int {
	return sort.Search(len(events), func(i int) bool { return events[i].Seq > seq })
}

// failed returns the first failure there was.
func (j *journal) failed() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

func (j *journal) fail(err error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.failLocked(err)
}

// failLocked ends all writing. On a full disk the reserve is given up for a last word on why.
func (j *journal) failLocked(err error) error {
	if j.err != nil {
		return j.err
	}
	if errors.Is(err, fs.ErrClosed) {
		return err
	}
	j.err = err
	j.log.Fail(err)
	if durable.Full(err) {
		if werr := j.lastWords(); werr != nil {
			j.opts.Warn("the reserve could not be used: " + werr.Error())
		}
	}
	return j.err
}

func (j *journal) lastWords() (err error) {
	var lines []byte
	for i, e := range []Event{
		{Type: TypeNote, Note: &Note{Kind: "disk_full", Text: plaintext.Capped(j.err.Error(), 500)}},
		{Type: TypeRunStopped, RunStopped: &RunStopped{ExitCode: 1, Reason: "error"}},
	} {
		j.stamp(&e, j.seq+1+uint64(i), j.log.Synced())
		if lines, _, err = link(j.links, lines, e); err != nil {
			return err
		}
	}
	return j.log.LastWords(reserveFile, lines)
}
