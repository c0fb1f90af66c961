package sessionkeeper

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"relay/epic/plaintext"
	"relay/orchestrator/relayfiles"
	"relay/runners"
	"relay/runners/kinds"
)

const (
	maxPrompt = 4 << 20
	buffer    = 64 << 10

	smallBuffer = 4 << 10
)

// stream is one run of an agent's CLI: a folder with what it was asked and what it printed.
type stream struct {
	folder string
	round  int
	kind   string // of the CLI; "": its first line tells

	reader runners.MessageReader

	times *runners.MessageTimes // nil: not read yet
	read  int64                 // bytes of the file
	shift int64                 // how much further that is in the stream as it came
}

// seeTimes reads the file of times, once.
func (s *stream) seeTimes() *runners.MessageTimes {
	if s.times == nil {
		times := runners.ReadTimes(s.folder)
		s.times = &times
	}
	return s.times
}

func (s *stream) prompt() string {
	for _, name := range []string{"brief.md", "prompt.md"} {
		if text, err := runners.ReadRegular(filepath.Join(s.folder, name), maxPrompt); err == nil {
			return strings.ToValidUTF8(string(text), "\uFFFD")
		}
	}
	return ""
}

// readAll reads the stream to its end, and calls flush now and then during a long one. The last line needs no end.
func (s *stream) readAll(rows *Assembler, flush func() error) error {
	s.seeTimes()
	rows.Begin(Stream{Round: s.round, Prompt: s.prompt()})
	if err := s.lines(rows, flush); err != nil {
		return err
	}
	rows.End(s.times.Last())
	return nil
}

// lines reads the lines of the file, if it is there: the agent may have removed it.
func (s *stream) lines(rows *Assembler, flush func() error) error {
	f, err := relayfiles.OpenTranscript(filepath.Join(s.folder, relayfiles.Transcript))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, runners.ErrNotRegular) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	room := int(min(max(s.times.Size(), smallBuffer), buffer))
	return plaintext.EachLine(f, room, relayfiles.MaxLine, func(line []byte, size int64, whole bool) error {
		if s.kind == "" {
			s.kind = kinds.Printed(line)
		}
		if whole || size <= relayfiles.MaxLine && (!kinds.Structured(s.kind) || json.Valid(line)) { // or the last one is half of one
			s.line(rows, line, size)
		}
		if rows.Pending() < maxPending {
			return nil
		}
		return flush()
	})
}

func (s *stream) line(rows *Assembler, line []byte, size int64) {
	at := Place{Offset: s.read + s.shift, Line: line}
	s.read += size
	at.Seen = s.times.At(s.read + s.shift)
	if dropped := s.hole(line); dropped > 0 {
		s.shift += dropped - size
		at.Seen = s.times.At(at.Offset + dropped)
		if main := rows.main; main != nil {
			rows.note(main, strconv.FormatInt(dropped, 10)+" bytes of the transcript are missing here: it was longer than what relay keeps of one", at)
		}
		return
	}
	if s.reader == nil {
		s.reader = kinds.Conversation(s.kind)
	}
	tooLong := len(line) > relayfiles.MaxLine && kinds.Structured(s.kind)
	if tooLong || !s.reader.Line(line, func(e runners.Message) { rows.Event(e, at) }) {
		rows.Unreadable(line, at)
	}
}

// hole returns how many bytes are missing behind a line of relay's own; 0: it is none. There is one at most, and only in a stream that
// was longer than its file is.
func (s *stream) hole(line []byte) int64 {
	dropped := relayfiles.Dropped(line)
	if s.shift != 0 || s.times.Size() > 0 && s.read+dropped > s.times.Size() {
		return 0
	}
	return dropped
}
