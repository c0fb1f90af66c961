package git

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

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

// statusScan reads git status --porcelain -z: two letters, a space and a path, and behind the new path of a rename the old one.
type statusScan struct {
	visit    func(Change) error
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
	if len(rec) < 4 || rec[2] != ' ' {
		return oddRecord("status record", rec)
	}
	c := Change{Code: string(rec[:2]), Path: string(rec[3:])}
	s.unmerged = s.unmerged || strings.Contains(c.Code, "U") || c.Code == "AA" || c.Code == "DD"
	if strings.ContainsAny(c.Code, "RC") {
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
