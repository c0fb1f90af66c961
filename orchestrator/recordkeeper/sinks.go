package recordkeeper

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"

	"relay/attempts/artifact"
	"relay/attempts/ledgersync"
	"relay/orchestrator/records"
)

// batch holds the records of some events.
type batch struct {
	entries     []numbered[entryOf]
	artifacts   []numbered[records.Artifact]
	discussions []numbered[records.Discussion]
}

type entryOf = *ledgersync.Entry

// numbered is a record with the number of its event.
type numbered[R any] struct {
	seq    uint64
	record R
}

// target is what one kind of records is written to, from the first record on.
type target[W io.Closer] struct {
	o      *Options
	cursor *position
	name   string // of what is written
	begin  func() (W, error)
	w      W
	opened bool
	broken bool // it could not be written: nothing more is until the next run
}

// open opens it when the first record is to be written. It reports whether it can be written.
func (t *target[W]) open() bool {
	if t.opened || t.broken {
		return !t.broken
	}
	w, err := t.begin()
	if err != nil {
		t.fail(err)
		return false
	}
	t.w, t.opened = w, true
	return true
}

func (t *target[W]) fail(err error) {
	t.broken = true
	t.o.Warn(t.name + " cannot be written: " + err.Error() + "; relay goes on without it, and catches up when it can: relay ledger rebuild")
}

func (t *target[W]) at() *position { return t.cursor }

func (t *target[W]) close() {
	if t.opened {
		_ = t.w.Close() // a folder that was opened; what was written is synced
	}
}

// ledgerSink writes entries into the ledger of LedgerSync.
type ledgerSink struct {
	target[*ledgersync.Writer]

	there map[string]bool     // ids behind the cursor
	mine  map[string][32]byte // what was written since it was opened: the hash of each line, by its id
	from  int64               // length of the ledger when it was opened
}

func newLedgerSink(o *Options, cursor *position) *ledgerSink {
	s := &ledgerSink{there: map[string]bool{}, mine: map[string][32]byte{}}
	s.target = target[*ledgersync.Writer]{o: o, cursor: cursor, name: filepath.Join(ledgersync.Folder, ledgersync.LedgerFile), begin: s.start}
	return s
}

// write appends entries that are not there yet, and returns how many. upTo is the number of the last event that was looked at.
func (s *ledgerSink) write(entries []numbered[entryOf], upTo uint64) (written int) {
	var lines [][]byte
	ids := map[string][32]byte{}
	for _, e := range entries {
		if e.seq <= s.cursor.Seq || !s.open() || s.there[e.record.ID] {
			continue
		}
		line, err := s.w.Encode(e.record)
		if err != nil { // the projection has made something that the format does not allow
			s.o.Warn("an entry of " + ledgersync.Folder + " was left out: " + err.Error())
			continue
		}
		lines = append(lines, line)
		ids[e.record.ID] = sha256.Sum256(line)
	}
	if s.broken {
		return 0
	}
	if len(lines) > 0 {
		mended, err := s.w.AppendLines(lines...)
		if mended != "" {
			s.o.Warn(mended)
		}
		if err != nil {
			s.fail(err)
			return 0
		}
		maps.Copy(s.mine, ids)
		if size, err := s.w.Size(); err == nil {
			s.cursor.Offset = size
		}
	}
	s.cursor.Seq = max(s.cursor.Seq, upTo)
	return len(lines)
}

// start opens the ledger and finds the entries behind the cursor.
func (s *ledgerSink) start() (*ledgersync.Writer, error) {
	w, err := s.o.openLedger()
	if err != nil {
		return nil, err
	}
	s.from, err = w.Size()
	if err == nil {
		from := s.cursor.Offset
		if from > s.from { // git may have taken what stood before the entries
			from = 0
		}
		var damage ledgersync.Damage
		damage, err = w.Lines(from, func(id string, _ []byte) {
			if records.IsID(id) {
				s.there[id] = true
			}
		})
		s.told(damage)
	}
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// told warns of lines that are no entries. Each is told once: the next run begins to look behind them.
func (s *ledgerSink) told(d ledgersync.Damage) {
	if d.Lines == 0 {
		return
	}
	more := ""
	if d.Lines > 1 {
		more = fmt.Sprintf(", nor are %d more lines", d.Lines-1)
	}
	s.o.Warn(fmt.Sprintf("%s:%d is no entry%s: relay leaves it as it is, and other programs may stop there; relay ledgersync validate shows why",
		path.Join(ledgersync.Folder, ledgersync.LedgerFile), d.First, more))
}

// intact reports whether all that was written since it was opened is still there as it was.
func (s *ledgerSink) intact() bool {
	if !s.opened || s.broken || len(s.mine) == 0 {
		return true
	}
	for _, from := range []int64{s.from, 0} { // git may have taken what stood before them
		found := 0
		_, err := s.w.Lines(from, func(id string, line []byte) {
			if sum, ok := s.mine[id]; ok && sum == sha256.Sum256(line) {
				found++
			}
		})
		if err == nil && found >= len(s.mine) {
			return true
		}
	}
	return false
}

// artifactSink writes artifacts.
type artifactSink struct{ target[*artifact.Writer] }

// write writes artifacts, and returns how many. One that is there already is written again, with the same text and time.
func (s *artifactSink) write(list []numbered[records.Artifact], upTo uint64) (written int) {
	for _, a := range list {
		if a.seq <= s.cursor.Seq || !s.open() {
			continue
		}
		if _, err := s.w.Encode(a.record.Artifact); err != nil {
			s.o.Warn("an artifact was left out: " + err.Error())
			continue
		}
		if _, err := s.w.Put(a.record.Artifact, a.record.Title); err != nil {
			s.fail(err)
			s.cursor.Seq = max(s.cursor.Seq, a.seq-1) // an event may have several
			return written
		}
		written++
	}
	if !s.broken {
		s.cursor.Seq = max(s.cursor.Seq, upTo)
	}
	return written
}
