package agentlog

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"time"

	"relay/epic/plaintext"
	"relay/orchestrator/relayfiles"
	"relay/runners"
	"relay/runners/kinds"
)

const (
	buffer   = 64 << 10
	mostOpen = 1000 // calls that have not ended
)

type stream struct {
	folder string
	about  Entry // what all of its entries have in common
	kind   string
	file   io.ReadCloser // an *os.File, unless it is compressed
	at     io.ReaderAt   // the same; nil: it is compressed
	clean  func(string) string
	raw    bool             // whole texts, as they are
	now    func() time.Time // nil: nothing writes to it any more
	reader runners.MessageReader
	open   map[string]bool // tool calls that have not ended

	times  runners.MessageTimes
	offset int64 // read up to here
	shift  int64 // how much further that is in the stream as it came
	size   int64 // of the file when it was last read on

	pending *Entry // a message that may go on
}

// printer takes entries in their order.
type printer func(Entry)

func (s *stream) fileSize() int64 {
	if f, ok := s.file.(*os.File); ok {
		if info, err := f.Stat(); err == nil {
			return info.Size()
		}
	}
	return 0
}

// readOn reads what has come since the last time, as far as it is whole lines; when the stream has ended, the last one as well.
func (s *stream) readOn(ended bool, take printer) error {
	var from io.Reader = s.file
	if s.at != nil {
		s.size = s.fileSize()
		from = io.NewSectionReader(s.at, s.offset, max(s.size-s.offset, 0))
	}
	s.times = runners.ReadTimes(s.folder)
	return plaintext.EachLine(from, buffer, relayfiles.MaxLine, func(line []byte, size int64, whole bool) error {
		if whole || ended {
			s.offset += size
			s.line(line, size, whole, take)
		}
		return nil
	})
}

func (s *stream) line(line []byte, size int64, whole bool, take printer) {
	line, zeros := bytes.TrimLeft(line, "\x00"), len(line)
	e := s.about
	if zeros -= len(line); zeros > 0 {
		s.note(e, dropped(int64(zeros)), take)
	}
	if n := relayfiles.Dropped(line); n > 0 {
		s.shift = n - size
		s.note(e, dropped(n), take)
		return
	}
	if e.At = instant(s.times.At(s.offset + s.shift)); e.At.IsZero() && s.now != nil {
		e.At = s.now()
	}
	if s.kind == "" {
		s.kind = kinds.Printed(line)
	}
	if !kinds.Structured(s.kind) {
		s.print(e, string(line), take)
		return
	}
	if s.reader == nil {
		s.reader = kinds.Conversation(s.kind)
	}
	switch {
	case len(line) > relayfiles.MaxLine:
		s.note(e, "a line is too long to be read", take)
	case !whole && !json.Valid(line):
		s.note(e, "the log ends in the middle of a line", take)
	case !s.reader.Line(line, func(told runners.Message) { s.event(e, &told, take) }):
		s.print(e, string(line), take)
	}
}

// flush passes on a message that nothing has been added to.
func (s *stream) flush(take printer) {
	if s.pending != nil {
		take(*s.pending)
		s.pending = nil
	}
}
