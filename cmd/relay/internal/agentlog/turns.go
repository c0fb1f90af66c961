package agentlog

import (
	"context"
	"fmt"
	"strings"

	"relay/attempts/sessions"
	"relay/epic/plaintext"
)

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
