package sessionkeeper

import (
	"context"
	"errors"

	"relay/attempts/sessions"
)

type writer struct {
	ctx   context.Context //nolint:containedctx // of the one who writes: what reads the streams knows no context
	db    *sessions.DB
	marks []sessions.Mark // of attempts whose rows are written; they go into the next batch
	wait  func() bool     // waits while another program has the ledger locked, and reports whether to try again; nil: never
}

// retry does something with the ledger, again while another program has it locked.
func (w *writer) retry(do func() error) error {
	err := do()
	for errors.Is(err, sessions.ErrLocked) && w.wait != nil && w.wait() {
		err = do()
	}
	return err
}

// put writes a batch, and with it the marks of the attempts before.
func (w *writer) put(b sessions.Batch) error {
	b.Marks = append(w.marks, b.Marks...)
	err := w.retry(func() error { return w.db.Write(w.ctx, b) })
	if err == nil {
		w.marks = nil
	}
	return err
}

// add writes what is new of a conversation. One that has used an id of another one begins again, with ids that are its own: the error is
// errAgain then.
func (w *writer) add(t *talk) error {
	batch, begun := t.take()
	forget, err := w.own(t, &batch, begun)
	if err != nil {
		return err
	}
	if len(forget) > 0 {
		if err := w.retry(func() error { return w.db.Forget(w.ctx, forget...) }); err != nil {
			return err
		}
	}
	err = w.put(batch)
	if _, taken := errors.AsType[*sessions.TakenError](err); taken && !t.about.Qualified {
		return t.restart()
	}
	return err
}

// own makes sessions those of a conversation, and returns those of which earlier rows have to go. A session that is another one's stays
// that: what an agent prints as its id can be anything.
func (w *writer) own(t *talk, b *sessions.Batch, begun []string) (forget []string, err error) {
	for _, id := range append(begun, t.stale...) {
		mark, known, err := w.db.Mark(w.ctx, sessionMark(id))
		switch {
		case err != nil:
			return nil, err
		case known && mark.State == t.about.Key:
			forget = append(forget, id) // rows of an earlier look
		case known && !t.about.Qualified:
			return nil, t.restart()
		}
	}
	for _, id := range begun {
		b.Marks = append(b.Marks, sessions.Mark{Stream: sessionMark(id), State: t.about.Key})
	}
	t.stale = nil
	return forget, nil
}

// sessionMark names the mark that says of which conversation a session is.
func sessionMark(id string) string { return "session/" + id }

// keepsGone reports whether the ledger has all of an attempt of which transcripts have been removed since: its rows are all that is left.
func (w *writer) keepsGone(a *attempt) (bool, error) {
	if a.look(); !a.gone() {
		return false, nil
	}
	_, done, err := w.db.Mark(w.ctx, a.facts.name())
	return done, err
}

// settle writes an attempt of which nothing more comes. One that has ended gets a mark, which it has not while its rows are replaced.
func (w *writer) settle(a *attempt) error {
	if _, marked, err := w.db.Mark(w.ctx, a.facts.name()); err != nil {
		return err
	} else if marked {
		if err := w.retry(func() error { return w.db.Unmark(w.ctx, a.facts.name()) }); err != nil {
			return err
		}
	}
	if err := a.read(w); err != nil || !a.facts.ended { // the next run goes on with it
		return err
	}
	w.marks = append(w.marks, a.mark())
	return nil
}

var errAgain = errors.New("a conversation has the ids of another one")
