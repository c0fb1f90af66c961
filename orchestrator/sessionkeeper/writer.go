package sessionkeeper

import (
	"context"
	"errors"
	"strings"

	"relay/attempts/sessions"
	"relay/epic/each"
)

type writer struct {
	ctx  context.Context //nolint:containedctx // of the one who writes: what reads the streams knows no context
	db   *sessions.DB
	wait func() bool // waits while another program has the ledger locked, and reports whether to try again; nil: never
}

// retry does something with the ledger, again while another program has it locked.
func (w *writer) retry(do func() error) error {
	err := do()
	for errors.Is(err, sessions.ErrLocked) && w.wait != nil && w.wait() {
		err = do()
	}
	return err
}

// begin ends the transaction before, and begins one for an attempt, or for a part of a long one.
func (w *writer) begin() error {
	if err := w.db.Commit(); err != nil {
		return err
	}
	return w.retry(func() error { return w.db.Begin(w.ctx) })
}

// add writes what is new of a conversation. One that has used an id of another conversation, which takes back the transaction, begins
// again with ids of its own, and the error is errAgain.
func (w *writer) add(t *talk) error {
	if err := w.begin(); err != nil {
		return err
	}
	batch, begun := t.take()
	forget, err := w.own(t, &batch, begun)
	if err != nil {
		return err
	}
	if len(forget) > 0 {
		if err := w.db.Forget(w.ctx, forget...); err != nil {
			return err
		}
	}
	err = w.db.Write(w.ctx, batch)
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
		case known && (mark.State == t.about.Key || strings.HasPrefix(mark.State, ownKey) && !t.about.Own):
			forget = append(forget, id) // rows of an earlier look, or of what the agent's CLI keeps
		case known && t.about.Own:
			return nil, errRecorded
		case known && !t.about.Qualified:
			return nil, t.restart()
		}
	}
	b.Marks = each.Of(begun, func(id string) sessions.Mark { return sessions.Mark{Stream: sessionMark(id), State: t.about.Key} })
	t.stale = nil
	return forget, nil
}

// sessionMark names the mark that says of which conversation a session is.
func sessionMark(id string) string { return "session/" + id }

// settle writes an attempt of which nothing more comes. One that has ended gets a mark, which it has not while its rows are replaced.
func (w *writer) settle(a *attempt) error {
	if err := w.begin(); err != nil {
		return err
	}
	if err := w.db.Unmark(w.ctx, a.facts.name()); err != nil {
		return err
	}
	if err := a.read(w); err != nil || !a.facts.ended { // the next run goes on with it
		return err
	}
	return w.db.Write(w.ctx, sessions.Batch{Marks: []sessions.Mark{{Stream: a.facts.name(), State: "done"}}})
}

var errAgain = errors.New("a conversation has the ids of another one")
