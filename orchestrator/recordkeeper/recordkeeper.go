// Package recordkeeper writes what follows from an epic's event log into files that other programs read: entries into the ledger of
// LedgerSync, artifacts of sessions, and discussions.
//
// The log is the truth, and these files follow it: what was written is kept in a file beside the log ([CursorFile]), and what is missing
// is made up for by the next that opens the epic. Each record is written once, whenever a crash comes: its id and its name follow from
// the event. Nothing of others is ever changed. What records say belongs to [relay/orchestrator/records].
package recordkeeper

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"relay/attempts"
	"relay/attempts/artifact"
	"relay/attempts/discussion"
	"relay/attempts/ledgersync"
	"relay/epic"
	"relay/orchestrator/records"
)

// Options say whose records are kept, and where.
type Options struct {
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
	Checkpoints records.Checkpoints
	Listed      bool // the epic is one of a playlist
}

func (o *Settings) enabled() bool { return o.LedgerSync || o.Artifacts || o.Discussions }

// CatchUp writes what is missing of the records of all events there are, and returns how many it has written. Whoever calls it holds
// the epic's ledger.
func CatchUp(o Options) (written int, err error) {
	if !o.enabled() {
		return 0, nil
	}
	f := newFollower(&o)
	defer f.close()
	if f.behind() == upToDate {
		return 0, nil
	}
	err = f.replay(^uint64(0))
	return f.written, errors.Join(err, f.save())
}

type plans struct {
	o    *Options
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
	o       *Options
	project *records.Projector
	cursor  cursor
	ledger  *ledgerSink
	files   *artifactSink
	talk    *discussionSink
	kept    []sink // those of them that are to be written
	seq     uint64 // of the last event
	written int
}

// newFollower prefixes the fault points of o: those of the epic's own ledger and log have the same names.
func newFollower(o *Options) *follower {
	if fault := o.Fault; fault != nil {
		o.Fault = func(point string) error { return fault("records." + point) }
	}
	if o.disk == nil {
		o.disk = topDisk{o.Top, o.Fault}
	}
	f := &follower{o: o, cursor: readCursor(o.Dir)}
	plans := plans{o: o}
	f.project = records.New(records.Options{EpicID: o.EpicID, Plan: plans.of, Checkpoints: o.Checkpoints, Listed: o.Listed})
	f.ledger = newLedgerSink(o, &f.cursor.LedgerSync)
	f.files = newArtifactSink(o, &f.cursor.Artifacts)
	f.talk = newDiscussionSink(o, &f.cursor.Discussions)
	if o.LedgerSync {
		f.kept = append(f.kept, f.ledger)
	}
	if o.Artifacts {
		f.kept = append(f.kept, f.files)
	}
	if o.Discussions {
		f.kept = append(f.kept, f.talk)
	}
	return f
}

// upToDate is what behind returns when nothing is missing.
const upToDate = ^uint64(0)

// behind returns the number of the first event whose records may be missing.
func (f *follower) behind() uint64 {
	last, err := attempts.LastEvent(f.o.Dir)
	if err != nil {
		return 0
	}
	first := upToDate
	f.forget(last)
	for _, s := range f.kept {
		if c := s.at(); c.Seq < last {
			first = min(first, c.Seq+1)
		}
	}
	return first
}

// forget begins anew where the log has no more than last events and a cursor says that more are written: it is another log's.
func (f *follower) forget(last uint64) {
	for _, s := range f.kept {
		if c := s.at(); c.Seq > last {
			*c = position{}
		}
	}
}

// replay takes in the events that are in the log up to one of them, and writes what is missing of their records.
func (f *follower) replay(upTo uint64) error {
	var batch []attempts.Event
	const most = 1000
	stop := errors.New("stop")
	err := attempts.Replay(f.o.Dir, func(e attempts.Event) error {
		if e.Seq > upTo {
			return stop
		}
		if batch = append(batch, e); len(batch) == most {
			f.take(batch)
			batch = batch[:0]
		}
		return nil
	})
	f.take(batch)
	if errors.Is(err, stop) {
		return nil
	}
	return err
}

// take takes in the next events, and writes their records unless they are written. What cannot be written is told once, and left to the
// next run.
func (f *follower) take(events []attempts.Event) {
	for i := range events {
		f.apply(&events[i])
	}
	for _, s := range f.kept {
		f.written += s.write(f.seq)
	}
}

// apply makes records of an event, unless it has made them already.
func (f *follower) apply(e *attempts.Event) {
	if e.Seq <= f.seq {
		return
	}
	f.seq = e.Seq
	found := f.project.Apply(e)
	for _, s := range f.kept {
		s.take(e.Seq, &found)
	}
}

func (f *follower) save() error {
	if err := f.cursor.save(f.o.Dir); err != nil {
		return fmt.Errorf("%s: %w", CursorFile, err)
	}
	return nil
}

func (f *follower) close() {
	for _, s := range f.kept {
		s.close()
	}
}
