package sessionkeeper

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"relay/attempts/sessions"
	"relay/orchestrator/relayfiles"
	"relay/runners"
	"relay/runners/kinds"
)

// Own says which sessions are imported that a person's own program keeps.
type Own struct {
	From string   // claude, codex, …
	Path string   // a file or folder; "": the program's usual folder, and only sessions in this repository
	Env  []string // of the person
}

// ErrNoOwn is wrapped by the error of ImportOwn for a folder without files of the program.
var ErrNoOwn = errors.New("there are no sessions")

// The reasons for which a session is not imported.
var (
	errElsewhere = errors.New("the session worked elsewhere")
	errRecorded  = errors.New("an attempt has recorded the session")
	errUnread    = errors.New("it does not have the form of a session")
)

// maxOwnFile bounds a file that is one JSON object, in bytes.
const maxOwnFile = 64 << 20

// ownReader reads the sessions of one program into the ledger.
type ownReader struct {
	ctx    context.Context //nolint:containedctx // as in writer
	own    Own
	source runners.OwnSessions
	top    string
	w      writer
	done   Imported
}

// ImportOwn brings the rows of sessions up to date that a person's own program keeps. It names files that it cannot read in
// Imported.Unread. Errors are those of sessions.Open and Write, and others.
func ImportOwn(ctx context.Context, o Options, own Own) (done Imported, err error) {
	r := ownReader{ctx: ctx, own: own, top: o.Top}
	if r.source, err = kinds.OwnSessions(own.From); err != nil {
		return done, err
	}
	if real, err := filepath.EvalSymlinks(o.Top); err == nil {
		r.top = real
	}
	paths, err := r.find()
	if err != nil {
		return done, err
	}
	db, err := sessions.Open(ctx, o.Dir, sessions.Options{Epic: o.EpicID, Now: time.Now, Check: true})
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	r.done.Aside = db.PutAside()
	r.w = writer{ctx: ctx, db: db, apart: true}
	for _, path := range paths {
		read := r.files
		if ext := filepath.Ext(path); ext == ".db" || ext == ".vscdb" {
			read = r.database
		}
		if err := read(path); err != nil {
			return r.done, err
		}
	}
	return r.done, db.Commit()
}

// find returns the files with sessions.
func (r *ownReader) find() ([]string, error) {
	folder := r.own.Path
	if folder == "" {
		folder = r.source.Folder(r.own.Env)
	}
	info, err := os.Stat(folder)
	if err == nil && !info.IsDir() {
		return []string{folder}, nil
	}
	paths := r.source.Find(folder)
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("%w of %s in %s", ErrNoOwn, r.own.From, folder)
	}
	return paths, nil
}

// files reads the session in a file and those that belong to it.
func (r *ownReader) files(path string) error {
	return r.session(path, func(take func([]byte) error) error {
		files := []string{path}
		if r.source.Files != nil {
			files = r.source.Files(path)
		}
		for _, name := range files {
			if err := readOwn(name, take); err != nil {
				return err
			}
		}
		return nil
	})
}

// readOwn passes on the lines of a file, or all of one that is a JSON object. It leaves out half of a last line.
func readOwn(path string, take func(line []byte) error) error {
	if filepath.Ext(path) == ".json" {
		text, err := readFile(path, maxOwnFile)
		if err != nil {
			return err
		}
		return take(text)
	}
	f, err := runners.OpenRegular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewReaderSize(f, buffer)
	for {
		line, _, whole, err := relayfiles.NextLine(lines, nil)
		if errors.Is(err, io.EOF) || err == nil && !whole && !json.Valid(line) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := take(line); err != nil {
			return err
		}
	}
}

// database reads the sessions in a database.
func (r *ownReader) database(path string) error {
	kept, err := sessions.OpenKept(r.ctx, path)
	if err != nil {
		return r.judge(path, err)
	}
	defer kept.Close()
	ids, err := kept.Sessions(r.ctx)
	if err != nil {
		return r.judge(path, err)
	}
	for _, id := range ids {
		err := r.session(path, func(take func([]byte) error) error { return kept.Lines(r.ctx, id, take) })
		if err != nil {
			return err
		}
	}
	return nil
}

// session reads one session, and writes it unless it is another repository's.
func (r *ownReader) session(path string, lines func(take func([]byte) error) error) error {
	if err := context.Cause(r.ctx); err != nil {
		return err
	}
	t := newTalk(AboutRows{Key: "own/" + r.own.From, Source: r.own.From, Own: true}, r.own.From)
	err := errAgain
	var writing error
	for errors.Is(err, errAgain) {
		flush := func() error { writing = r.w.add(t); return writing }
		if err = r.read(t, path, lines, flush); err == nil {
			err = flush()
		}
	}
	if err != nil && errors.Is(err, writing) && !errors.Is(err, errRecorded) {
		return err // of the ledger
	}
	if err == nil {
		sessions, messages, calls := t.rows.Count()
		r.done.Sessions, r.done.Messages, r.done.Calls = r.done.Sessions+sessions, r.done.Messages+messages, r.done.Calls+calls
	}
	return r.judge(path, err)
}

// judge counts a session that is not imported, or names the file that cannot be read.
func (r *ownReader) judge(path string, err error) error {
	switch {
	case err == nil:
	case context.Cause(r.ctx) != nil:
		return context.Cause(r.ctx)
	case errors.Is(err, errElsewhere):
		r.done.Elsewhere++
	case errors.Is(err, errRecorded):
		r.done.Recorded++
	default:
		if inner, ok := errors.AsType[*fs.PathError](err); ok {
			err = inner.Err
		}
		if text := path + ": " + err.Error(); !slices.Contains(r.done.Unread, text) {
			r.done.Unread = append(r.done.Unread, text)
		}
	}
	return nil
}

// read makes rows of a session, and calls flush now and then. A session in which nothing was said makes none.
func (r *ownReader) read(t *talk, path string, lines func(take func([]byte) error) error, flush func() error) error {
	reader := r.source.Reader(path, r.top)
	t.rows.Begin(Stream{})
	var place Place
	unread := 0
	err := lines(func(line []byte) error {
		place.Line = line
		elsewhere := false
		read := (len(line) <= relayfiles.MaxLine || filepath.Ext(path) == ".json") && reader.Line(line, func(e runners.Message) {
			elsewhere = elsewhere || e.Kind == runners.Began && r.own.Path == "" && !r.here(e.Dir)
			if !elsewhere {
				t.rows.Event(e, place)
			}
		})
		if elsewhere {
			return errElsewhere
		}
		if !read {
			unread++
			t.rows.Unreadable(line, place)
		}
		place.Offset += int64(len(line)) + 1
		if t.rows.Pending() < maxPending {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	if _, messages, _ := t.rows.Count(); messages == 0 {
		t.rows.Take()
		if unread > 0 {
			return errUnread
		}
		return nil
	}
	t.rows.End(0)
	return nil
}

// here reports whether a folder is in this repository.
func (r *ownReader) here(dir string) bool {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return within(dir, r.top)
}
