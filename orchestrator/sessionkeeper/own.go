package sessionkeeper

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"relay/attempts/sessions"
	"relay/epic/plaintext"
	"relay/orchestrator/relayfiles"
	"relay/runners"
	"relay/runners/kinds"
)

// Own says which sessions are imported that a person's own program keeps.
type Own struct {
	From string   // claude, codex, …
	Path string   // a file or folder; "": the program's usual folder, and only sessions in this repository
	Env  []string // of the person

	Clean func(string) string // takes out secrets
}

// ErrNoOwn is wrapped by the error of ImportOwn for a folder without files of the program.
var ErrNoOwn = errors.New("there are no sessions")

// The reasons for which a session is left out or cannot be read.
var (
	errElsewhere = errors.New("they worked outside this repository; name a PATH to import them")
	errRecorded  = errors.New("the ledger has them from attempts, or from another program")
	errUnread    = errors.New("it does not have the form of a session")
)

// ownKey begins the keys of conversations that a person's own program has kept.
const ownKey = "own/"

// ownReader reads the sessions of one program into the ledger.
type ownReader struct {
	own    Own
	source runners.OwnSessions
	top    string
	w      *writer
	done   Imported
}

// ownLines passes on the lines of a session until an error.
type ownLines func(take func(line []byte) error) error

// ImportOwn brings the rows of sessions up to date that a person's own program keeps. It leaves out files that it cannot read. Errors are
// those of sessions.Open and Write, ErrNoOwn, and others.
func ImportOwn(ctx context.Context, o Options, own Own) (done Imported, err error) {
	r := ownReader{own: own, top: realPath(o.Top), done: Imported{LeftOut: map[string]int{}}}
	if r.source, err = kinds.OwnSessions(own.From); err != nil {
		return done, err
	}
	folder := cmp.Or(own.Path, r.source.Folder(own.Env))
	paths := r.source.Find(folder)
	if info, err := os.Stat(folder); err == nil && !info.IsDir() {
		paths = []string{folder}
	}
	if len(paths) == 0 {
		return done, fmt.Errorf("%w of %s in %s", ErrNoOwn, own.From, folder)
	}
	err = o.importing(ctx, &r.done, func(w *writer) (err error) {
		r.w = w
		for i := 0; i < len(paths) && err == nil; i++ {
			if ext := filepath.Ext(paths[i]); ext == ".db" || ext == ".vscdb" {
				err = r.database(paths[i])
			} else {
				err = r.session(paths[i], r.files(paths[i]))
			}
		}
		return err
	})
	return r.done, err
}

// realPath resolves links in a path, as far as it exists.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// files returns the lines of the session in a file, with those of files that belong to it. It leaves out half of a last line.
func (r *ownReader) files(path string) ownLines {
	files := []string{path}
	if r.source.Files != nil {
		files = r.source.Files(path)
	}
	return func(take func([]byte) error) error {
		for _, name := range files {
			if err := readOwn(name, take); err != nil {
				return err
			}
		}
		return nil
	}
}

func readOwn(path string, take func(line []byte) error) error {
	if filepath.Ext(path) == ".json" {
		text, err := runners.ReadRegular(path, 64<<20) // one JSON object
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
	return plaintext.EachLine(f, buffer, relayfiles.MaxLine, func(line []byte, _ int64, whole bool) error {
		if !whole && !json.Valid(line) {
			return nil
		}
		return take(line)
	})
}

// database reads the sessions in a database.
func (r *ownReader) database(path string) error {
	var ids []string
	kept, err := sessions.OpenKept(r.w.ctx, path)
	if err == nil {
		defer kept.Close()
		ids, err = kept.Sessions(r.w.ctx)
	}
	if err != nil {
		r.unread(path, err)
	}
	for _, id := range ids {
		err := r.session(path+" "+id, func(take func([]byte) error) error { return kept.Lines(r.w.ctx, id, take) })
		if err != nil {
			return err
		}
	}
	return nil
}

// session reads one session and writes it, unless it is left out.
func (r *ownReader) session(path string, lines ownLines) error {
	t := newTalk(AboutRows{Key: ownKey + r.own.From, Source: r.own.From, Own: true}, r.own.From)
	var writing error // of the ledger
	err := errAgain
	for errors.Is(err, errAgain) {
		err = r.read(t, path, lines, func() error {
			writing = r.w.add(t)
			return writing
		})
	}
	switch {
	case err == nil:
		r.done.count(t)
	case errors.Is(err, errElsewhere), errors.Is(err, errRecorded):
		r.done.LeftOut[err.Error()]++
	case errors.Is(err, writing), r.w.ctx.Err() != nil:
		return err
	default:
		r.unread(path, err)
	}
	return nil
}

// unread names a file that cannot be read.
func (r *ownReader) unread(path string, err error) {
	text := err.Error()
	if !strings.Contains(text, path) {
		text = path + ": " + text
	}
	r.done.Unread = append(r.done.Unread, text)
}

// read makes rows of a session, and writes them now and then and at the end. A session in which nothing was said makes none.
func (r *ownReader) read(t *talk, path string, lines ownLines, write func() error) error {
	reader := r.source.Reader(path)
	t.rows.Begin(Stream{})
	var place Place
	var elsewhere, unread error
	err := lines(func(line []byte) error {
		place.Line = []byte(r.own.Clean(string(line)))
		read := reader.Line(place.Line, func(e runners.Message) {
			if e.Kind == runners.Began && r.own.Path == "" && !relayfiles.IsIn(realPath(e.Dir), r.top) {
				elsewhere = errElsewhere
			}
			if elsewhere == nil {
				t.rows.Event(e, place)
			}
		})
		if !read {
			unread = errUnread
			t.rows.Unreadable(place.Line, place)
		}
		place.Offset += int64(len(line)) + 1
		if elsewhere != nil || t.rows.Pending() < maxPending {
			return elsewhere
		}
		return write()
	})
	if err != nil {
		return err
	}
	if _, messages, _ := t.rows.Count(); messages == 0 {
		t.rows = NewAssembler(t.about)
		return unread
	}
	t.rows.End(0)
	return write()
}
