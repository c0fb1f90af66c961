package ledgersync

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"relay/attempts/internal/durable"
	"relay/epic/plaintext"
)

// Path returns where the ledger of a checkout is, whose top folder is given.
func Path(top string) string { return filepath.Join(top, Folder, LedgerFile) }

// Decode reads one line. Fields of another type than the format's are left empty: problem says which was the first. An error means that
// the line is not an entry at all: not a JSON object, or one that says neither who nor what.
func Decode(line []byte) (e *Entry, problem, err error) {
	e = new(Entry)
	err = durable.Unmarshal(line, e)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		problem, err = err, nil
	}
	if err == nil && e.ID == "" && e.Agent.Name == "" && e.Action.Summary == "" {
		err = errors.New("it is not an entry: it has neither id, agent nor action")
	}
	if err != nil {
		return nil, nil, err
	}
	return e, problem, nil
}

// ReadAll calls f with every entry of a ledger, the oldest first, and the number of its line. Lines that are no entries are skipped;
// their numbers are returned, a hundred at most. f's error ends it and is returned.
func ReadAll(r io.Reader, f func(line int, e *Entry) error) (skipped []int, err error) {
	const most = 100
	err = eachLine(r, func(l line) error {
		e, _, err := Decode(l.text)
		if err == nil {
			return f(l.number, e)
		}
		if len(skipped) < most {
			skipped = append(skipped, l.number)
		}
		return nil
	})
	return skipped, err
}

// Filter says which entries of a ledger are wanted. An empty field wants all.
type Filter struct {
	Agent   string // by name
	Session string // by id
	Tag     string
	Type    Type
}

// Match reports whether an entry is wanted.
func (f Filter) Match(e *Entry) bool {
	return (f.Agent == "" || e.Agent.Name == f.Agent) &&
		(f.Session == "" || e.Session.ID == f.Session) &&
		(f.Type == "" || e.Type == f.Type) &&
		(f.Tag == "" || slices.Contains(e.Tags, f.Tag))
}

// Last returns the last n entries of a ledger that are wanted, the oldest of them first. A ledger that is not there has none.
func Last(path string, n int, wanted Filter) (entries []*Entry, err error) {
	file, err := OpenFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	_, err = ReadAll(file, func(_ int, e *Entry) error {
		if wanted.Match(e) {
			entries = append(entries, e)
			entries = entries[max(len(entries)-n, 0):]
		}
		return nil
	})
	return entries, err
}

// Tail reads the end of a ledger, and after that only what is added. Path is that of the ledger.
type Tail struct {
	Path string

	info fs.FileInfo // of the file that was read
	at   int64       // where the first line begins that was not read
	end  []byte      // the end of what was read, by which a file is known that was written again
}

// tailBytes is how much of a ledger a tail reads at first.
const tailBytes = 16 << 20

const endBytes = 256

// Next calls f with the entries that were added since the call before. fresh reports whether it has begun at the end of another file: what
// was read before is not valid any more. A ledger that cannot be read has no entries.
func (t *Tail) Next(f func(e *Entry)) (fresh bool) {
	file, err := OpenFile(t.Path)
	if err != nil {
		t.info = nil
		return true
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return false
	}
	end := make([]byte, len(t.end))
	_, err = file.ReadAt(end, t.at-int64(len(end)))
	if fresh = t.info == nil || !os.SameFile(info, t.info) || err != nil || !bytes.Equal(end, t.end); fresh {
		t.at, t.end = max(info.Size()-tailBytes, 0), nil
	}
	t.info = info
	room := int(min(info.Size()-t.at, 64<<10)) // often nothing
	part := fresh && t.at > 0                  // the end of a line
	_ = plaintext.EachLine(io.NewSectionReader(file, t.at, 1<<62), room, MaxLine, func(text []byte, size int64, whole bool) error {
		e, _, err := Decode(bytes.TrimPrefix(text, []byte(byteOrderMark)))
		if !whole && err != nil { // a line that may be written to its end
			return err
		}
		t.at += size
		if err == nil && !part {
			f(e)
		}
		part = false
		return nil
	})
	t.end = make([]byte, min(t.at, endBytes))
	_, _ = file.ReadAt(t.end, t.at-int64(len(t.end))) // else the next call begins again
	return fresh
}

// OpenFile opens a ledger for reading. It fails for what is not a regular file.
func OpenFile(path string) (*os.File, error) { return durable.OpenRegular(path) }
