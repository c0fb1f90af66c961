package integration

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic/slowtest"
	"relay/reanchor/git/repotest"
)

// What stands on an epic's integration branch is a ledger's own, a person's, or another ledger's, which is neither begun
// from nor landed; a branch that is gone is made again with what is the ledger's own.
func TestClaim(t *testing.T) {
	t.Parallel()
	const (
		foreign = "the branch relay/lab has commits that this epic's ledger here knows nothing of: %s; another checkout made them, or a ledger that is gone"
		empty   = "the branch relay/lab has nothing of what this epic's tasks have landed on it: another checkout has created it again, or somebody has moved it"
		anew    = "git branch -m relay/lab relay/lab-other, then relay work: the branch is made again with all that landed"
	)
	for name, c := range map[string]struct {
		branch, tip string // where they are; "" : not there
		head        string
		claim       LedgerView
		refused     string
		unmixed     string // what finish says
		after       string // where the tip is when the branch was removed and it was reclaimed
	}{
		"not begun, not there":          {"", "", "base", LedgerView{}, "", "", ""},
		"not begun, nothing landed":     {"base", "base", "base", LedgerView{}, "", "", "base"},
		"not begun, all in head":        {"theirs", "theirs", "theirs", LedgerView{}, "", "", "theirs"},
		"not begun, behind head":        {"base", "base", "theirs", LedgerView{}, "", "", "theirs"},
		"not begun, another's":          {"theirs", "theirs", "base", LedgerView{}, fmt.Sprintf(foreign, "1 (T7)"), fmt.Sprintf(foreign, "1 (T7)"), "base"},
		"not begun, the branch alone":   {"theirs", "", "base", LedgerView{}, fmt.Sprintf(foreign, "1 (T7)"), "", ""},
		"not begun, a person's":         {"person", "base", "base", LedgerView{}, fmt.Sprintf(foreign, "1"), "", "base"},
		"not begun, branch behind":      {"base", "theirs", "base", LedgerView{}, fmt.Sprintf(foreign, "1 (T7)"), "", "base"},
		"begun, own":                    {"ours", "ours", "base", LedgerView{Begun: true, Landed: []string{"ours"}}, "", "", "ours"},
		"begun, own by its run":         {"ours", "ours", "base", LedgerView{Begun: true}, "", "", "ours"},
		"begun, own and a person's":     {"added", "ours", "base", LedgerView{Begun: true, Landed: []string{"ours"}}, "", "", "ours"},
		"begun, a person's":             {"person", "base", "base", LedgerView{Begun: true}, "", "", "base"},
		"begun, another's":              {"theirs", "theirs", "base", LedgerView{Begun: true}, fmt.Sprintf(foreign, "1 (T7)"), fmt.Sprintf(foreign, "1 (T7)"), "base"},
		"begun, another's only":         {"theirs", "theirs", "base", LedgerView{Begun: true, Landed: []string{"ours"}}, fmt.Sprintf(foreign, "1 (T7)"), fmt.Sprintf(foreign, "1 (T7)"), "ours"},
		"begun, another's on its own":   {"mixed", "mixed", "base", LedgerView{Begun: true, Landed: []string{"ours"}}, fmt.Sprintf(foreign, "1 (T7)"), fmt.Sprintf(foreign, "1 (T7)"), "ours"},
		"begun, another epic's":         {"elsewhere", "base", "base", LedgerView{Begun: true}, "", "", "base"},
		"begun, anew by another":        {"base", "base", "base", LedgerView{Begun: true, Landed: []string{"ours"}}, empty, "", "ours"},
		"begun, anew, and all finished": {"base", "base", "base", LedgerView{Begun: true, Over: true, Landed: []string{"ours"}}, "", "", "base"},
		"begun, made anew by a person":  {"copied", "copied", "base", LedgerView{Begun: true, Landed: []string{"ours"}}, "", "", "copied"},
		"begun, landed is cleared away": {"base", "base", "base", LedgerView{Begun: true, Landed: []string{strings.Repeat("1", 40)}}, "", "", "base"},
		"begun, parted":                 {"person", "ours", "base", LedgerView{Begun: true, Landed: []string{"ours"}}, "", "", "ours"},
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 4)
			t.Parallel()
			l := &lab{Repo: repotest.NewLanded(t)}
			l.Sh(`
				commit() { git tag $1 $(printf "%s\n" "$1" "" "$3" | git commit-tree -p $2 'main^{tree}'); }
				git tag base main
				commit ours base "Relay-Epic: lab
Relay-Task: T1
Relay-Run: mine"
				commit copied base "Relay-Epic: lab
Relay-Task: T1"
				commit theirs base "Relay-Epic: lab
Relay-Task: T7
Relay-Run: other"
				commit mixed ours "Relay-Epic: lab
Relay-Task: T7
Relay-Run: other"
				commit elsewhere base "Relay-Epic: another
Relay-Task: T8
Relay-Run: other"
				commit person base Mine
				commit added ours Mine
			`)
			at := func(name string) string { return l.Git("rev-parse", name+"^{commit}") }
			branch := NewBranch(l.Open(), "lab", Merge)
			for ref, to := range map[string]string{branch.BranchRef(): c.branch, branch.Ref(): c.tip} {
				if to != "" {
					l.Git("update-ref", ref, at(to))
				}
			}
			c.claim.Ran = func(run string) bool { return run == "mine" }
			for i, landed := range c.claim.Landed {
				if len(landed) < 40 {
					c.claim.Landed[i] = at(landed)
				}
			}
			history := History{branch, c.claim, at(c.head)}
			err := history.RefuseForeign(t.Context())
			var refused *attempts.RefusedError
			if errors.As(err, &refused) && c.refused == empty && refused.Hint != anew {
				t.Errorf("the hint is %q, want %q", refused.Hint, anew)
			}
			if got := reasonOf(t, err); got != c.refused {
				t.Errorf("refused for %q, want %q", got, c.refused)
			}
			if tip := cmp.Or(c.branch, c.tip); tip != "" && c.tip != "" {
				if got := reasonOf(t, history.RefuseMixed(t.Context(), at(tip))); got != c.unmixed {
					t.Errorf("not landed for %q, want %q", got, c.unmixed)
				}
			}
			l.Sh("git update-ref -d " + branch.BranchRef())
			if err := history.RestoreRef(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := l.Sh("git rev-parse --quiet --verify " + branch.Ref() + " || true")
			if want := c.after; want == "" && got != "" || want != "" && got != at(want) {
				t.Errorf("the tip is at %s, want %s", got, want)
			}
			if c.tip != "" && got != at(c.tip) && l.Git("rev-parse", "refs/relay/lab-moved/"+at(c.tip)) != at(c.tip) {
				t.Error("what the tip led to is not kept")
			}
		})
	}
}

// reasonOf is why something is refused, "" when it is not.
func reasonOf(t *testing.T, err error) string {
	t.Helper()
	var refused *attempts.RefusedError
	if err != nil && !errors.As(err, &refused) {
		t.Fatal(err)
	}
	if refused == nil {
		return ""
	}
	return refused.Reason
}
