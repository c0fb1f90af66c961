package finish

import (
	"context"
	"path"
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/git/worktree"
	"relay/reanchor/git"
)

// touched has the paths that a step changes in the checkout.
type touched struct {
	changed map[string]bool
	added   map[string]bool
	folders map[string]bool // that the added files are in
	tops    map[string]bool // the first names of the added files
}

// checkOverwrites refuses to overwrite what the user has not committed: changes of files that the step changes too, and files that
// git does not know. git itself takes ignored ones for worthless.
func (f *Step) checkOverwrites(ctx context.Context) error {
	if !f.Here {
		return nil
	}
	t := touched{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
	err := f.branch.Repo.EachName(ctx, f.Old, f.New, func(c git.Change) error {
		t.changed[c.Path], t.changed[c.From] = true, true
		if !slices.Contains([]string{"A", "R", "C"}, c.Code) {
			return nil
		}
		t.added[c.Path] = true
		for dir := path.Dir(c.Path); dir != "."; dir = path.Dir(dir) {
			t.folders[dir] = true
		}
		top, _, _ := strings.Cut(c.Path, "/")
		t.tops[top] = true
		return nil
	})
	f.ledger = t.changed[worktree.LedgerFile]
	if err != nil {
		return err
	}
	if blocking := t.uncommitted(f.uncommitted); len(blocking) > 0 {
		hint := worktree.CommitHint(ctx, f.branch.Repo, blocking, ", then relay finish")
		return &attempts.RefusedError{Reason: "uncommitted changes of yours would be overwritten: " + plaintext.Listed(blocking), Hint: hint}
	}
	blocking, err := t.untracked(ctx, f)
	if err != nil || len(blocking) == 0 {
		return err
	}
	return &attempts.RefusedError{Reason: "untracked files of yours would be overwritten: " + plaintext.Listed(blocking), Hint: "move them away, then relay finish"}
}

// uncommitted lists the changes that are in no commit and would be overwritten. As git does, it leaves those of other files alone.
func (t touched) uncommitted(changes []git.Change) (blocking []string) {
	blocking = each.Where(changes, func(c git.Change) (string, bool) {
		return c.Path, c.Code != "??" && (t.changed[c.Path] || t.inTheWay(c.Path) || c.From != "" && t.changed[c.From])
	})
	return blocking
}

// untracked lists the files that git does not know and that would be overwritten.
func (t touched) untracked(ctx context.Context, f *Step) (blocking []string, err error) {
	if len(t.added) == 0 {
		return nil, nil
	}
	args := []string{"ls-files", "--others", "-z", "--"}
	if len(t.tops) <= maxTops {
		for top := range t.tops {
			args = append(args, top)
		}
	}
	out, err := f.branch.Git(ctx, nil, args...)
	for other := range strings.SplitSeq(out, "\x00") {
		if p := strings.TrimSuffix(other, "/"); p != "" && t.inTheWay(p) && !f.united(ctx, p) {
			blocking = append(blocking, p)
		}
	}
	return blocking, err
}

// united reports whether a file is a ledger of LedgerSync that gets the lines of the branch, or what relay has put beside it.
// Discussions are not put together.
func (f *Step) united(ctx context.Context, p string) bool {
	return !worktree.IsDiscussion(p) && worktree.OnlyRecords(ctx, f.branch.Repo, f.Old, p)
}

// maxTops bounds the folders git is asked about by name.
const maxTops = 500

// inTheWay reports whether an untracked path is where one of the added files or their folders shall be.
func (t touched) inTheWay(p string) bool {
	if t.added[p] || t.folders[p] {
		return true
	}
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if t.added[dir] {
			return true
		}
	}
	return false
}
