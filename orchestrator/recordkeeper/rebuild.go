package recordkeeper

import (
	"bytes"
	"errors"
	"io/fs"
	"os"

	"relay/attempts"
	"relay/attempts/ledgersync"
)

// Rebuilding says which records are compared with the log, and put right.
type Rebuilding struct {
	Options      // its LedgerSync, Artifacts and Discussions say which
	DryRun  bool // only count
}

// Counts say what became of one kind of records, or would.
type Counts struct {
	Records int `json:"records"` // that follow from the log
	Missing int `json:"missing"` // of them, and written
	Changed int `json:"changed"` // of them by others, and put back
}

// Rebuilt says what became of the records.
type Rebuilt struct {
	LedgerSync  Counts `json:"ledgersync"`
	Artifacts   Counts `json:"artifacts"`
	Discussions Counts `json:"discussions"`
}

// Rebuild compares the records with what follows from the log from its first event on, writes those that are missing and puts back
// those that were changed. Whoever calls it holds the epic's ledger, or runs dry.
func Rebuild(r Rebuilding) (Rebuilt, error) {
	f := newFollower(&r.Options)
	defer f.close()
	for _, s := range f.kept {
		s.at().Seq = 0
	}
	err := attempts.Replay(r.Dir, func(e attempts.Event) error {
		f.apply(&e)
		return nil
	})
	for _, s := range f.kept {
		if err == nil {
			err = s.rebuild(r.DryRun)
			s.at().Seq = f.seq
		}
	}
	if err == nil && !r.DryRun {
		err = f.cursor.save(r.Dir)
	}
	return Rebuilt{f.ledger.counts, f.files.counts, f.talk.counts}, err
}

func (s *ledgerSink) rebuild(dry bool) error {
	s.counts.Records = len(s.pending)
	if len(s.pending) == 0 {
		return nil
	}
	if _, err := os.Stat(ledgersync.Path(s.o.Top)); dry && errors.Is(err, fs.ErrNotExist) {
		s.counts.Missing = s.counts.Records
		return nil
	}
	w, err := s.o.disk.Ledger()
	if err != nil {
		return err
	}
	defer w.Close()
	missing, changed, err := lacks(w, s.pending)
	if err != nil {
		return err
	}
	s.counts.Missing, s.counts.Changed = len(missing), len(changed)
	if dry {
		return nil
	}
	if len(changed) > 0 {
		if _, err := w.Restore(changed); err != nil {
			return err
		}
	}
	mended, err := w.AppendLines(missing...)
	if mended != "" {
		s.o.Warn(mended)
	}
	if err != nil {
		return err
	}
	s.cursor.Offset, err = w.Size()
	return err
}

// lacks looks for entries in a ledger. It returns the lines of those that are missing, and by id those that others have changed.
func lacks(w *ledgersync.Writer, entries []numbered[*ledgersync.Entry]) (missing [][]byte, changed map[string][]byte, err error) {
	lines := make(map[string][]byte, len(entries))
	for _, e := range entries {
		if lines[e.record.ID], err = w.Encode(e.record); err != nil {
			return nil, nil, err
		}
	}
	there := make(map[string]bool, len(entries))
	changed = map[string][]byte{}
	_, err = w.Lines(0, func(id string, line []byte) {
		want, ok := lines[id]
		if !ok {
			return
		}
		if there[id] = true; !bytes.Equal(want, line) {
			changed[id] = want
		}
	})
	for _, e := range entries {
		if !there[e.record.ID] {
			missing = append(missing, lines[e.record.ID])
		}
	}
	return missing, changed, err
}
