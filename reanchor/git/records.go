package git

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"relay/epic/plaintext"
)

var (
	errRecord = errors.New("git printed something relay does not understand")
	errLong   = fmt.Errorf("%w: a name of more than %d bytes", ErrTooMuch, recordBytes)
)

func oddRecord(what string, rec []byte) error {
	return fmt.Errorf("%w: %s %q", errRecord, what, plaintext.Head(string(rec), 80))
}

// records cuts a stream at NUL bytes and hands each piece over. It holds one unfinished piece and nothing else.
type records struct {
	take func(record []byte) error // must not keep the slice
	clip int                       // bytes kept of a longer piece; 0: a piece that is too long is an error
	part []byte
}

// Write passes on what is complete.
func (r *records) Write(p []byte) (int, error) {
	written := len(p)
	for {
		i := bytes.IndexByte(p, 0)
		if i < 0 {
			break
		}
		if err := r.hold(p[:i]); err != nil {
			return 0, err
		}
		if err := r.take(r.part); err != nil {
			return 0, err
		}
		r.part = r.part[:0]
		p = p[i+1:]
	}
	if err := r.hold(p); err != nil {
		return 0, err
	}
	return written, nil
}

// hold adds to the unfinished piece.
func (r *records) hold(p []byte) error {
	if r.clip > 0 {
		p = p[:min(len(p), max(r.clip-len(r.part), 0))]
	}
	if len(r.part)+len(p) > recordBytes {
		return errLong
	}
	r.part = append(r.part, p...)
	return nil
}

// end reports whether the stream stopped in the middle of a piece.
func (r *records) end() error {
	if len(r.part) > 0 {
		return fmt.Errorf("%w: cut off at %q", errRecord, plaintext.Head(string(r.part), 80))
	}
	return nil
}

// statusScan reads git status --porcelain=v2 --branch -z, record by record.
type statusScan struct {
	visit    func(Change) error
	head     string // "" before the first commit
	branch   string
	unmerged bool
	pending  Change // a rename that waits for its old path
	waiting  bool
}

// take reads one record. Paths are taken as bytes: every byte but NUL may be in one.
func (s *statusScan) take(rec []byte) error {
	if s.waiting {
		s.waiting = false
		s.pending.From = string(rec)
		return s.visit(s.pending)
	}
	if len(rec) < 3 || rec[1] != ' ' {
		return oddRecord("status record", rec)
	}
	switch rec[0] {
	case '#':
		s.header(rec[2:])
		return nil
	case '?':
		return s.visit(Change{Code: "??", Path: string(rec[2:])})
	case '!':
		return s.visit(Change{Code: "!!", Path: string(rec[2:])})
	case '1':
		return s.entry(rec, 8)
	case '2':
		return s.entry(rec, 9)
	case 'u':
		s.unmerged = true
		return s.entry(rec, 10)
	}
	return oddRecord("status record", rec)
}

func (s *statusScan) header(text []byte) {
	key, value, _ := bytes.Cut(text, []byte(" "))
	switch string(key) {
	case "branch.oid":
		if s.head = string(value); s.head == "(initial)" {
			s.head = ""
		}
	case "branch.head":
		s.branch = string(value)
	}
}

// entry reads a record whose path comes after the given number of fields, the first of which is its type.
func (s *statusScan) entry(rec []byte, fields int) error {
	rest := rec
	var code []byte
	for i := range fields {
		field, after, ok := bytes.Cut(rest, []byte(" "))
		if !ok {
			return oddRecord("status record", rec)
		}
		if i == 1 {
			code = field
		}
		rest = after
	}
	if len(code) != 2 || len(rest) == 0 {
		return oddRecord("status record", rec)
	}
	c := Change{Code: string(bytes.ReplaceAll(code, []byte("."), []byte(" "))), Path: string(rest)}
	if rec[0] == '2' {
		s.pending, s.waiting = c, true
		return nil
	}
	return s.visit(c)
}

// end reports a rename without its old path.
func (s *statusScan) end() error {
	if s.waiting {
		return fmt.Errorf("%w: rename to %q has no old path", errRecord, plaintext.Head(s.pending.Path, 80))
	}
	return nil
}

// fieldBytes is how much is kept of a subject.
const fieldBytes = 4 << 10

// logScan collects three fields into a commit.
type logScan struct {
	fields []string
	found  []Commit
}

func (s *logScan) take(rec []byte) error {
	if s.fields = append(s.fields, string(rec)); len(s.fields) < 3 {
		return nil
	}
	seconds, err := strconv.ParseInt(s.fields[1], 10, 64)
	if err != nil || !IsHash(s.fields[0]) {
		return fmt.Errorf("%w: commit %q at %q", errRecord, plaintext.Head(s.fields[0], 80), plaintext.Head(s.fields[1], 80))
	}
	s.found = append(s.found, Commit{Hash: s.fields[0], When: time.Unix(seconds, 0).UTC(), Subject: s.fields[2]})
	s.fields = s.fields[:0]
	return nil
}

// end reports a commit without all its fields.
func (s *logScan) end() error {
	if len(s.fields) > 0 {
		return fmt.Errorf("%w: a commit of %d fields", errRecord, len(s.fields))
	}
	return nil
}

// nameScan reads --raw -z: modes, objects and a letter, with a score for renames and copies, then one path or two.
type nameScan struct {
	visit   func(Change) error
	pending Change
	wants   int // paths still to come
}

func (s *nameScan) take(rec []byte) error {
	switch {
	case len(rec) == 0:
		return fmt.Errorf("%w: an empty name", errRecord)
	case s.wants == 0:
		fields := strings.Split(string(rec), " ") // :100644 160000 <object> <object> M
		if rec[0] != ':' || len(fields) != 5 || fields[4] == "" || fields[4][0] < 'A' || fields[4][0] > 'Z' {
			return oddRecord("change letter", rec)
		}
		s.pending, s.wants = Change{Code: fields[4][:1], Blob: fields[3]}, 1
		if fields[1] == linkMode {
			s.pending.Link = fields[3]
		}
		if s.pending.Code == "R" || s.pending.Code == "C" {
			s.wants = 2
		}
		return nil
	case s.wants == 2:
		s.pending.From, s.wants = string(rec), 1
		return nil
	}
	s.pending.Path, s.wants = string(rec), 0
	return s.visit(s.pending)
}

// linesScan reads --numstat -z: two numbers and a path, or, of a rename, the numbers alone and then both paths.
type linesScan struct {
	most    int // files that are kept
	lines   map[string]Lines
	pending Lines
	wants   int // paths still to come
}

func (s *linesScan) take(rec []byte) error {
	if s.wants == 0 {
		added, rest, one := bytes.Cut(rec, []byte("\t"))
		deleted, path, two := bytes.Cut(rest, []byte("\t"))
		if !one || !two {
			return oddRecord("numbers of lines", rec)
		}
		s.pending = Lines{Added: number(added), Deleted: number(deleted)}
		if len(path) == 0 {
			s.wants = 2
			return nil
		}
		s.keep(path)
		return nil
	}
	if s.wants--; s.wants == 0 {
		s.keep(rec)
	}
	return nil
}

func (s *linesScan) keep(path []byte) {
	if len(s.lines) < s.most {
		s.lines[string(path)] = s.pending
	}
}

// number reads a count; 0 of anything else.
func number(text []byte) int {
	n, err := strconv.Atoi(string(text))
	if err != nil {
		return 0
	}
	return n
}

// linkMode is that of a path at which a tree has the commit of another repository.
const linkMode = "160000"

// end reports a change without its path.
func (s *nameScan) end() error {
	if s.wants > 0 {
		return fmt.Errorf("%w: change %s has no path", errRecord, s.pending.Code)
	}
	return nil
}
