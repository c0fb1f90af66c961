package finish

import (
	"context"
	"errors"
	"strings"

	"relay/orchestrator/git/integration"
)

// replay puts the branch's commits onto Into one by one, without those that an earlier relay finish has put there. It
// reports false for a history that cannot stand in a row: that is merged.
func (f *Step) replay(ctx context.Context) (done bool, err error) {
	commits, err := f.branch.Commits(ctx, []string{f.Tip, "^" + f.Old})
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
