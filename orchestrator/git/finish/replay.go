package finish

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"relay/orchestrator/git/integration"
	"relay/orchestrator/text"
)

// dropped lists the commits that the epic began from, that have been on Into by its log, and that somebody has taken off it since.
func dropped(ctx context.Context, f *Step, base string) ([]string, error) {
	if base == "" {
		return nil, nil
	}
	if held, err := f.branch.Contains(ctx, f.Old, base); err != nil || held {
		return nil, err
	}
	been, err := f.branch.Git(ctx, nil, "log", "-g", "--max-count=1000", "--format=^%H", "refs/heads/"+f.Into, "--")
	if err != nil || been == "" {
		return nil, ctx.Err()
	}
	list := func(without string) ([]string, error) {
		wanted := strings.NewReader(base + "\n^" + f.Old + "\n" + without)
		out, err := f.branch.Git(ctx, wanted, "log", "--ignore-missing", "--no-merges", "--max-count=1000", "--format=%h %s", "--stdin")
		return strings.Split(out, "\n"), err
	}
	all, err := list("")
	if err != nil {
		return nil, err
	}
	others, err := list(been + "\n")
	return slices.DeleteFunc(all, func(c string) bool { return c == "" || slices.Contains(others, c) }), err
}

// buildWithout replays what the epic has made, without the commits that were taken off Into.
func buildWithout(ctx context.Context, f *Step, base string) error {
	done, err := f.replay(ctx, base)
	if err != nil || done {
		return f.conflictHint(ctx, err)
	}
	return &text.RefusedError{
		Reason: fmt.Sprintf("%s has no longer what %s began from (%s), and the work cannot be replayed without it", f.Into, f.Name, text.Listed(f.Dropped)),
		Hint:   "git merge " + f.tipName(ctx) + " brings it back, if you want that",
	}
}

// replay puts the branch's commits that base lacks onto Into one by one, without those that an earlier relay finish has put there. It
// reports false for a history that cannot stand in a row: that is merged.
func (f *Step) replay(ctx context.Context, base string) (done bool, err error) {
	commits, err := f.branch.Commits(ctx, []string{f.Tip, "^" + f.Old, "^" + base})
	if _, ok := errors.AsType[*integration.UnfitError](err); ok { // a long night
		return false, nil
	}
	if err != nil {
		return false, err
	}
	line := inARow(commits)
	if line == nil {
		return false, nil
	}
	landed, err := f.countLanded(ctx, line)
	if err != nil {
		return false, err
	}
	if landed == len(line) {
		f.How, f.New = NothingToLand, f.Old
		return true, nil
	}
	f.How = Replay
	f.New, err = f.branch.Rebase(ctx, f.Old, line[landed:])
	return true, err
}

// inARow returns the commits without those that only close what stands before them, as the landing of several commits
// does; nil when they do not follow one another.
func inARow(commits []integration.NamedCommit) []integration.NamedCommit {
	var line []integration.NamedCommit
	ends := map[string]bool{} // names of what line ends in
	for _, c := range commits {
		parents := c.Parents()
		last := len(line) - 1
		switch {
		case len(parents) == 1 && (last < 0 || ends[parents[0]]):
			line, ends = append(line, c), map[string]bool{c.Name: true}
		case len(parents) == 2 && last >= 0 && ends[parents[1]] && c.Tree() == line[last].Tree():
			ends[c.Name] = true
		default:
			return nil
		}
	}
	return line
}

// countLanded returns how many commits at the beginning of the line Into has as others that change the same. Empty ones
// between them count.
func (f *Step) countLanded(ctx context.Context, line []integration.NamedCommit) (int, error) {
	out, err := f.branch.Git(ctx, nil, "rev-list", "--right-only", "--cherry-pick", "--no-merges", f.Old+"..."+f.Tip, "--")
	if err != nil {
		return 0, err
	}
	fresh := map[string]bool{}
	for name := range strings.SplitSeq(out, "\n") {
		fresh[name] = true
	}
	before, err := f.branch.Git(ctx, nil, "rev-parse", "--verify", line[0].Parents()[0]+"^{tree}")
	landed := 0
	for i, c := range line {
		if !fresh[c.Name] {
			landed = i + 1
		} else if c.Tree() != before {
			break
		}
		before = c.Tree()
	}
	return landed, err
}
