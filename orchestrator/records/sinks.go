package records

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"relay/attempts/artifact"
	"relay/attempts/discussion"
	"relay/attempts/ledgersync"
	"relay/epic/each"
)

// sink is what records of one kind are written to, from the first record on.
type sink interface {
	// put writes those of the records that are not there. Dry, it only counts them.
	put(found []*Records, dry bool) (Counts, error)
	close()
}

// kind is one kind of records, and how far they are written.
type kind struct {
	sink
	*position

	name    string // of what is written
	on      bool
	waits   bool // nothing is written yet: agents work in the checkout
	broken  bool // it could not be written: nothing more is until the next run
	counts  Counts
	pending []*Records
}

// write writes what was taken. upTo is the number of the last event that was looked at.
func (k *kind) write(upTo uint64, dry bool) error {
	if k.waits || k.broken {
		return nil
	}
	c, err := k.put(k.pending, dry)
	k.pending = nil
	k.counts = Counts{k.counts.Records + c.Records, k.counts.Missing + c.Missing, k.counts.Changed + c.Changed}
	if k.broken = err != nil; !k.broken {
		k.Seq = max(k.Seq, upTo)
	}
	return err
}

// gathered returns the records of one kind, in their order.
func gathered[T any](found []*Records, of func(*Records) []T) []T {
	return slices.Concat(each.Of(found, of)...)
}

// ledgerSink appends to the ledger of LedgerSync.
type ledgerSink struct {
	o     *KeeperOptions
	at    *position
	w     *ledgersync.Writer // nil: nothing was written yet
	there map[string]bool    // ids of the lines behind the cursor that can be of records, and of those written since
}

func (s *ledgerSink) close() {
	if s.w != nil {
		_ = s.w.Close() // a folder that was opened; what was written is synced
	}
}

func (s *ledgerSink) put(found []*Records, dry bool) (c Counts, err error) {
	list := gathered(found, func(r *Records) []*ledgersync.Entry { return r.Entries })
	if c.Records = len(list); c.Records == 0 {
		return c, nil
	}
	if _, err := os.Stat(ledgersync.Path(s.o.Top)); dry && errors.Is(err, fs.ErrNotExist) {
		c.Missing = c.Records
		return c, nil
	}
	if err := s.open(); err != nil {
		return c, err
	}
	var missing [][]byte
	for _, e := range list {
		line, err := s.w.Encode(e)
		if err != nil { // the projection has made something that the format does not allow
			s.o.Warn("an entry of " + ledgersync.Folder + " was left out: " + err.Error())
			continue
		}
		if !s.there[e.ID] {
			missing = append(missing, line)
		}
		s.there[e.ID] = true
	}
	if c.Missing = len(missing); dry || c.Missing == 0 {
		return c, nil
	}
	mended, err := s.w.AppendLines(missing...)
	if mended != "" {
		s.o.Warn(mended)
	}
	if err == nil {
		s.at.Offset, err = s.w.Size()
	}
	return c, err
}

// open opens the ledger and finds the entries behind the cursor.
func (s *ledgerSink) open() (err error) {
	if s.w != nil {
		return nil
	}
	if s.w, err = s.o.disk.Ledger(); err != nil {
		return err
	}
	size, err := s.w.Size()
	if err != nil {
		return err
	}
	if s.at.Offset > size { // git may have taken what stood before the entries
		s.at.Offset = 0
	}
	return s.w.Lines(s.at.Offset, func(id string) {
		if len(id) == 36 && id[14] == '5' { // made of a name, not of chance, as the id of each record
			s.there[id] = true
		}
	})
}

// artifactSink writes artifacts.
type artifactSink struct {
	o *KeeperOptions
	w *artifact.Writer
}

func (s *artifactSink) close() {
	if s.w != nil {
		_ = s.w.Close()
	}
}

func (s *artifactSink) put(found []*Records, dry bool) (c Counts, err error) {
	list := gathered(found, func(r *Records) []Artifact { return r.Artifacts })
	if len(list) > 0 && s.w == nil {
		s.w, err = s.o.disk.Artifacts()
	}
	for _, a := range list {
		if err != nil {
			return c, err
		}
		there, same, unfit := s.w.Holds(a.Artifact, a.Title)
		if unfit != nil {
			s.o.Warn("an artifact was left out: " + unfit.Error())
			continue
		}
		c.Records++
		switch {
		case same:
			continue
		case there:
			c.Changed++
		default:
			c.Missing++
		}
		if !dry {
			_, err = s.w.Put(a.Artifact, a.Title)
		}
	}
	return c, err
}

// discussionSink writes into the ledger of discussions. It adds entries and notes, and changes nothing that is there.
type discussionSink struct {
	o    *KeeperOptions
	w    *discussion.Ledger
	when time.Time // of the event that is written
}

const author = "relay"

func (s *discussionSink) close() {
	if s.w != nil {
		_ = s.w.Close()
	}
}

// put keeps what others have added to an entry.
func (s *discussionSink) put(found []*Records, dry bool) (c Counts, err error) {
	list := gathered(found, func(r *Records) []Discussion { return r.Discussions })
	if len(list) == 0 {
		return c, nil
	}
	if s.w == nil {
		by := discussion.Options{By: author, Now: func() time.Time { return s.when }, Fault: s.o.Fault}
		if s.w, err = s.o.disk.Discussions(by); err != nil {
			return c, err
		}
	}
	there, err := s.w.List()
	byOrigin := make(map[string]*discussion.Entry)
	for _, l := range there {
		if l.Entry != nil {
			byOrigin[l.Entry.Origin] = l.Entry
		}
	}
	for i := 0; i < len(list) && err == nil; i++ {
		err = s.add(&list[i], byOrigin, dry, &c)
	}
	return c, err
}

// add writes one entry, or one note into several, unless they are there.
func (s *discussionSink) add(d *Discussion, byOrigin map[string]*discussion.Entry, dry bool, c *Counts) (err error) {
	s.when = d.At
	if d.Opening != nil {
		if c.Records++; byOrigin[d.Opening.Origin] == nil {
			if !dry {
				_, err = s.w.Append(*d.Opening)
			}
			c.Missing++
		}
		return err
	}
	for _, origin := range d.Notes {
		c.Records++
		if e := byOrigin[origin]; e != nil && e.HasNote(d.Note, discussion.Stamp(d.At), author) {
			continue
		}
		added := dry
		if !dry {
			added, err = s.w.Note(origin, d.Note)
		}
		if form, ok := errors.AsType[*discussion.FileError](err); ok {
			s.o.Warn("a note of relay was left out: " + form.Error())
			err = nil
		}
		if err != nil {
			return err
		}
		if added {
			c.Missing++
		}
	}
	return nil
}
