package git

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"relay/epic/plaintext"
)

var errRecord = errors.New("git printed something relay does not understand")

func oddRecord(what string, rec []byte) error {
	return fmt.Errorf("%w: %s %q", errRecord, what, plaintext.Head(string(rec), 80))
}

// records is what git printed, in pieces that a NUL byte ends each, as far as it is not read yet.
type records struct{ rest []byte }

func (r *records) next() ([]byte, error) {
	record, rest, whole := bytes.Cut(r.rest, []byte{0})
	if !whole {
		return nil, oddRecord("cut off at", record)
	}
	r.rest = rest
	return record, nil
}

// path reads a path. Paths are taken as bytes: every byte but NUL may be in one.
func (r *records) path() (string, error) {
	record, err := r.next()
	if err == nil && len(record) == 0 {
		err = fmt.Errorf("%w: an empty name", errRecord)
	}
	return string(record), err
}

// eachStatus reads git status --porcelain -z: two letters, a space and a path, and behind the new path of a rename the old one.
func eachStatus(printed []byte, visit func(Change) error) (unmerged bool, err error) {
	for r := (records{printed}); len(r.rest) > 0; {
		rec, err := r.next()
		if err != nil {
			return unmerged, err
		}
		if len(rec) < 4 || rec[2] != ' ' {
			return unmerged, oddRecord("status record", rec)
		}
		c := Change{Code: string(rec[:2]), Path: string(rec[3:])}
		unmerged = unmerged || strings.Contains(c.Code, "U") || c.Code == "AA" || c.Code == "DD"
		if strings.ContainsAny(c.Code, "RC") {
			if c.From, err = r.path(); err != nil {
				return unmerged, err
			}
		}
		if err := visit(c); err != nil {
			return unmerged, err
		}
	}
	return unmerged, nil
}

// eachName reads --raw -z: modes, objects and a letter, with a score for renames and copies, then one path or two.
func eachName(printed []byte, visit func(Change) error) error {
	for r := (records{printed}); len(r.rest) > 0; {
		rec, err := r.next()
		if err != nil {
			return err
		}
		fields := strings.Split(string(rec), " ") // :100644 160000 <object> <object> M
		if len(fields) != 5 || rec[0] != ':' || fields[4] == "" || fields[4][0] < 'A' || fields[4][0] > 'Z' {
			return oddRecord("change letter", rec)
		}
		c := Change{Code: fields[4][:1], Blob: fields[3]}
		if fields[1] == linkMode {
			c.Link = fields[3]
		}
		if c.Code == "R" || c.Code == "C" {
			if c.From, err = r.path(); err != nil {
				return err
			}
		}
		if c.Path, err = r.path(); err != nil {
			return err
		}
		if err := visit(c); err != nil {
			return err
		}
	}
	return nil
}

// linesIn reads --numstat -z: two numbers and a path, or, of a rename, the numbers alone and then both paths. It returns the lines of so
// many files at most, and what stands behind the last record.
func linesIn(printed []byte, most int) (lines map[string]Lines, summary string, err error) {
	lines = map[string]Lines{}
	r := records{printed}
	for bytes.IndexByte(r.rest, 0) >= 0 {
		rec, err := r.next()
		if err != nil {
			return nil, "", err
		}
		added, rest, one := bytes.Cut(rec, []byte("\t"))
		deleted, path, two := bytes.Cut(rest, []byte("\t"))
		if !one || !two {
			return nil, "", oddRecord("numbers of lines", rec)
		}
		name := string(path)
		if name == "" {
			_, failed := r.path()
			if name, err = r.path(); err != nil || failed != nil {
				return nil, "", errors.Join(failed, err)
			}
		}
		if len(lines) < most {
			lines[name] = Lines{Added: number(added), Deleted: number(deleted)}
		}
	}
	return lines, string(r.rest), nil
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
