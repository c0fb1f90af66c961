package agentlog

import (
	"context"
	"fmt"
	"strings"

	"relay/attempts/sessions"
	"relay/epic/plaintext"
)

type turnText struct {
	Number int    `json:"number"`
	ID     string `json:"id"`
	Time   int64  `json:"timestamp,omitempty"`
	Tools  int64  `json:"tool_call_count"`
	Said   []line `json:"said"`
}

type turnPage struct {
	Session sessions.Session `json:"session"`
	Turns   []turnText       `json:"turns"`
}

type line struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// events prints what was said, turn by turn, without tool calls and their results.
func (v *SessionView) events(ctx context.Context, s *sessions.Session, o ShowOptions) error {
	list, err := v.Ledger.Exchanges(ctx, s.ID)
	if err != nil {
		return err
	}
	first, last := 0, len(list)
	if o.Turn > 0 {
		if _, err := v.Ledger.Exchange(ctx, s.ID, o.Turn); err != nil {
			return err
		}
		first, last = o.Turn-1, o.Turn
	}
	w := newWriter(v, s, o)
	p := turnPage{Session: *s, Turns: []turnText{}}
	for i := first; i < last; i++ {
		t, err := w.turn(ctx, i+1, &list[i])
		if err != nil {
			return err
		}
		if v.JSON {
			p.Turns = append(p.Turns, t)
			continue
		}
		w.printTurn(&t)
	}
	if v.JSON {
		return v.printJSON(&p)
	}
	return nil
}

func (w *writer) turn(ctx context.Context, number int, e *sessions.Exchange) (turnText, error) {
	t := turnText{Number: number, ID: e.ID, Time: e.Timestamp, Tools: e.ToolCalls, Said: []line{}}
	said, err := w.view.Ledger.Conversation(ctx, e.Session, sessions.Part{From: e.From, To: e.To, Spoken: true})
	for i := range said {
		t.Said = append(t.Said, line{said[i].Role, said[i].Content})
	}
	return t, err
}

func (w *writer) printTurn(t *turnText) {
	fmt.Fprintf(w.out, "\nturn %d  %s", t.Number, when(t.Time))
	if t.Tools > 0 {
		fmt.Fprintf(w.out, "  %s", plaintext.Count(int(t.Tools), "tool call"))
	}
	fmt.Fprintln(w.out)
	for _, s := range t.Said {
		fmt.Fprintf(w.out, "  %s:\n", s.Role)
		w.block(s.Content, maxContent, "    ")
	}
}

// Turns prints the turns of a session as a tree, with all that they follow and all that follow them in other sessions.
func (v *SessionView) Turns(ctx context.Context, session string) error {
	s, err := v.Ledger.Find(ctx, session)
	if err != nil {
		return err
	}
	roots, err := v.Ledger.Tree(ctx, s.ID)
	if done, err := shown(v, roots, err, "the session has no turns yet"); done {
		return err
	}
	numbers := map[string]int{}
	for _, n := range roots {
		v.printNode(n, s.ID, 0, numbers)
	}
	return nil
}

// printNode prints a turn and those that follow it. Only branches are indented: a conversation is as deep as it is long.
func (v *SessionView) printNode(n *sessions.Node, session string, depth int, numbers map[string]int) {
	const maxIndent = 20 // levels
	for n != nil {
		numbers[n.Session]++
		name := ""
		if n.Session != session {
			name = "  in session " + n.Session
		}
		at := fmt.Sprintf("%s%d  %s  %s%s", strings.Repeat("  ", min(depth, maxIndent)), numbers[n.Session], n.ID, when(n.Timestamp), name)
		if n.ToolCalls > 0 {
			at += "  " + plaintext.Count(int(n.ToolCalls), "tool call")
		}
		if n.Tokens > 0 {
			at += "  " + plaintext.Amount(n.Tokens) + " tokens"
		}
		fmt.Fprintln(v.App.Out, v.clean(at))
		var next *sessions.Node
		if len(n.Children) > 0 {
			next = n.Children[0]
			for _, branch := range n.Children[1:] {
				v.printNode(branch, session, depth+1, numbers)
			}
		}
		n = next
	}
}
