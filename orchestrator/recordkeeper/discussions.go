package recordkeeper

import (
	"errors"
	"time"

	"relay/attempts/discussion"
	"relay/orchestrator/records"
)

// discussionSink writes into the ledger of discussions. It adds entries and notes, and changes nothing that is there.
type discussionSink struct {
	target[*discussion.Ledger, records.Discussion]

	when time.Time // of the event that is written
	wait bool      // agents work in the checkout
}

func newDiscussionSink(o *Options, cursor *position) *discussionSink {
	s := &discussionSink{wait: o.AtEnd}
	by := discussion.Options{By: author, Now: func() time.Time { return s.when }, Fault: o.Fault}
	s.target = target[*discussion.Ledger, records.Discussion]{
		o: o, cursor: cursor, name: discussion.Folder, compare: s.missing, put: s.add,
		begin: func() (*discussion.Ledger, error) { return o.disk.Discussions(by) },
		pick:  func(r *records.Records) []records.Discussion { return r.Discussions },
	}
	return s
}

const author = "relay"

func (s *discussionSink) write(upTo uint64) (written int) {
	if s.wait {
		return 0
	}
	return s.target.write(upTo)
}

// add writes one entry, or one note into several, unless they are there.
func (s *discussionSink) add(d records.Discussion) (written int, err error) {
	s.when = d.At
	if d.Opening != nil {
		_, err := s.w.Append(*d.Opening)
		return 1, err
	}
	for _, origin := range d.Notes {
		added, err := s.w.Note(origin, d.Note)
		if form, ok := errors.AsType[*discussion.FileError](err); ok {
			s.o.Warn("a note of relay was left out: " + form.Error())
			return written, nil
		}
		if err != nil {
			return written, err
		}
		if added {
			written++
		}
	}
	return written, nil
}

// missing counts what of a record is not there. Others may have added to an entry: that is no change to put back.
func (s *discussionSink) missing(d records.Discussion) (found Counts, err error) {
	there, err := s.w.List()
	if err != nil {
		return found, err
	}
	byOrigin := make(map[string]*discussion.Entry)
	for _, l := range there {
		if l.Entry != nil {
			byOrigin[l.Entry.Origin] = l.Entry
		}
	}
	if d.Opening != nil {
		found.Records = 1
		if byOrigin[d.Opening.Origin] == nil {
			found.Missing = 1
		}
		return found, nil
	}
	for _, origin := range d.Notes {
		found.Records++
		if e := byOrigin[origin]; e == nil || !e.HasNote(d.Note, discussion.Stamp(d.At), author) {
			found.Missing++
		}
	}
	return found, nil
}
