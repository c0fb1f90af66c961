package bench

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"relay/epic/pattern"
	"relay/orchestrator/changes"
	"relay/orchestrator/checks"
)

// addsTests reports whether files that tasks declare are tests that a commit lacks.
func addsTests(files, declared []string) bool {
	return slices.ContainsFunc(declared, func(glob string) bool {
		return changes.IsTest(glob) && !slices.ContainsFunc(files, func(name string) bool { return pattern.Covers(glob, name) })
	})
}

// proving is how long checks may take that run again with files emptied, with their set-up.
const proving = time.Minute

// prove runs the checks of tasks again with the files that the tasks declare emptied. If all pass again, they do not test these files, or
// test another copy. It does nothing where a check does not pass, or where the tasks declare tests that are not there yet.
func prove(ctx context.Context, b *Benches, q checks.Question, declared []string, results []TriedCheck) error {
	files := checks.Files(ctx, b.Checks.Home, q.Commit)
	for _, name := range files {
		if !changes.IsTest(name) && slices.ContainsFunc(declared, func(glob string) bool { return pattern.Covers(glob, name) }) {
			q.Empty = append(q.Empty, name)
		}
	}
	q.Checks = slices.DeleteFunc(slices.Clone(q.Checks), func(check checks.Check) bool { return check.OfEpic })
	red := slices.ContainsFunc(results, func(t TriedCheck) bool { return !t.Passed })
	if red || len(q.Empty) == 0 || len(q.Checks) == 0 || addsTests(files, declared) {
		return nil
	}
	q.Logs = filepath.Join(q.Logs, "emptied")
	brief, cancel := context.WithTimeout(ctx, proving)
	defer cancel()
	_, all, err := b.asker().run(brief, q, &Trouble{}, func(_ checks.Check, r checks.Result) (bool, error) { return r.Passed(), nil })
	if brief.Err() != nil && ctx.Err() == nil {
		return nil // it would take too long
	}
	for i := 0; all && i < len(results); i++ {
		results[i].Blind = q.Empty
	}
	return err
}

// Briefly is how long checks of an attempt may take that run again with the work emptied, with their set-up.
const Briefly = 30 * time.Second

// Emptied runs checks again with files emptied, until one does not pass, and returns the result of the last one. It is unknown if they
// cannot be run or would take too long.
func Emptied(
	ctx context.Context, ask func(context.Context, checks.Question, *Trouble, checks.Visit) error, q checks.Question, files []string,
) (last checks.Result, err error) {
	q.Checks, q.Anew, q.Empty = checks.On(checks.OnEmptied, q.Checks), true, files
	brief, cancel := context.WithTimeout(ctx, Briefly)
	defer cancel()
	var tr Trouble
	err = ask(brief, q, &tr, func(_ checks.Check, r checks.Result) (bool, error) {
		last = r
		return r.Passed(), nil
	})
	if brief.Err() != nil && ctx.Err() == nil {
		return checks.Result{Unknown: true}, nil
	}
	last.Unknown = last.Unknown || err != nil || tr.Any()
	return last, err
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
