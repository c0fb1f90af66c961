package sessions

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Reader reads the agents ledger of one folder, also while another process writes it. Nothing can be written through it.
type Reader struct {
	rows *sql.DB

	Clean func(text string) string // takes secrets out of what hits show, before it is cut to size; may be nil
}

// OpenReadOnly opens the agents ledger of relay's folder for reading. It fails with ErrMissing when there is none, and with ErrForeign,
// ErrNewer, ErrDamaged or ErrLocked.
func OpenReadOnly(ctx context.Context, dir string) (*Reader, error) {
	info, err := os.Stat(filepath.Join(dir, File))
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil, fmt.Errorf("%s: %w", File, ErrMissing)
	}
	if err != nil {
		return nil, err
	}
	rows, err := sql.Open("sqlite", location(filepath.Join(dir, File))+"?mode=ro&"+waitForOthers+"&_pragma=query_only(1)")
	if err != nil {
		return nil, err
	}
	version, err := versionOf(ctx, rows)
	if err == nil && version == 0 {
		err = fmt.Errorf("%s: %w", File, ErrMissing)
	}
	if err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	return &Reader{rows: rows}, nil
}

// Close closes the file.
func (r *Reader) Close() error { return r.rows.Close() }

func all[T any](ctx context.Context, db *sql.DB, fields func(*T) []any, query string, args ...any) ([]T, error) {
	rows, err := db.QueryContext(ctx, selected(query), args...)
	list, err := scanned(rows, err, fields)
	return list, named(err)
}

// scanned reads each row of a query, unless it has failed.
func scanned[T any](rows *sql.Rows, err error, fields func(*T) []any) (list []T, _ error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var one T
		if err := rows.Scan(fields(&one)...); err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, rows.Err()
}

func one(s *string) []any { return []any{s} }

// originOf returns where in a run a message comes from, as its metadata say.
func originOf(metadata string) Origin {
	var m struct {
		Relay Origin `json:"relay"`
	}
	if json.Unmarshal([]byte(metadata), &m) != nil {
		return Origin{}
	}
	return m.Relay
}

// Errors of reading.
var (
	ErrUnknown   = errors.New("the agents ledger has no")
	ErrAmbiguous = errors.New("several sessions begin with")
	ErrNoTurn    = errors.New("the session does not have turn")
)

// Find returns the session with an id, which may be shortened as long as no other one begins so. It fails with ErrUnknown or
// ErrAmbiguous.
func (r *Reader) Find(ctx context.Context, id string) (Session, error) {
	return find[Session](ctx, r, "agent_sessions", querySession, id)
}

// Turn returns the turn with an id, as Find does.
func (r *Reader) Turn(ctx context.Context, id string) (Turn, error) {
	return find[Turn](ctx, r, "agent_turns", queryTurn, id)
}

// find returns the one row of a table whose id is a text, or else begins with it.
func find[T any](ctx context.Context, r *Reader, table, query, id string) (row T, err error) {
	found, err := all(ctx, r.rows, one, "SELECT id FROM "+table+" WHERE id = ?", id)
	if err == nil && len(found) == 0 && id != "" {
		found, err = all(ctx, r.rows, one, "SELECT id FROM "+table+" WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id LIMIT 2", id)
	}
	switch {
	case err != nil:
		return row, err
	case len(found) > 1:
		return row, fmt.Errorf("%w %s: %s", ErrAmbiguous, id, strings.Join(found, ", "))
	case len(found) == 0:
		return row, fmt.Errorf("%w %s %s", ErrUnknown, strings.TrimSuffix(strings.TrimPrefix(table, "agent_"), "s"), id)
	}
	rows, err := all(ctx, r.rows, fieldsOf[T], query, found[0])
	if err != nil || len(rows) == 0 {
		return row, errors.Join(err, ErrMissing)
	}
	return rows[0], nil
}

// Filter says which sessions are listed; what is empty lets all through.
type Filter struct{ Task, Runner, Run string }

// Listed is a session with where it comes from.
type Listed struct {
	Session
	Origin Origin `json:"relay"`
}

// List returns sessions, the oldest first. A subagent has the origin of the session that began it where it has none of its own.
func (r *Reader) List(ctx context.Context, f Filter) ([]Listed, error) {
	type row struct {
		Listed
		first, last string
	}
	rows, err := all(ctx, r.rows, func(l *row) []any { return append(fieldsOf(&l.Session), &l.first, &l.last) }, queryList)
	if err != nil {
		return nil, err
	}
	list := []Listed{}
	origins := map[string]Origin{} // a parent comes before its children
	for _, l := range rows {
		l.Origin = originOf(l.first)
		last := originOf(l.last)
		if l.Origin.Run == "" {
			l.Origin = last
		}
		if l.Origin.Run == "" {
			l.Origin = origins[l.ParentSession]
		}
		origins[l.ID] = l.Origin
		if (f.Task == "" || l.Origin.Task == f.Task) && (f.Runner == "" || l.Source == f.Runner || l.Origin.Agent == f.Runner) &&
			(f.Run == "" || l.Origin.Run == f.Run || last.Run == f.Run) {
			list = append(list, l.Listed)
		}
	}
	return list, nil
}

// Part is a part of a conversation.
type Part struct {
	From, To int64 // sequence numbers: the first, and the one after the last; To 0: up to the end
	Most     int   // messages at most; 0: all
	Spoken   bool  // without tool calls, messages that only make those, and messages of the system
}

// Said is a message with the tool calls it has made.
type Said struct {
	Message
	Calls []ToolCall `json:"tool_calls,omitempty"`
}

// Conversation returns messages of a session in order, each with its tool calls.
func (r *Reader) Conversation(ctx context.Context, session string, p Part) ([]Said, error) {
	to, most := cmp.Or(p.To, math.MaxInt64), cmp.Or(p.Most, -1)
	said, err := all(ctx, r.rows, func(s *Said) []any { return fieldsOf(&s.Message) }, queryMessages, session, p.From, to, most, p.Spoken)
	if err != nil || len(said) == 0 || p.Spoken {
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

// Loose returns the sessions that a session has begun and no tool call names, the oldest first.
func (r *Reader) Loose(ctx context.Context, session string) ([]Session, error) {
	return all(ctx, r.rows, fieldsOf[Session], queryLoose, session)
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

// Exchange returns the turn of a number, from 1. It fails with ErrNoTurn.
func (r *Reader) Exchange(ctx context.Context, session string, number int) (Exchange, error) {
	list, err := r.Exchanges(ctx, session)
	if err != nil {
		return Exchange{}, err
	}
	if number < 1 || number > len(list) {
		return Exchange{}, fmt.Errorf("%w %d: it has %d", ErrNoTurn, number, len(list))
	}
	return list[number-1], nil
}

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

// Node is a turn in the tree of those it follows and those that follow it.
type Node struct {
	Turn
	Children []*Node `json:"children,omitempty"`
}

// Tree returns the turns of a session in their trees: all that they follow, and all that follow them, in whatever session. The oldest
// comes first; a tree's root follows a turn that is not in the ledger, or none.
func (r *Reader) Tree(ctx context.Context, session string) ([]*Node, error) {
	turns, err := all(ctx, r.rows, fieldsOf[Turn], queryTree, session)
	return grow(turns), err
}

// grow makes trees of turns.
func grow(turns []Turn) (roots []*Node) {
	nodes := make(map[string]*Node, len(turns))
	for i := range turns {
		nodes[turns[i].ID] = &Node{Turn: turns[i]}
	}
	for i := range turns {
		n := nodes[turns[i].ID]
		if parent := nodes[n.Parent]; parent != nil {
			parent.Children = append(parent.Children, n)
		} else {
			roots = append(roots, n)
		}
	}
	return roots
}

// ToolUse counts the calls of one tool.
type ToolUse struct {
	Tool      string  `json:"tool"`
	Uses      int64   `json:"uses"`
	Completed int64   `json:"completed"`
	Failed    int64   `json:"failed"`
	Rejected  int64   `json:"rejected"`
	Cancelled int64   `json:"cancelled"`
	Success   float64 `json:"success_rate"` // completed of all, from 0 to 1
}

// Tools counts the tool calls of a session, or of all when it is empty; the tool that was used most comes first.
func (r *Reader) Tools(ctx context.Context, session string) ([]ToolUse, error) {
	list, err := all(ctx, r.rows, func(u *ToolUse) []any {
		return []any{&u.Tool, &u.Uses, &u.Completed, &u.Failed, &u.Rejected, &u.Cancelled}
	}, queryTools, session)
	for i := range list {
		list[i].Success = float64(list[i].Completed) / float64(list[i].Uses)
	}
	return list, err
}
