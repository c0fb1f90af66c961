// Package changes says what the diff of an attempt shows beside the work itself: tests that were deleted or prove less, files that
// decide what checks say, and the tests as they were, with which checks are to pass as well.
package changes

import (
	"context"
	"errors"
	"slices"

	"relay/epic"
	"relay/epic/globs"
	"relay/orchestrator/engine"
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
}

// Found is what reviewers are told of, and checks are run with.
type Found struct {
	Weakened []review.Finding // tests that prove less than before
	Decisive []review.Finding // changed files that decide what checks say
	Old      OldTests
}

// Look looks at the whole diff.
func (d *Diff) Look(ctx context.Context) error {
	return errors.Join(d.testsKept(ctx), d.checksKept(ctx), d.findOldTests(ctx))
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
