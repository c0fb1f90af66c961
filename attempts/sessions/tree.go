package sessions

import "context"

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
