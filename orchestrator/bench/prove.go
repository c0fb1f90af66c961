package bench

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/epic/globs"
	"relay/orchestrator/changes"
	"relay/orchestrator/checks"
	"relay/orchestrator/git/gitcmd"
	"relay/reanchor"
)

// prove runs the checks of a list that passed again, with the files that their tasks declare emptied: one that passes again does not
// test them, or tests another copy of them.
func prove(ctx context.Context, b *Benches, q checks.Question, declared []string, results []TriedCheck) error {
	out, err := b.Checks.Home.Run(ctx, reanchor.Call{Args: []string{"ls-tree", "-r", "--name-only", "-z", q.Commit}, Limit: gitcmd.MaxPrinted})
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name != "" && !changes.IsTest(name) && slices.ContainsFunc(declared, func(glob string) bool { return globs.Covers(glob, name) }) {
			q.Empty = append(q.Empty, name)
		}
	}
	passed := func(check checks.Check) int {
		return slices.IndexFunc(results, func(t TriedCheck) bool { return t.Passed && t.Check == check.Check })
	}
	q.Checks = slices.DeleteFunc(slices.Clone(q.Checks), func(check checks.Check) bool { return passed(check) < 0 })
	if len(q.Empty) == 0 || len(q.Checks) == 0 {
		return nil
	}
	q.Logs = filepath.Join(q.Logs, "emptied")
	_, _, err = b.asker().run(ctx, q, &Trouble{}, func(check checks.Check, r checks.Result) (bool, error) {
		if r.Passed() {
			results[passed(check)].Blind = q.Empty
		}
		return true, nil
	})
	return err
}

// emptied empties files of a checkout.
func emptied(dir string, names []string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range names {
		if info, err := root.Lstat(filepath.FromSlash(name)); err != nil || !info.Mode().IsRegular() {
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			continue
		}
		if err := root.WriteFile(filepath.FromSlash(name), nil, 0o644); err != nil {
			return err
		}
	}
	return nil
}
