package records

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"relay/attempts"
	"relay/attempts/artifact"
	"relay/attempts/discussion"
	"relay/attempts/ledgersync"
	"relay/epic"
)

// KeeperOptions say whose records are kept, and where.
type KeeperOptions struct {
	Top    string // top folder of the checkout, where the records are
	Dir    string // relay's folder, where the event log is
	EpicID string
	Epic   *epic.Epic // the plan as it is now; nil: it cannot be read
	Plan   []byte     // its text

	Settings

	AtEnd bool // discussions are written when the run has ended: agents work in the checkout

	Warn  func(text string)        // hears what a person should know; required
	Fault func(point string) error // fault points for tests; nil in use

	disk disk // that of Top, unless a test has another one
}

type disk interface {
	Discussions(o discussion.Options) (*discussion.Ledger, error)
	Ledger() (*ledgersync.Writer, error)
	Artifacts() (*artifact.Writer, error)
}

type topDisk struct {
	top   string
	fault func(point string) error
}

func (c topDisk) Ledger() (*ledgersync.Writer, error) {
	return ledgersync.Open(c.top, filepath.Base(c.top), c.fault)
}

func (c topDisk) Artifacts() (*artifact.Writer, error) { return artifact.Open(c.top, c.fault) }

func (c topDisk) Discussions(o discussion.Options) (*discussion.Ledger, error) {
	return discussion.Open(c.top, o)
}

// Settings say which records are kept.
type Settings struct {
	LedgerSync  bool
	Artifacts   bool
	Discussions bool
	Checkpoints Checkpoints
	Listed      bool // the epic is one of a playlist
}

func (o *Settings) enabled() bool { return o.LedgerSync || o.Artifacts || o.Discussions }

// CatchUp writes what is missing of the records of all events there are, and returns how many it has written. Whoever calls it holds
// the epic's ledger.
func CatchUp(o KeeperOptions) (written int, err error) {
	if !o.enabled() {
		return 0, nil
	}
	f := newFollower(&o)
	defer f.close()
	if f.upToDate() {
		return 0, nil
	}
	err = f.replay(^uint64(0))
	for _, k := range f.kinds {
		written += k.counts.Missing + k.counts.Changed
	}
	return written, errors.Join(err, f.save())
}

// Rebuilding says which records are compared with the log, and put right.
type Rebuilding struct {
	KeeperOptions      // its LedgerSync, Artifacts and Discussions say which
	DryRun        bool // only count
}

// Counts say what became of one kind of records, or would.
type Counts struct {
	Records int `json:"records"` // that follow from the log
	Missing int `json:"missing"` // of them, and written
	Changed int `json:"changed"` // of them by others, and put back: artifacts
}

// Rebuilt says what became of the records.
type Rebuilt struct {
	LedgerSync  Counts `json:"ledgersync"`
	Artifacts   Counts `json:"artifacts"`
	Discussions Counts `json:"discussions"`
}

// Rebuild compares the records with what follows from the log from its first event on, writes those that are missing, and
// restores artifacts that were changed. Whoever calls it holds the epic's ledger, or runs dry.
func Rebuild(r Rebuilding) (Rebuilt, error) {
	f := newFollower(&r.KeeperOptions)
	defer f.close()
	f.forget(0)
	err := attempts.Replay(r.Dir, func(e attempts.Event) error {
		f.apply(&e)
		return nil
	})
	for _, k := range f.kinds {
		if err == nil {
			err = k.write(f.seq, r.DryRun)
		}
	}
	if err == nil && !r.DryRun {
		err = f.cursor.save(r.Dir)
	}
	return Rebuilt{f.ledger.counts, f.files.counts, f.talk.counts}, err
}

type plans struct {
	o    *KeeperOptions
	last string // text
	epic *epic.Epic
}

// of returns the plan of a run; nil: it is not known.
func (p *plans) of(run string) *epic.Epic {
	text, err := os.ReadFile(filepath.Join(p.o.Dir, attempts.RunsDir, run, "epic.yml"))
	switch {
	case err != nil, string(text) == string(p.o.Plan):
		return p.o.Epic
	case string(text) == p.last:
		return p.epic
	}
	plan, err := epic.Read("epic.yml", text)
	if err != nil {
		plan = p.o.Epic
	}
	p.last, p.epic = string(text), plan
	return plan
}

// follower turns events into records and writes those that are not written yet.
type follower struct {
	o       *KeeperOptions
	project *Projector
	cursor  cursor
	ledger  *kind
	files   *kind
	talk    *kind
	kinds   []*kind // those of them that are to be written
	seq     uint64  // of the last event
}

// newFollower prefixes the fault points of o: those of the epic's own ledger and log have the same names.
func newFollower(o *KeeperOptions) *follower {
	if fault := o.Fault; fault != nil {
		o.Fault = func(point string) error { return fault("records." + point) }
	}
	if o.disk == nil {
		o.disk = topDisk{o.Top, o.Fault}
	}
	f := &follower{o: o, cursor: readCursor(o.Dir)}
	plans := plans{o: o}
	f.project = New(Options{EpicID: o.EpicID, Plan: plans.of, Checkpoints: o.Checkpoints, Listed: o.Listed})
	ledger := &ledgerSink{o: o, at: &f.cursor.LedgerSync, there: map[string]bool{}}
	f.ledger = &kind{sink: ledger, name: filepath.Join(ledgersync.Folder, ledgersync.LedgerFile), position: ledger.at, on: o.LedgerSync}
	f.files = &kind{sink: &artifactSink{o: o}, name: artifact.Folder, position: &f.cursor.Artifacts, on: o.Artifacts}
	f.talk = &kind{sink: &discussionSink{o: o}, name: discussion.Folder, position: &f.cursor.Discussions, on: o.Discussions, waits: o.AtEnd}
	f.kinds = slices.DeleteFunc([]*kind{f.ledger, f.files, f.talk}, func(k *kind) bool { return !k.on })
	return f
}

// upToDate reports whether the records of all events are written.
func (f *follower) upToDate() bool {
	last, err := attempts.LastEvent(f.o.Dir)
	if err != nil {
		return false
	}
	f.forget(last)
	return !slices.ContainsFunc(f.kinds, func(k *kind) bool { return k.Seq < last })
}

// forget resets a cursor that is beyond the last event of the log: it is another log's.
func (f *follower) forget(last uint64) {
	for _, k := range f.kinds {
		if k.Seq > last {
			*k.position = position{}
		}
	}
}

// replay takes in the events that are in the log up to one of them, and writes what is missing of their records.
func (f *follower) replay(upTo uint64) error {
	const most = 1000 // between writes
	stop := errors.New("stop")
	err := attempts.Replay(f.o.Dir, func(e attempts.Event) error {
		if e.Seq > upTo {
			return stop
		}
		if f.apply(&e); e.Seq%most == 0 {
			f.take(nil)
		}
		return nil
	})
	f.take(nil)
	if errors.Is(err, stop) {
		return nil
	}
	return err
}

// take applies the next events, and writes their records unless they are written. It warns once if it cannot write, and leaves the
// rest to the next run.
func (f *follower) take(events []attempts.Event) {
	for i := range events {
		f.apply(&events[i])
	}
	for _, k := range f.kinds {
		if err := k.write(f.seq, false); err != nil {
			f.o.Warn(k.name + " cannot be written: " + err.Error() + "; relay goes on without it, and catches up when it can: relay ledger rebuild")
		}
	}
}

// apply makes records of an event, unless it has made them already.
func (f *follower) apply(e *attempts.Event) {
	if e.Seq <= f.seq {
		return
	}
	f.seq = e.Seq
	found := f.project.Apply(e)
	for _, k := range f.kinds {
		if e.Seq > k.Seq && !k.broken {
			k.pending = append(k.pending, &found)
		}
	}
}

func (f *follower) save() error {
	if err := f.cursor.save(f.o.Dir); err != nil {
		return fmt.Errorf("%s: %w", CursorFile, err)
	}
	return nil
}

func (f *follower) close() {
	for _, k := range f.kinds {
		k.sink.close()
	}
}
