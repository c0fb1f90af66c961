package sessionkeeper

import (
	"context"
	"errors"
	"slices"

	"relay/attempts/sessions"
)

type writer struct {
	ctx   context.Context //nolint:containedctx // of the one who writes: what reads the streams knows no context
	db    *sessions.DB
	wait  func() bool // waits while another program has the ledger locked, and reports whether to try again; nil: never
	parts []part
	bytes int
	rows  int

	owners map[string]string // of sessions, by their ids: the keys of the conversations that have them
}

type part struct {
	talk   *talk
	batch  sessions.Batch
	forget []string
}

// retry does something with the ledger, again while another program has it locked.
func (w *writer) retry(do func() error) error {
	err := do()
	for errors.Is(err, sessions.ErrLocked) && w.wait != nil && w.wait() {
		err = do()
	}
	return err
}

// put writes a batch.
func (w *writer) put(b sessions.Batch) error {
	return w.retry(func() error { return w.db.Write(w.ctx, b) })
}

// Rows and bytes that are written at once, about.
const (
	mostRows  = 2000
	mostBytes = 1 << 20
)

// add takes what a conversation has to write, and writes when that is much.
func (w *writer) add(t *talk) error {
	pending := t.rows.Pending()
	batch, begun := t.take()
	forget, err := w.own(t, &batch, begun)
	if err != nil {
		w.parts = slices.DeleteFunc(w.parts, func(p part) bool { return p.talk == t })
		return err
	}
	for _, id := range t.stale {
		if w.owners[id] == t.about.Key {
			forget = append(forget, id)
		}
	}
	t.stale = nil
	rows := len(batch.Sessions) + len(batch.Messages) + len(batch.Turns) + len(batch.ToolCalls)
	if rows == 0 {
		return nil
	}
	w.parts = append(w.parts, part{t, batch, forget})
	w.bytes, w.rows = w.bytes+pending, w.rows+rows
	if w.bytes < mostBytes && w.rows < mostRows {
		return nil
	}
	return w.write()
}

// own makes sessions those of a conversation, and returns those of which earlier rows have to go. A session that is another one's stays
// that: what an agent prints as its id can be anything.
func (w *writer) own(t *talk, b *sessions.Batch, begun []string) (forget []string, err error) {
	if w.owners == nil {
		w.owners = map[string]string{}
	}
	for _, id := range begun {
		name := "session/" + id
		owner, known := w.owners[id]
		if !known {
			mark, ok, err := w.db.Mark(w.ctx, name)
			if err != nil {
				return nil, err
			}
			owner, known = mark.State, ok
		}
		switch {
		case known && owner != t.about.Key && t.kept:
			return nil, errKnown
		case known && owner != t.about.Key && !t.about.Qualified:
			t.about.Qualified = true
			t.restart()
			return nil, errAgain
		case known:
			forget = append(forget, id) // rows of an earlier look
		}
		if w.owners[id] = t.about.Key; !known {
			b.Marks = append(b.Marks, sessions.Mark{Stream: name, State: t.about.Key})
		}
	}
	return forget, nil
}

func (w *writer) write(marks ...sessions.Mark) error {
	all := sessions.Batch{Marks: marks}
	var forget []string
	parts := w.parts
	for _, p := range parts {
		all.Sessions = append(all.Sessions, p.batch.Sessions...)
		all.Messages = append(all.Messages, p.batch.Messages...)
		all.Turns = append(all.Turns, p.batch.Turns...)
		all.ToolCalls = append(all.ToolCalls, p.batch.ToolCalls...)
		all.Marks = append(all.Marks, p.batch.Marks...)
		forget = append(forget, p.forget...)
	}
	w.parts, w.bytes, w.rows = nil, 0, 0
	if len(parts) == 0 && len(marks) == 0 {
		return nil
	}
	if len(forget) > 0 {
		if err := w.retry(func() error { return w.db.Forget(w.ctx, forget...) }); err != nil {
			return err
		}
	}
	err := w.put(all)
	if _, taken := errors.AsType[*sessions.TakenError](err); !taken {
		return err
	}
	return w.apart(parts, marks)
}

// writeAll writes all that a reader adds, with the marks that it returns. It is asked again when a conversation has to be read again.
func (w *writer) writeAll(read func() ([]sessions.Mark, error)) error {
	for {
		marks, err := read()
		if err == nil {
			err = w.write(marks...)
		}
		if !errors.Is(err, errAgain) {
			return err
		}
	}
}

// keepsGone reports whether the ledger has all of an attempt of which transcripts have been removed since: its rows are all that is left.
func (w *writer) keepsGone(a *attempt) (bool, error) {
	if a.look(); !a.gone() {
		return false, nil
	}
	_, done, err := w.db.Mark(w.ctx, a.facts.name())
	return done, err
}

// settle writes attempts of which nothing more comes. Those that have ended get marks, which they have not while their rows are replaced.
func (w *writer) settle(list ...*attempt) error {
	var names []string
	var marks []sessions.Mark
	for _, a := range list {
		names = append(names, a.facts.name())
		if a.facts.ended { // the next run goes on with the others
			marks = append(marks, a.mark())
		}
	}
	if err := w.retry(func() error { return w.db.Unmark(w.ctx, names...) }); err != nil {
		return err
	}
	return w.writeAll(func() ([]sessions.Mark, error) {
		for _, a := range list {
			if err := a.read(w); err != nil {
				return nil, err
			}
		}
		return marks, nil
	})
}

// apart writes each conversation by itself, after one of them has used an id that is another one's: that one begins again, with ids that
// are its own.
func (w *writer) apart(parts []part, marks []sessions.Mark) error {
	var again []*talk
	for _, p := range parts {
		if slices.Contains(again, p.talk) {
			continue
		}
		err := w.put(p.batch)
		if _, taken := errors.AsType[*sessions.TakenError](err); taken && !p.talk.about.Qualified {
			again = append(again, p.talk)
			continue
		}
		if err != nil {
			return err
		}
	}
	for _, t := range again {
		t.about.Qualified = true
		t.restart()
	}
	if len(again) > 0 {
		return errAgain
	}
	return w.put(sessions.Batch{Marks: marks})
}

// errKnown says that a session which a CLI keeps is one of relay's own attempts.
var errKnown = errors.New("the session is known from an attempt")

var errAgain = errors.New("a conversation has the ids of another one")
