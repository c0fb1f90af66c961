package recordkeeper

import (
	"errors"
	"time"

	"relay/attempts/discussion"
	"relay/orchestrator/records"
)

// discussionSink writes into the ledger of discussions. It adds entries and notes, and changes nothing that is there.
type discussionSink struct {
	target[*discussion.Ledger]

	when  time.Time // of the event that is written
	later []numbered[records.Discussion]
}

func newDiscussionSink(o *Options, cursor *position) *discussionSink {
	s := &discussionSink{}
	s.target = target[*discussion.Ledger]{o: o, cursor: cursor, name: discussion.Folder, begin: func() (*discussion.Ledger, error) {
		return o.openDiscussions(func() time.Time { return s.when })
	}}
	return s
}

// author is who has written what relay adds.
const author = "relay"

// write writes what is not there yet, and returns how much that was. upTo is the number of the last event that was looked at. Where agents
// work in the checkout it only takes note of it, until flush is called.
func (s *discussionSink) write(list []numbered[records.Discussion], upTo uint64) (written int) {
	if s.o.AtEnd {
		s.later = append(s.later, list...)
		return 0
	}
	for _, d := range list {
		if d.seq <= s.cursor.Seq || !s.open() {
			continue
		}
		n, err := s.put(&d.record)
		written += n
		if form, ok := errors.AsType[*discussion.FileError](err); ok {
			s.o.Warn("a note of relay was left out: " + form.Error())
		} else if err != nil {
			s.fail(err)
			s.cursor.Seq = max(s.cursor.Seq, d.seq-1) // an event may have several
			return written
		}
	}
	if !s.broken {
		s.cursor.Seq = max(s.cursor.Seq, upTo)
	}
	return written
}

// flush writes what write has put off.
func (s *discussionSink) flush(upTo uint64) {
	o := *s.o
	o.AtEnd, s.o = false, &o
	s.write(s.later, upTo)
	s.later = nil
}

// put writes one entry, or one note into several, unless they are there.
func (s *discussionSink) put(d *records.Discussion) (written int, err error) {
	s.when = d.At
	if d.Opening != nil {
		_, err := s.w.Append(*d.Opening)
		if err != nil {
			return 0, err
		}
		return 1, nil
	}
	for _, origin := range d.Notes {
		added, err := s.w.Note(origin, d.Note)
		if err != nil {
			return written, err
		}
		if added {
			written++
		}
	}
	return written, nil
}

// discussions adds entries and notes that are missing. Others may have added to an entry: that is no change to put back.
func (r *Rebuilding) discussions(list []records.Discussion) (counts Counts, err error) {
	s := newDiscussionSink(&r.Options, nil)
	if len(list) == 0 || !s.open() {
		return counts, nil
	}
	defer s.close()
	for i := range list {
		missing, all, err := s.missing(&list[i])
		if err != nil {
			return counts, err
		}
		counts.Records += all
		counts.Missing += missing
		if r.DryRun || missing == 0 {
			continue
		}
		_, err = s.put(&list[i])
		if form, ok := errors.AsType[*discussion.FileError](err); ok {
			counts.Missing -= missing
			s.o.Warn("a note of relay was left out: " + form.Error())
		} else if err != nil {
			return counts, err
		}
	}
	return counts, nil
}

// missing returns how many records something comes to, and how many of them are not there.
func (s *discussionSink) missing(d *records.Discussion) (missing, all int, err error) {
	there, err := s.w.List()
	if err != nil {
		return 0, 0, err
	}
	byOrigin := make(map[string]*discussion.Entry)
	for _, l := range there {
		if l.Entry != nil {
			byOrigin[l.Entry.Origin] = l.Entry
		}
	}
	if d.Opening != nil {
		if byOrigin[d.Opening.Origin] == nil {
			missing = 1
		}
		return missing, 1, nil
	}
	for _, origin := range d.Notes {
		if e := byOrigin[origin]; e == nil || !e.HasNote(d.Note, discussion.Stamp(d.At), author) {
			missing++
		}
	}
	return missing, len(d.Notes), nil
}
