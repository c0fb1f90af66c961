package finish

import (
	"context"
	"slices"
	"strings"
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

// replay puts the branch's commits that base lacks onto Into one by one, without those that Into has as others. It reports false for a
// history that cannot stand in a row, and unless always is set for one of which Into has nothing: that is merged.
func (f *Step) replay(ctx context.Context, base string, always bool) (done bool, err error) {
	l, err := lineOf(ctx, f.branch, f.Old, f.Tip, base)
	if err != nil || len(l.commits) == 0 || !always && l.whole() {
		return false, err
	}
	f.How, f.New = NothingToLand, f.Old
	for _, run := range l.missing {
		f.How = Replay
		if f.New, err = f.branch.Rebase(ctx, f.New, run); err != nil {
			return false, err
		}
	}
	return true, nil
}
