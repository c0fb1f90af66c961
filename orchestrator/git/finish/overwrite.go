package finish

import (
	"context"
	"path"
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/git/worktree"
	"relay/reanchor/git"
)

// checkOverwrites refuses to overwrite what the user has not committed: changes of files that the step changes too, and files that
// git does not know. git itself takes ignored ones for worthless.
func (f *Step) checkOverwrites(ctx context.Context) error {
	if !f.Here {
		return nil
	}
	added, folders, tops, changed := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	err := f.branch.Repo.EachName(ctx, f.Old, f.New, func(c git.Change) error {
		changed[c.Path], changed[c.From] = true, true
		if !slices.Contains([]string{"A", "R", "C"}, c.Code) {
			return nil
		}
		added[c.Path] = true
		for dir := path.Dir(c.Path); dir != "."; dir = path.Dir(dir) {
			folders[dir] = true
		}
		top, _, _ := strings.Cut(c.Path, "/")
		tops[top] = true
		return nil
	})
	f.ledger = changed[worktree.LedgerFile]
	if err == nil {
		err = f.checkUncommitted(ctx, changed, added, folders)
	}
	if err != nil || len(added) == 0 {
		return err
	}
	return f.checkUntracked(ctx, added, folders, tops)
}

// checkUntracked refuses to overwrite files that git does not know.
func (f *Step) checkUntracked(ctx context.Context, added, folders, tops map[string]bool) error {
	args := []string{"ls-files", "--others", "-z", "--"}
	if len(tops) <= maxTops {
		for top := range tops {
			args = append(args, top)
		}
	}
	out, err := f.branch.Git(ctx, nil, args...)
	if err != nil {
		return err
	}
	var blocking []string
	for other := range strings.SplitSeq(out, "\x00") {
		if p := strings.TrimSuffix(other, "/"); p != "" && inTheWay(p, added, folders) && !f.united(ctx, p) {
			blocking = append(blocking, p)
		}
	}
	if len(blocking) == 0 {
		return nil
	}
	return &attempts.RefusedError{Reason: "untracked files of yours would be overwritten: " + plaintext.Listed(blocking), Hint: "move them away, then relay finish"}
}

// united reports whether a file is a ledger of LedgerSync that gets the lines of the branch, or what relay has put beside it.
// Discussions are not put together.
func (f *Step) united(ctx context.Context, p string) bool {
	return !worktree.IsDiscussion(p) && worktree.OnlyRecords(ctx, f.branch.Repo, f.Old, p)
}

// checkUncommitted refuses to overwrite changes that are in no commit. As git does, it leaves those of other files alone.
func (f *Step) checkUncommitted(ctx context.Context, changed, added, folders map[string]bool) error {
	var blocking []string
	for _, c := range f.uncommitted {
		if c.Code == "??" {
			continue
		}
		if changed[c.Path] || inTheWay(c.Path, added, folders) || c.From != "" && changed[c.From] {
			blocking = append(blocking, c.Path)
		}
	}
	if len(blocking) == 0 {
		return nil
	}
	hint := worktree.CommitHint(ctx, f.branch.Repo, blocking, ", then relay finish")
	return &attempts.RefusedError{Reason: "uncommitted changes of yours would be overwritten: " + plaintext.Listed(blocking), Hint: hint}
}

// maxTops bounds the folders git is asked about by name.
const maxTops = 500

// inTheWay reports whether an untracked path is where one of the added files or their folders shall be.
func inTheWay(p string, added, folders map[string]bool) bool {
	if added[p] || folders[p] {
		return true
	}
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if added[dir] {
			return true
		}
	}
	return false
}
