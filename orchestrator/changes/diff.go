// Package changes says what the diff of an attempt shows beside the work itself: tests that were deleted or prove less, files that
// decide what checks say, and the tests as they were, with which checks are to pass as well.
package changes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"relay/epic"
	"relay/epic/globs"
	"relay/internal/lazyregexp"
	"relay/orchestrator/engine"
	"relay/orchestrator/evidence"
	"relay/orchestrator/text"
	"relay/reanchor"
	"relay/review"
)

// Diff is what an attempt has changed, in the repository it worked in.
type Diff struct {
	Repo       *reanchor.Git
	Plan       *epic.Epic
	Task       *epic.Task
	Base, Head string
	Names      []reanchor.Change
	Steers     func(path string) bool // whether agent CLIs go by a file
	Result     *engine.Result         // what is found is told there
	Found
	Deleted []string // tests that are gone and that the task does not name
	Weaker  []string // those that prove less than before, in words
}

// Found is what reviewers are told of, and checks are run with.
type Found struct {
	Weakened []review.Finding // tests that prove less than before, or something else
	Decisive []review.Finding // changed files that decide what checks say
	Old      OldTests
	Fewer    bool // tests are gone that the task names
}

// Look looks at the whole diff.
func (d *Diff) Look(ctx context.Context) error {
	return errors.Join(d.testsKept(ctx), d.checksKept(ctx), oldView{d}.find(ctx))
}

// Further reports whether any file that an attempt has changed up to head differs from what an earlier attempt left, at the commit before;
// "": there was none.
func Further(ctx context.Context, repo *reanchor.Git, before, head string, names []reanchor.Change) bool {
	if before == "" || len(names) == 0 {
		return len(names) > 0
	}
	since, err := repo.Names(ctx, before, head)
	return err != nil || slices.ContainsFunc(names, func(n reanchor.Change) bool {
		return slices.ContainsFunc(since, func(c reanchor.Change) bool { return c.Path == n.Path })
	})
}

// ProtectedHits returns the changed paths that a protected glob covers.
func ProtectedHits(patterns []string, names []reanchor.Change) []string {
	var hits []string
	for _, n := range names {
		for _, p := range []string{n.Path, n.From} {
			if p != "" && slices.ContainsFunc(patterns, func(g string) bool { return globs.Covers(g, p) }) {
				hits = append(hits, p)
			}
		}
	}
	return hits
}

// checksKept tells of changed files that decide what the checks say, other than by being what they test: a script they run,
// or one of those their programs go by. One that is new decides nothing that was there, unless it takes the place of
// another; one that the task names is the task.
func (d *Diff) checksKept(ctx context.Context) error {
	checks := slices.Concat(d.Task.Checks, d.Plan.Checks)
	commands := make([]evidence.Command, len(checks))
	for i := range checks {
		commands[i] = evidence.ParseCommand(checks[i].Run)
	}
	d.Decisive = nil
	for _, n := range d.Names {
		p := text.FirstOf(n.From, n.Path)
		if d.either(n, named) || d.steers(n) {
			continue
		}
		byName := !IsTest(p) // else it decides as the script of a check only: what tests say is looked at as such
		at := slices.IndexFunc(commands, func(c evidence.Command) bool {
			if n.Code == "A" {
				return byName && c.Reads(path.Base(p)) && d.displaces(&c, p)
			}
			return c.Runs(p) || byName && (c.Reads(path.Base(p)) || c.Reads(path.Base(n.Path)))
		})
		if at < 0 {
			continue
		}
		if versions, err := d.onlyVersions(ctx, n); err != nil || versions {
			if err != nil {
				return err
			}
			continue
		}
		issue := fmt.Sprintf("decides what %s says, and was changed; the task does not name it under files", checks[at].Name)
		d.Result.Note("checks", p+" "+issue)
		d.Decisive = append(d.Decisive, review.Finding{Severity: review.Medium, File: n.Path, Issue: issue})
	}
	return nil
}

// DecidesChecks reports whether a file decides what the checks of a task and of the epic say: a test, a script that one of them
// runs, or a file that its programs go by.
func DecidesChecks(plan *epic.Epic, t *epic.Task, p string) bool {
	return IsTest(p) || slices.ContainsFunc(slices.Concat(t.Checks, plan.Checks), func(check epic.Check) bool {
		c := evidence.ParseCommand(check.Run)
		return c.Runs(p) || c.Reads(path.Base(p)) || slices.Contains(c.Words, p)
	})
}

// named reports whether a task names a path itself among its files.
func named(t *epic.Task, p string) bool {
	return slices.ContainsFunc(t.Files, func(file string) bool { return globs.CleanPath(file) == p })
}

// either reports whether something is so of the task and a changed file, by its old name or its new one.
func (d *Diff) either(n reanchor.Change, is func(t *epic.Task, p string) bool) bool {
	return is(d.Task, n.Path) || n.From != "" && is(d.Task, n.From)
}

// displaces reports whether a new file stands beside an older one that the same programs go by.
func (d *Diff) displaces(c *evidence.Command, p string) bool {
	beside, err := os.ReadDir(filepath.Join(d.Repo.Root(), filepath.FromSlash(path.Dir(p))))
	return err == nil && slices.ContainsFunc(beside, func(e fs.DirEntry) bool {
		other := path.Join(path.Dir(p), e.Name())
		return c.Reads(e.Name()) && !slices.ContainsFunc(d.Names, func(n reanchor.Change) bool { return n.Path == other && n.Code == "A" })
	})
}

// Lines of a diff that name versions of what a project depends on, and nothing else, in the files that have them.
var (
	manifest    = lazyregexp.New(`^(package\.json|Cargo\.toml|pyproject\.toml)$`)
	versionLine = lazyregexp.New(`^[+-]\s*("[\w@/.-]+"\s*:\s*"[~^<>=v ]*\d[\w.*+-]*"|[\w-]+\s*=\s*("[~^<>=]*\d[\w.*+-]*"|\{\s*version\s*=\s*"[^"]*".*\})|"[\w.-]+(\[[\w,-]+\])?\s*([~^<>=!]=?\s*\d[\w.*+-]*,?\s*)*")?,?\s*$`)
)

// onlyVersions reports whether nothing but versions was changed in a file, as a task does that needs one thing more.
func (d *Diff) onlyVersions(ctx context.Context, n reanchor.Change) (bool, error) {
	if n.Code != "M" || !manifest.MatchString(path.Base(n.Path)) {
		return false, nil
	}
	only := true
	err := d.changedLines(ctx, []string{n.Path}, func(line string) { only = only && (line[0] == '@' || versionLine.MatchString(line)) })
	return only && err == nil, ctx.Err()
}

// steers takes note of a change of a file that steers agents, if it is one.
func (d *Diff) steers(n reanchor.Change) bool {
	p := text.FirstOf(n.From, n.Path)
	if !d.Steers(p) && !d.Steers(n.Path) {
		return false
	}
	issue := "configures the agents and reviewers that work here, and was changed; reviewers use the old version"
	d.Result.Note("checks", p+" "+issue)
	d.Decisive = append(d.Decisive, review.Finding{Severity: review.Medium, File: n.Path, Issue: issue})
	return true
}
