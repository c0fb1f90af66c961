package sessions

import (
	"context"
	"fmt"
	"math"
)

// Part is a part of a conversation.
type Part struct {
	From, To int64 // sequence numbers: the first, and the one after the last; To 0: up to the end
	Most     int   // messages at most; 0: all
	Spoken   bool  // without messages that only call tools, and without those of the system
}

// Said is a message with the tool calls it has made.
type Said struct {
	Message
	Calls []ToolCall `json:"tool_calls,omitempty"`
}

// Conversation returns messages of a session in order, each with its tool calls.
func (r *Reader) Conversation(ctx context.Context, session string, p Part) ([]Said, error) {
	query, to, most := queryMessages, p.To, p.Most
	if p.Spoken {
		query = querySpoken
	}
	if to == 0 {
		to = math.MaxInt64
	}
	if most == 0 {
		most = -1
	}
	said, err := all(ctx, r.rows, func(s *Said) []any { return fieldsOf(&s.Message) }, query, session, p.From, to, most)
	if err != nil || len(said) == 0 {
		return said, err
	}
	place := make(map[string]*Said, len(said))
	for i := range said {
		place[said[i].ID] = &said[i]
	}
	calls, err := all(ctx, r.rows, fieldsOf[ToolCall], queryCalls, session, said[0].Sequence, said[len(said)-1].Sequence)
	if err != nil {
		return nil, err
	}
	for _, c := range calls {
		if s := place[c.Message]; s != nil {
			s.Calls = append(s.Calls, c)
		}
	}
	return said, nil
}

// LooseCalls returns the tool calls of a session that no message has made.
func (r *Reader) LooseCalls(ctx context.Context, session string) ([]ToolCall, error) {
	return all(ctx, r.rows, fieldsOf[ToolCall], queryLoose, session)
}

// LooseSubagents returns the sessions that a session has begun and no tool call names, the oldest first.
func (r *Reader) LooseSubagents(ctx context.Context, session string) ([]Session, error) {
	return all(ctx, r.rows, fieldsOf[Session], queryLooseSubagents, session)
}

// Exchange is a turn with its place in the conversation: the sequence numbers of its first message, and of the first one after it (0:
// it is the last).
type Exchange struct {
	Turn
	From int64 `json:"from"`
	To   int64 `json:"to,omitempty"`
}

// Exchanges returns the turns of a session in the order of the conversation.
func (r *Reader) Exchanges(ctx context.Context, session string) ([]Exchange, error) {
	list, err := all(ctx, r.rows, func(e *Exchange) []any { return append(fieldsOf(&e.Turn), &e.From) }, queryTurns, session)
	for i := 1; i < len(list); i++ {
		list[i-1].To = list[i].From
	}
	return list, err
}

// TurnError means that a session has no turn of a number.
type TurnError struct{ Number, Turns int }

func (e *TurnError) Error() string {
	return fmt.Sprintf("there is no turn %d: the session has %d", e.Number, e.Turns)
}

// Exchange returns the turn of a number, from 1. It fails with a *TurnError.
func (r *Reader) Exchange(ctx context.Context, session string, number int) (Exchange, error) {
	list, err := r.Exchanges(ctx, session)
	if err != nil {
		return Exchange{}, err
	}
	if number < 1 || number > len(list) {
		return Exchange{}, &TurnError{number, len(list)}
	}
	return list[number-1], nil
}
