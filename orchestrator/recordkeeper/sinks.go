package recordkeeper

import (
	"bytes"
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

type sink interface {
	at() *position
	take(seq uint64, found *records.Records)
	write(upTo uint64) (written int)
	rebuild(dry bool) error
	close()
}

type numbered[R any] struct {
	seq    uint64
	record R
}

// target is what one kind of records is written to, from the first record on.
type target[W io.Closer, R any] struct {
	o       *Options
	cursor  *position
	name    string // of what is written
	begin   func() (W, error)
	pick    func(*records.Records) []R
	compare func(R) (Counts, error)          // what of a record is not there
	put     func(R) (written int, err error) // writes what is not there
	pending []numbered[R]
	counts  Counts // of rebuild
	w       W
	opened  bool
	broken  bool // it could not be written: nothing more is until the next run
}

// open opens it when the first record is to be written. It reports whether it can be written.
func (t *target[W, R]) open() bool {
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

func (t *target[W, R]) fail(err error) {
	t.broken = true
	t.o.Warn(t.name + " cannot be written: " + err.Error() + "; relay goes on without it, and catches up when it can: relay ledger rebuild")
}

func (t *target[W, R]) at() *position { return t.cursor }

func (t *target[W, R]) close() {
	if t.opened {
		_ = t.w.Close() // a folder that was opened; what was written is synced
	}
}

// take keeps the records of an event until they are written.
func (t *target[W, R]) take(seq uint64, found *records.Records) {
	if seq <= t.cursor.Seq || t.broken {
		return
	}
	for _, r := range t.pick(found) {
		t.pending = append(t.pending, numbered[R]{seq, r})
	}
}

// write writes what was taken, and returns how much of it was not there. upTo is the number of the last event that was looked at.
func (t *target[W, R]) write(upTo uint64) (written int) {
	list := t.pending
	t.pending = nil
	for _, r := range list {
		if !t.open() {
			return written
		}
		n, err := t.put(r.record)
		written += n
		if err != nil {
			t.fail(err)
			t.cursor.Seq = max(t.cursor.Seq, r.seq-1) // an event may have several
			return written
		}
	}
	if !t.broken {
		t.cursor.Seq = max(t.cursor.Seq, upTo)
	}
	return written
}

// rebuild compares what was taken with what is there, and puts it right unless it runs dry.
func (t *target[W, R]) rebuild(dry bool) error {
	if len(t.pending) == 0 || !t.open() {
		return nil
	}
	for _, r := range t.pending {
		found, err := t.compare(r.record)
		if err != nil {
			return err
		}
		if found.Missing+found.Changed > 0 && !dry {
			n, err := t.put(r.record)
			if err != nil {
				return err
			}
			if n == 0 { // it was left out
				found.Missing = 0
			}
		}
		t.counts.Records += found.Records
		t.counts.Missing += found.Missing
		t.counts.Changed += found.Changed
	}
	return nil
}

type ledgerSink struct {
	target[*ledgersync.Writer, *ledgersync.Entry]

	there map[string]bool     // ids behind the cursor
	mine  map[string][32]byte // what was written since it was opened: the hash of each line, by its id
	from  int64               // length of the ledger when it was opened
}

func newLedgerSink(o *Options, cursor *position) *ledgerSink {
	s := &ledgerSink{there: map[string]bool{}, mine: map[string][32]byte{}}
	s.target = target[*ledgersync.Writer, *ledgersync.Entry]{
		o: o, cursor: cursor, name: filepath.Join(ledgersync.Folder, ledgersync.LedgerFile), begin: s.start,
		pick: func(r *records.Records) []*ledgersync.Entry { return r.Entries },
	}
	return s
}

// write appends all entries that are not there yet at once.
func (s *ledgerSink) write(upTo uint64) (written int) {
	var lines [][]byte
	ids := map[string][32]byte{}
	for _, r := range s.pending {
		e := r.record
		if !s.open() || s.there[e.ID] {
			continue
		}
		line, err := s.w.Encode(e)
		if err != nil { // the projection has made something that the format does not allow
			s.o.Warn("an entry of " + ledgersync.Folder + " was left out: " + err.Error())
			continue
		}
		lines = append(lines, line)
		ids[e.ID] = sha256.Sum256(line)
	}
	s.pending = nil
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
	w, err := s.o.disk.Ledger()
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
	s.o.Warn(fmt.Sprintf("%s:%d is not an entry%s: relay leaves it as it is, and other programs may stop there; relay ledgersync validate shows why",
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

// artifactSink writes artifacts. One that is there already is written again, with the same text and time.
type artifactSink struct {
	target[*artifact.Writer, records.Artifact]
}

func newArtifactSink(o *Options, cursor *position) *artifactSink {
	s := &artifactSink{}
	s.target = target[*artifact.Writer, records.Artifact]{
		o: o, cursor: cursor, name: artifact.Folder, begin: o.disk.Artifacts, compare: s.differs, put: s.replace,
		pick: func(r *records.Records) []records.Artifact { return r.Artifacts },
	}
	return s
}

func (s *artifactSink) replace(a records.Artifact) (written int, err error) {
	if _, unfit := s.w.Encode(a.Artifact); unfit != nil {
		s.o.Warn("an artifact was left out: " + unfit.Error())
		return 0, nil //nolint:nilerr // the others are written
	}
	_, err = s.w.Put(a.Artifact, a.Title)
	return 1, err
}

func (s *artifactSink) differs(a records.Artifact) (found Counts, err error) {
	found.Records = 1
	want, err := s.w.Encode(a.Artifact)
	if err != nil {
		return found, err
	}
	got, err := artifact.ReadText(filepath.Join(s.o.Top, filepath.FromSlash(artifact.Name(a.Artifact, a.Title))))
	switch {
	case err != nil:
		found.Missing = 1
	case !bytes.Equal(got, want):
		found.Changed = 1
	}
	return found, nil
}
