package trees

import (
	"context"
	"slices"
	"strings"

	"relay/reanchor"
)

// Forsaken lists commits of an attempt that nothing leads to any more: those that it made and reset away, or left on no
// branch, and what an operation that is half done has put aside. It goes by the worktree's own log of HEAD, which begins
// with the attempt. Only those are listed that no other of them contains, the last ones first, and at most most of them.
func (w *Tree) Forsaken(ctx context.Context, most int) ([]string, error) {
	left := w.leftBehind()
	if len(left) == 0 {
		return nil, nil
	}
	args := append([]string{"rev-list", "--ignore-missing", "--parents"}, left...)
	out, err := w.Repo.Run(ctx, reanchor.Call{Args: append(args, "--not", "--all", "--"), Limit: MaxPrinted})
	if err != nil {
		return nil, Unasked(err)
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

// leftBehind lists where HEAD stood when it went elsewhere than on to a new commit, and what git remembers of it. All of
// it an agent can have written: only what looks like a commit counts.
func (w *Tree) leftBehind() []string {
	texts := Contents(w.Repo.GitDir(), []string{"logs/HEAD", "ORIG_HEAD", "MERGE_AUTOSTASH", "rebase-merge/autostash", "rebase-apply/autostash", "rebase-merge/orig-head", "rebase-apply/orig-head"})
	var left []string
	add := func(name string) {
		if isObject(name) && strings.Trim(name, "0") != "" && !slices.Contains(left, name) && len(left) < leftMost {
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

// isObject reports whether a text looks like the name of an object.
func isObject(name string) bool {
	return (len(name) == 40 || len(name) == 64) && strings.Trim(name, "0123456789abcdef") == ""
}
