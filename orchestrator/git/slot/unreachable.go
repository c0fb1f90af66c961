package slot

import (
	"cmp"
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"relay/orchestrator/git/worktree"
	"relay/reanchor/git"
)

// UnreachableOptions say which commits [Unreachable] lists.
type UnreachableOptions struct {
	Branch    string // the slot's own, full name
	Most      int    // so many at most
	Rewritten bool   // also what was made and left again
	Detached  bool   // also what HEAD was switched away from
	Kept      string // a commit whose history is kept; "" : HEAD
}

// Unreachable lists commits of a slot that are nowhere else: on branches beside its own, in its stash, and with Rewritten also
// those that were made and reset away, left on no branch, or put aside by an operation that is half done. For these it goes
// by the slot's log of HEAD, which begins with the attempt. Only those are listed that neither Known nor another of them
// contains, the last ones first, and at most Most of them.
func Unreachable(ctx context.Context, repo *git.Repo, o UnreachableOptions) ([]string, error) {
	left := beside(repo, o.Branch)
	if o.Rewritten || o.Detached {
		left = append(left, leftBehind(repo, !o.Rewritten)...)
	}
	if len(left) == 0 {
		return nil, nil
	}
	args := append([]string{"rev-list", "--ignore-missing", "--parents"}, left...)
	out, err := repo.Run(ctx, git.Call{
		Args: append(args, "--not", "HEAD", cmp.Or(o.Kept, "HEAD"), "--alternate-refs", "--"), Limit: git.MaxPrinted,
	})
	if err != nil {
		return nil, git.Unasked(err)
	}
	var tips []string
	parents := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		names := strings.Fields(line)
		for _, parent := range names[1:] {
			parents[parent] = true
		}
	}
	for line := range strings.Lines(string(out)) {
		if name := strings.Fields(line)[0]; !parents[name] && slices.Contains(left, name) && len(tips) < o.Most {
			tips = append(tips, name)
		}
	}
	return tips, nil
}

// beside lists what branches beside its own and the stash of a slot lead to.
func beside(repo *git.Repo, own string) (commits []string) {
	heads := filepath.Join(repo.GitDir(), "refs", "heads")
	add := func(name, text string) {
		if hash := strings.TrimSpace(text); name != own && git.IsHash(hash) && !slices.Contains(commits, hash) && len(commits) < leftMost {
			commits = append(commits, hash)
		}
	}
	_ = filepath.WalkDir(heads, func(path string, e fs.DirEntry, err error) error {
		if rel, relErr := filepath.Rel(repo.GitDir(), path); err == nil && relErr == nil && e.Type().IsRegular() {
			add(filepath.ToSlash(rel), git.Plain(path, git.SmallFile))
		}
		return nil
	})
	packed := git.Plain(filepath.Join(repo.GitDir(), git.PackedRefs), git.MaxPrinted)
	for line := range strings.Lines(packed) {
		hash, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		branch, ok := strings.CutPrefix(name, "refs/heads/")
		if ok && !strings.Contains(packed, hash+" refs/remotes/origin/"+branch+"\n") { // else it is the user's
			add(name, hash)
		}
	}
	entries, _ := worktree.Stash(repo) // as far as it can be read
	for _, e := range entries {
		add("", e.Commit)
	}
	return commits
}

// leftBehind lists where HEAD stood when it went elsewhere than on to a new commit, and what git remembers of it. All of
// it an agent can have written: only what looks like a commit counts. With switched, only commits that HEAD was switched away from.
func leftBehind(repo *git.Repo, switched bool) []string {
	texts := git.Contents(repo.GitDir(), []string{
		"logs/HEAD", "ORIG_HEAD", "MERGE_AUTOSTASH", "rebase-merge/autostash",
		"rebase-apply/autostash", "rebase-merge/orig-head", "rebase-apply/orig-head",
	})
	var left []string
	add := func(name string) {
		if git.IsHash(name) && strings.Trim(name, "0") != "" && !slices.Contains(left, name) && len(left) < leftMost {
			left = append(left, name)
		}
	}
	if !switched {
		for _, text := range texts[1:] {
			add(strings.TrimSpace(text))
		}
	}
	moves := strings.Split(texts[0], "\n")
	for i, move := range slices.Backward(moves) {
		from, rest, _ := strings.Cut(move, " ")
		_, did, _ := strings.Cut(rest, "\t")
		commits := strings.HasPrefix(did, "commit: ") || strings.HasPrefix(did, "commit (initial)")
		if switched && !strings.HasPrefix(did, "checkout: moving from ") {
			continue
		}
		if i > 0 && did != git.KeptMessage && !commits { // the first is relay's own
			add(from)
		}
	}
	return left
}

// leftMost bounds how many places of HEAD are looked at.
const leftMost = 1000

// mostUnreachable bounds how many commits are kept that an attempt left behind.
const mostUnreachable = 20

// KeepUnreachable keeps the commits that [Unreachable] lists as refs in a folder, and returns their names.
func KeepUnreachable(ctx context.Context, tree *worktree.Tree, folder string, o UnreachableOptions) (kept []string, err error) {
	o.Most = mostUnreachable
	tips, err := Unreachable(ctx, tree.Repo, o)
	for _, tip := range tips {
		if err := tree.Keep(ctx, folder+tip[:12], tip); err != nil {
			return kept, err
		}
		kept = append(kept, folder+tip[:12])
	}
	return kept, err
}
