package trees

import (
	"cmp"
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"relay/orchestrator/git/gitcmd"
	"relay/reanchor"
)

// Forsaken lists commits of a slot that are nowhere else: on branches beside its own, in its stash, and with rewritten also
// those that were made and reset away, left on no branch, or put aside by an operation that is half done. For these it goes
// by the slot's log of HEAD, which begins with the attempt. Only those are listed that neither known nor another of them
// contains, the last ones first, and at most most of them.
func (w *Tree) Forsaken(ctx context.Context, most int, rewritten bool, known string) ([]string, error) {
	left := w.beside()
	if rewritten {
		left = append(left, w.leftBehind()...)
	}
	if len(left) == 0 {
		return nil, nil
	}
	args := append([]string{"rev-list", "--ignore-missing", "--parents"}, left...)
	out, err := w.Repo.Run(ctx, reanchor.Call{Args: append(args, "--not", "HEAD", cmp.Or(known, "HEAD"), "--alternate-refs", "--"), Limit: gitcmd.MaxPrinted})
	if err != nil {
		return nil, gitcmd.Unasked(err)
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
		if name := strings.Fields(line)[0]; !parents[name] && slices.Contains(left, name) && len(tips) < most {
			tips = append(tips, name)
		}
	}
	return tips, nil
}

// beside lists what branches beside its own and the stash of a slot lead to.
func (w *Tree) beside() (commits []string) {
	heads := filepath.Join(w.Repo.GitDir(), "refs", "heads")
	add := func(name, text string) {
		if hash := strings.TrimSpace(text); name != w.Branch && gitcmd.IsObject(hash) && !slices.Contains(commits, hash) && len(commits) < leftMost {
			commits = append(commits, hash)
		}
	}
	_ = filepath.WalkDir(heads, func(path string, e fs.DirEntry, err error) error {
		if rel, relErr := filepath.Rel(w.Repo.GitDir(), path); err == nil && relErr == nil && e.Type().IsRegular() {
			add(filepath.ToSlash(rel), gitcmd.Plain(path, gitcmd.SmallFile))
		}
		return nil
	})
	packed := gitcmd.Plain(filepath.Join(w.Repo.GitDir(), gitcmd.PackedRefs), gitcmd.MaxPrinted)
	for line := range strings.Lines(packed) {
		hash, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		branch, ok := strings.CutPrefix(name, "refs/heads/")
		if ok && !strings.Contains(packed, hash+" refs/remotes/origin/"+branch+"\n") { // else it is the user's
			add(name, hash)
		}
	}
	entries, _ := Stash(w.Repo) // as far as it can be read
	for _, e := range entries {
		add("", e.Commit)
	}
	return commits
}

// leftBehind lists where HEAD stood when it went elsewhere than on to a new commit, and what git remembers of it. All of
// it an agent can have written: only what looks like a commit counts.
func (w *Tree) leftBehind() []string {
	texts := gitcmd.Contents(w.Repo.GitDir(), []string{"logs/HEAD", "ORIG_HEAD", "MERGE_AUTOSTASH", "rebase-merge/autostash", "rebase-apply/autostash", "rebase-merge/orig-head", "rebase-apply/orig-head"})
	var left []string
	add := func(name string) {
		if gitcmd.IsObject(name) && strings.Trim(name, "0") != "" && !slices.Contains(left, name) && len(left) < leftMost {
			left = append(left, name)
		}
	}
	for _, text := range texts[1:] {
		add(strings.TrimSpace(text))
	}
	moves := strings.Split(texts[0], "\n")
	for i, move := range slices.Backward(moves) {
		from, rest, _ := strings.Cut(move, " ")
		_, did, _ := strings.Cut(rest, "\t")
		if i > 0 && did != keptWords && !strings.HasPrefix(did, "commit: ") && !strings.HasPrefix(did, "commit (initial)") { // the first is relay's own
			add(from)
		}
	}
	return left
}

// leftMost bounds how many places of HEAD are looked at.
const leftMost = 1000
