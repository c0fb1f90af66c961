package discussion

import (
	"bytes"
	"errors"
	"math"
	"time"

	"relay/attempts/internal/durable"
	"relay/epic"
	"relay/epic/each"
	"relay/epic/plaintext"
)

// Options say who uses a ledger.
type Options struct {
	By    string                   // who opens discussions, marks and links: a person, relay, or an agent
	Now   func() time.Time         // required
	Clean func(text string) string // takes secrets out of texts; nil: texts stay
	Fault func(point string) error // called at each point that a crash can cut; nil in use
}

// clean returns a text that can be stored: without secrets, and without what drives a terminal.
func (o Options) clean(text string) string {
	text = plaintext.Clean(text)
	if o.Clean != nil {
		text = plaintext.Clean(o.Clean(text))
	}
	return text
}

func (o Options) line(text string) string { return plaintext.Line(o.clean(text)) }

func (o Options) change(s Status, note string, at time.Time) Change {
	return Change{Status: s, Note: o.clean(note), At: Stamp(at), By: o.line(o.By)}
}

// Ledger is the discussion ledger of one checkout. It reads what is there whenever it is asked, so that several processes can use it at
// once; those that write wait for each other.
type Ledger struct {
	files folder
	o     Options
}

// Open opens the top folder of a checkout. Nothing is made there before the first entry is written; the folder .ledger, if there is none,
// is then made so that git ignores it. One that is there is used as it is, unless it is a link.
func Open(top string, o Options) (*Ledger, error) {
	fsys, err := durable.OpenDisk(top)
	if err != nil {
		return nil, err
	}
	return NewLedger(fsys, o), nil
}

// NewLedger is Open of a checkout whose top folder is open already. Closing the ledger closes it.
func NewLedger(fsys durable.FS, o Options) *Ledger { return &Ledger{folder{fsys, o.Fault}, o} }

// Close gives the checkout back.
func (l *Ledger) Close() error { return l.files.fsys.Close() }

// List reads all entries, the oldest first; files that cannot be read come before them. Files that are not YAML by their name belong to
// others, and are left out. Without a ledger there are none.
func (l *Ledger) List() ([]Listed, error) { return l.files.newest(math.MaxInt) }

// Newest is List of so many files, the last by their names, which begin with the day of their entry.
func (l *Ledger) Newest(most int) ([]Listed, error) { return l.files.newest(most) }

// Opening is what a new entry says.
type Opening struct {
	Topic     string
	Summary   string
	Positions []Position
	Status    Status
	Related   []string // ids, which may be shortened
	Origin    string   // an entry that has it already is not made again; "": of none
	Follows   []string // origins of earlier entries that it is linked to; those that are not there are left out
}

const follows = "follows"

// Append makes a new entry, and returns its id.
func (l *Ledger) Append(o Opening) (id string, err error) {
	err = l.files.locked(func(list []Listed) error {
		if there, err := ofOrigin(list, o.Origin); err == nil {
			id = there.Entry.ID
			return nil
		}
		e := &Entry{Topic: l.o.line(o.Topic), Summary: l.o.clean(o.Summary), Status: o.Status, Origin: o.Origin}
		e.Positions = each.Of(o.Positions, func(p Position) Position {
			return Position{l.o.line(p.By), l.o.clean(p.Stance), l.o.clean(p.Rationale)}
		})
		for _, related := range o.Related {
			other, err := find(list, related)
			if err != nil {
				return err
			}
			e.Related = append(e.Related, other.Entry.ID)
		}
		now := l.o.Now()
		e.Created = Stamp(now)
		e.History = []Change{l.o.change(o.Status, "", now)}
		for _, origin := range o.Follows {
			if earlier, err := ofOrigin(list, origin); err == nil {
				e.Links = append(e.Links, Link{To: earlier.Entry.ID, Relation: follows, At: e.Created, By: l.o.line(l.o.By)})
			}
		}
		id, err = l.files.create(e, now, list)
		return err
	})
	return id, err
}

// ofOrigin returns the entry that was made from something.
func ofOrigin(list []Listed, origin string) (Listed, error) {
	for _, there := range list {
		if origin != "" && there.Entry != nil && there.Entry.Origin == origin {
			return there, nil
		}
	}
	return Listed{}, &UnknownError{ID: origin}
}

// Note adds a note to the history of the entry that was made from something, and leaves its status as it is. It does nothing when there is
// no such entry, or its history has that note of the same author and second already.
func (l *Ledger) Note(origin, note string) (added bool, err error) {
	pick := func(list []Listed) (Listed, error) { return ofOrigin(list, origin) }
	_, err = l.edit(pick, func(d *document, _ []Listed) error {
		e := d.entry()
		c := l.o.change(e.Status, note, l.o.Now())
		if e.HasNote(c.Note, c.At, c.By) {
			return nil
		}
		added = true
		return d.add(keyHistory, c)
	})
	if _, gone := errors.AsType[*UnknownError](err); gone {
		return false, nil
	}
	return added && err == nil, err
}

// Mark adds a status to an entry's history, also one that it has already, and returns the changed entry.
func (l *Ledger) Mark(id string, s Status, note string) (*Entry, error) {
	return l.edit(byID(id), func(d *document, _ []Listed) error {
		d.set(keyStatus, string(s))
		return d.add(keyHistory, l.o.change(s, note, l.o.Now()))
	})
}

// Related is another entry, and how it relates.
type Related struct {
	ID       string `json:"entry_id"`
	Relation string `json:"relation"`
}

// Link adds links to an entry, and returns the changed entry.
func (l *Ledger) Link(id string, to []Related) (*Entry, error) {
	return l.edit(byID(id), func(d *document, list []Listed) error {
		for _, r := range to {
			other, err := find(list, r.ID)
			if err != nil {
				return err
			}
			link := Link{To: other.Entry.ID, Relation: l.o.clean(r.Relation), At: Stamp(l.o.Now()), By: l.o.line(l.o.By)}
			if err := d.add(keyLinks, link); err != nil {
				return err
			}
		}
		return nil
	})
}

func byID(id string) func([]Listed) (Listed, error) {
	return func(list []Listed) (Listed, error) { return find(list, id) }
}

// edit changes one entry, which pick chooses of all there are.
func (l *Ledger) edit(pick func([]Listed) (Listed, error), change func(*document, []Listed) error) (e *Entry, err error) {
	err = l.files.locked(func(list []Listed) error {
		from, err := pick(list)
		if err != nil {
			return err
		}
		e, err = l.editOne(from, list, change)
		if errors.Is(err, ErrForm) {
			return &FileError{from.Path, err}
		}
		return err
	})
	return e, err
}

func (l *Ledger) editOne(from Listed, list []Listed, change func(*document, []Listed) error) (*Entry, error) {
	d := from.document
	if err := from.complete(l.o.Now); err != nil {
		return nil, err
	}
	before, err := encode(d.file) // the layout may be another one than the file's
	if err != nil {
		return nil, err
	}
	if err := change(d, list); err != nil {
		return nil, err
	}
	text, err := d.text()
	if err == nil && !bytes.Equal(text, before) {
		err = l.files.update(from, text)
	}
	return d.entry(), err
}

// FileError is an error about one file of the ledger.
type FileError struct {
	Path string // below the top folder, with slashes
	Err  error
}

func (e *FileError) Error() string { return e.Path + ": " + e.Err.Error() }
func (e *FileError) Unwrap() error { return e.Err }

// unknown stands for the author of what a file says and its history does not.
const unknown = "unknown"

// complete adds to a file what its author has left out: its id, its time, and in its history the status it has.
func (l Listed) complete(now func() time.Time) error {
	e, d := l.Entry, l.document
	created := e.Created
	if _, ok := e.CreatedAt(); !ok {
		created = Stamp(l.stamp.Modified)
	}
	for _, field := range [][2]string{{keyID, e.ID}, {keyStatus, string(e.Status)}, {keyCreated, created}} {
		if epic.ValueAt(d.root, field[0]) == nil {
			d.set(field[0], field[1])
		}
	}
	n := len(e.History)
	if n > 0 && e.History[n-1].Status == e.Status {
		return nil
	}
	c := Change{Status: e.Status, Note: "as the file said", At: created, By: unknown}
	if n > 0 {
		c.At = Stamp(now())
	}
	return d.add(keyHistory, c)
}
