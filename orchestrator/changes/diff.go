// Package changes analyzes an attempt's diff, commands and their output as proof: deleted or weaker tests, files that decide the results
// of checks.
//
// diff.go says what the diff of an attempt shows beside the work itself: tests that were deleted or prove less, files that decide the
// results of checks, and the tests of the base, with which checks have to pass too.
//
// assertiondiff.go reads texts for what they prove: commands for the files they hang on, output for why a command could not run, and
// diffs for tests that assert less.
package changes

import (
	"context"
	"errors"
	"path"
	"slices"

	"relay/epic"
	"relay/epic/each"
	"relay/epic/pattern"
	"relay/epic/plaintext"
	"relay/orchestrator/engine"
	"relay/reanchor/git"
	"relay/review"
)

// Diff describes an attempt's changes, in the repository it worked in.
type Diff struct {
	Repo       *git.Repo
	Plan       *epic.Epic
	Task       *epic.Task
	Base, Head string
	Names      []git.Change
	Steers     func(path string) bool // whether agent CLIs read a file as configuration or instructions
	Result     *engine.Result         // gets notes of the findings
	Found
	Deleted []string // tests that are gone and that the task does not name
	Weaker  []string // those that prove less than before, in words
}

// Found holds the findings for reviewers and for further runs of checks.
type Found struct {
	Weakened []review.Finding // tests that prove less than before, or something else
	Steering []review.Finding // changed files that configure agents and reviewers
	Old      OldTests
	Code     []string // changed files of code that are not tests
	Fewer    bool     // tests are gone that the task names
}

// Look looks at the whole diff.
func (d *Diff) Look(ctx context.Context) error {
	d.steering()
	d.Code = each.Where(d.Names, func(n git.Change) (string, bool) { return n.Path, IsCode(n) })
	return errors.Join(d.testsKept(ctx), findOld(ctx, d))
}

// Further reports whether any file that an attempt has changed up to head differs from what an earlier attempt left, at the commit before;
// "": there was none.
func Further(ctx context.Context, repo *git.Repo, before, head string, names []git.Change) bool {
	if before == "" || len(names) == 0 {
		return len(names) > 0
	}
	since, err := repo.Names(ctx, before, head)
	return err != nil || slices.ContainsFunc(names, func(n git.Change) bool {
		return slices.ContainsFunc(since, func(c git.Change) bool { return c.Path == n.Path })
	})
}

// ProtectedHits returns the changed paths that a protected glob covers.
func ProtectedHits(patterns []string, names []git.Change) []string {
	var hits []string
	for _, n := range names {
		for _, p := range []string{n.Path, n.From} {
			if p != "" && slices.ContainsFunc(patterns, func(g string) bool { return pattern.Covers(g, p) }) {
				hits = append(hits, p)
			}
		}
	}
	return hits
}

// DecidesChecks reports whether a file decides what the checks of a task and of the epic say: a test, a script that one of them
// runs, or a file that its programs read.
func DecidesChecks(plan *epic.Epic, t *epic.Task, p string) bool {
	return IsTest(p) || slices.ContainsFunc(slices.Concat(t.Checks, plan.Checks), func(check epic.Check) bool {
		c := ParseCommand(check.Run)
		return c.Runs(p) || c.Reads(path.Base(p)) || slices.Contains(c.Words, p)
	})
}

// either reports whether something is so of the task and a changed file, by its old name or its new one.
func (d *Diff) either(n git.Change, is func(t *epic.Task, p string) bool) bool {
	return is(d.Task, n.Path) || n.From != "" && is(d.Task, n.From)
}

// steering takes note of changes of files that steer agents.
func (d *Diff) steering() {
	d.Steering = nil
	for _, n := range d.Names {
		if p := plaintext.FirstOf(n.From, n.Path); d.Steers(p) || d.Steers(n.Path) {
			issue := "configures the agents and reviewers that work here, and was changed; reviewers use the old version"
			d.Result.Note("checks", p+" "+issue)
			d.Steering = append(d.Steering, review.Finding{Severity: review.Medium, File: n.Path, Issue: issue})
		}
	}
}
