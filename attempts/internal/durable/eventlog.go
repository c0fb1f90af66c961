package durable

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"relay/epic/plaintext"
)

// A line is {"crc":"8 hex",REST where REST is the remainder of one JSON object and crc the CRC-32C of REST.
const (
	head         = `{"crc":"`
	restAt       = len(head) + 8 + len(`",`)
	MaxEventLine = 16 << 20 // a longer line is not ours
	maxSeq       = 1 << 53  // what every reader of JSON can hold
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sum is the running checksum of a log's bytes.
func Sum(crc uint32, p []byte) uint32 { return crc32.Update(crc, castagnoli, p) }

// Frame appends the line of one event to dst. The event is a JSON object as encoding/json writes it.
func Frame(dst, object []byte) []byte {
	rest := object[1:]
	var sum [4]byte
	binary.BigEndian.PutUint32(sum[:], crc32.Checksum(rest, castagnoli))
	dst = append(dst, head...)
	dst = hex.AppendEncode(dst, sum[:])
	dst = append(dst, `",`...)
	dst = append(dst, rest...)
	return append(dst, '\n')
}

// Line is one whole line of a log.
type Line struct {
	Text   []byte // the JSON object, crc included, without the newline; valid until the next line
	Seq    uint64
	Synced uint64 // events up to here were durable when the line was written
	Number int    // from 1
	Offset int64
}

// check verifies a line and finds its sequence numbers.
func check(text []byte, l *Line) error {
	if len(text) < restAt+2 || string(text[:len(head)]) != head {
		return errors.New("not an event")
	}
	var sum [4]byte
	if _, err := hex.Decode(sum[:], text[len(head):len(head)+8]); err != nil {
		return errors.New("its checksum cannot be read")
	}
	if crc32.Checksum(text[restAt:], castagnoli) != binary.BigEndian.Uint32(sum[:]) {
		return errors.New("its checksum does not match")
	}
	l.Text = text
	var nums struct{ Seq, Synced uint64 }
	if err := Unmarshal(text, &nums); err != nil {
		return errors.New("not JSON")
	}
	if l.Seq, l.Synced = nums.Seq, nums.Synced; l.Synced == 0 && l.Seq > 0 {
		l.Synced = l.Seq - 1
	}
	if l.Seq == 0 || l.Seq > maxSeq {
		return fmt.Errorf("%d is not an event's number", l.Seq)
	}
	return nil
}

// BadLine says which line cannot be read, and why.
type BadLine struct {
	Number int
	Offset int64
	Why    string
}

// TornTail holds what a crash has left at the end of a log: bytes that were never acknowledged.
type TornTail struct {
	Offset int64 // of the first byte to cut
	Bytes  int64 // 0 when the log ends well
	Line   int
}

// ScanLines reads lines and hands the whole ones to f. A bad line is part of the tail when no later line says that it had been durable;
// otherwise bad is called with it, and reading goes on if that returns nil. next is the number of the first event expected, 0 if not known.
func ScanLines(r io.Reader, next uint64, f func(*Line) error, bad func(*BadLine) error) (TornTail, error) {
	s := scanner{next: next, f: f, bad: bad}
	if err := plaintext.EachLine(r, 32<<10, MaxEventLine, s.line); err != nil {
		return TornTail{}, err
	}
	return s.tail(), nil
}

type scanner struct {
	offset int64
	number int
	next   uint64
	first  *BadLine // bad lines since the last whole one begin here
	f      func(*Line) error
	bad    func(*BadLine) error
}

func (s *scanner) line(text []byte, size int64, whole bool) error {
	s.number++
	l := Line{Number: s.number, Offset: s.offset}
	s.offset += size
	err := errors.New("it is cut off")
	if whole {
		err = check(text, &l)
	}
	if err != nil {
		if s.first == nil {
			s.first = &BadLine{Number: l.Number, Offset: l.Offset, Why: err.Error()}
		}
		return nil
	}
	if s.first != nil {
		lost := cmp.Or(s.next, l.Seq-1)
		if l.Synced < lost {
			return nil // written together with what was lost, and acknowledged no more than that
		}
		b := s.first
		s.first = nil
		if err := s.bad(b); err != nil {
			return err
		}
	}
	s.next = l.Seq + 1
	return s.f(&l)
}

func (s *scanner) tail() TornTail {
	if s.first == nil {
		return TornTail{Offset: s.offset}
	}
	return TornTail{Offset: s.first.Offset, Bytes: s.offset - s.first.Offset, Line: s.first.Number}
}
