package sessions

import (
	"context"
	"slices"
)

// mostForks bounds how often a conversation may have branched before a turn.
const mostForks = 100

// Before returns what was said before a turn: in its own session, and before that in those from which it is a branch.
func (r *Reader) Before(ctx context.Context, turn Turn) (said []Said, err error) {
	for range mostForks {
		exchanges, err := r.Exchanges(ctx, turn.Session)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(exchanges, func(e Exchange) bool { return e.ID == turn.ID })
		if at < 0 {
			return said, nil
		}
		if from := exchanges[at].From; from > 0 {
			part, err := r.Conversation(ctx, turn.Session, Part{To: from})
			if err != nil {
				return nil, err
			}
			said = append(part, said...)
		}
		above, err := all(ctx, r.rows, fieldsOf[Turn], queryTurn, exchanges[0].Parent)
		if err != nil || len(above) == 0 {
			return said, err
		}
		// The session is a branch behind that turn: it is the turn after it that this one stands in the place of.
		next, err := r.whole(ctx, above[0])
		if err != nil {
			return nil, err
		}
		said, turn = append(next, said...), above[0]
	}
	return said, nil
}

// whole returns what was said in a turn.
func (r *Reader) whole(ctx context.Context, turn Turn) ([]Said, error) {
	exchanges, err := r.Exchanges(ctx, turn.Session)
	if err != nil {
		return nil, err
	}
	for _, e := range exchanges {
		if e.ID == turn.ID {
			return r.Conversation(ctx, turn.Session, Part{From: e.From, To: e.To})
		}
	}
	return nil, nil
}

// Origin returns where in a run a session comes from: the origin of its first message that has one.
func (r *Reader) Origin(ctx context.Context, session string) (Origin, error) {
	texts, err := all(ctx, r.rows, one, queryOrigin, session)
	if err != nil || len(texts) == 0 {
		return Origin{}, err
	}
	return originOf(texts[0]), nil
}
