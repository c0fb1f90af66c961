package integration

import (
	"fmt"
	"testing"
)

// The branch that the epic began from is compared with the integration branch, which moves there only if it has all of its commits.
func TestForwardOfABranchThatIsBehind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tip, from string
		commits   int
		straight  bool
		refs      string
	}{
		"behind":               {tip: "one", from: "main", commits: 2, straight: true, refs: "Three Three"},
		"both have commits":    {tip: "beside", from: "main", commits: 2, refs: "Beside Beside"},
		"up to date":           {tip: "three", from: "main", refs: "Three Three"},
		"ahead":                {tip: "three", from: "early", straight: false, refs: "Three Three"},
		"that branch is gone":  {tip: "one", from: "gone", refs: "One One"},
		"no branch was there":  {tip: "one", refs: "One One"},
		"name like a tag's":    {tip: "two", from: "one", commits: 1, straight: true, refs: "Three Three"},
		"name that is options": {tip: "one", from: "--all", refs: "One One"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLand(t)
			l.Sh(history + "git branch early one; git branch one main")
			l.Sh("git update-ref refs/relay-tip/lab refs/tags/" + c.tip + "; git branch relay/lab refs/tags/" + c.tip)
			branch := NewBranch(l.Open(), "lab", Merge)
			guard := &TipGuard{Branch: branch}
			if err := guard.Begin(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
			got, err := FindBehind(t.Context(), branch, guard.Tip(), c.from)
			if err != nil || got.Commits != c.commits || got.Commits > 0 && got.Straight != c.straight {
				t.Errorf("got %+v, %v", got, err)
			}
			moved, err := guard.Forward(t.Context(), got.Head)
			if err != nil || moved != (c.straight && c.commits > 0) || l.refs() != c.refs {
				t.Errorf("moved %v to %s, %v", moved, l.refs(), err)
			}
			if want := fmt.Sprintf("git switch relay/lab && git merge %s", c.from); moved && got.ByHand("relay/lab") != "to merge them, type: "+want {
				t.Errorf("got %q", got.ByHand("relay/lab"))
			}
		})
	}
}
