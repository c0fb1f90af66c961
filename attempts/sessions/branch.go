package sessions

import (
	"context"
	"slices"
)

// Before returns what was said before a turn: in its own session, and before that in those from which it is a branch.
func (r *Reader) Before(ctx context.Context, turn Turn) (said []Said, err error) {
	const mostForks = 100
	for n := range mostForks {
		exchanges, err := r.Exchanges(ctx, turn.Session)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(exchanges, func(e Exchange) bool { return e.ID == turn.ID })
		if at < 0 {
			return said, nil
		}
		part := Part{To: exchanges[at].To} // with the turn: it is the one after it that the turn below stands in the place of
		if n == 0 {
			part.To = exchanges[at].From
		}
		if n > 0 || part.To > 0 {
			before, err := r.Conversation(ctx, turn.Session, part)
			if err != nil {
				return nil, err
			}
			said = append(before, said...)
		}
		above, err := all(ctx, r.rows, fieldsOf[Turn], queryTurn, exchanges[0].Parent)
		if err != nil || len(above) == 0 {
			return said, err
		}
		turn = above[0]
	}
	return said, nil
}

// Origin returns where in a run a session comes from: the origin of its first message that has one.
func (r *Reader) Origin(ctx context.Context, session string) (Origin, error) {
	texts, err := all(ctx, r.rows, one, queryOrigin, session)
	if err != nil || len(texts) == 0 {
		return Origin{}, err
	}
	return originOf(texts[0]), nil
}
