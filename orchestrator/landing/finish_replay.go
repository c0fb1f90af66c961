package landing

import (
	"context"
	"errors"
	"strings"
)

// replay puts the branch's commits onto Into one by one, without those that an earlier relay finish has put there. It
// reports false for a history that cannot stand in a row: that is merged.
func (f *Finish) replay(ctx context.Context) (done bool, err error) {
	commits, err := f.trunk.commits(ctx, []string{f.Tip, "^" + f.Old})
	var unfit *UnfitError
	if errors.As(err, &unfit) { // a long night
		return false, nil
	}
	if err != nil {
		return false, err
	}
	line := inARow(commits)
	if line == nil {
		return false, nil
	}
	known, err := f.known(ctx, line)
	if err != nil {
		return false, err
	}
	if known == len(line) {
		f.How, f.New = NothingToLand, f.Old
		return true, nil
	}
	f.How = Replay
	f.New, err = f.trunk.rebase(ctx, f.Old, line[known:])
	return true, err
}

// inARow returns the commits without those that only close what stands before them, as the landing of several commits
// does; nil when they do not follow one another.
func inARow(commits []named) []named {
	var line []named
	ends := map[string]bool{} // names of what line ends in
	for _, c := range commits {
		parents := c.parents()
		last := len(line) - 1
		switch {
		case len(parents) == 1 && (last < 0 || ends[parents[0]]):
			line, ends = append(line, c), map[string]bool{c.name: true}
		case len(parents) == 2 && last >= 0 && ends[parents[1]] && c.tree() == line[last].tree():
			ends[c.name] = true
		default:
			return nil
		}
	}
	return line
}

// known returns how many commits at the beginning of the line Into has as others that change the same. Empty ones
// between them count.
func (f *Finish) known(ctx context.Context, line []named) (int, error) {
	out, err := f.trunk.git(ctx, nil, "rev-list", "--right-only", "--cherry-pick", "--no-merges", f.Old+"..."+f.Tip, "--")
	if err != nil {
		return 0, err
	}
	fresh := map[string]bool{}
	for name := range strings.SplitSeq(out, "\n") {
		fresh[name] = true
	}
	before, err := f.trunk.git(ctx, nil, "rev-parse", "--verify", line[0].parents()[0]+"^{tree}")
	known := 0
	for i, c := range line {
		if !fresh[c.name] {
			known = i + 1
		} else if c.tree() != before {
			break
		}
		before = c.tree()
	}
	return known, err
}
