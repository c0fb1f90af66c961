package worker

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/changes"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/text"
	"relay/orchestrator/worker/steering"
	"relay/reanchor"
)

// verifier holds a claimed success against its diff and the reviewers.
type verifier struct{ *checkout }

func verifierIn(c *checkout) verifier { return verifier{c} }

// verifyDiff looks at what a claimed success changed: something must have changed, nothing protected, and no test away.
func (c verifier) verifyDiff(ctx context.Context, a engine.Attempt, names []reanchor.Change, f *state) error {
	if f.Outcome != attempts.Success {
		f.failIfUnproven(a.BriefInput.Passing)
		return nil
	}
	if err := collectorIn(c.checkout).withdraw(ctx, a, names, f); err != nil || f.Outcome != attempts.Success {
		return err
	}
	if len(names) == 0 && len(a.Task.Checks) == 0 {
		f.judgeLeftovers()
	}
	if f.Outcome != attempts.Success || len(names) == 0 && !c.allowsNoChange(a, f) {
		return nil
	}
	if f.failIfUnproven(a.BriefInput.Passing); f.Outcome != attempts.Success {
		return nil
	}
	if missing := unchanged(f.claimedFiles, names); len(missing) > 0 {
		f.Receipt.Claimed += ", naming files it did not change: " + strings.Join(missing, ", ")
	}
	c.recordLinks(names, f)
	c.recordSettings(names, f)
	diff := changes.Diff{
		Repo: c.repo, Plan: c.o.Epic, Task: &a.Task, Base: a.Base, Head: f.Head, Names: names, Steers: steering.Matches, Result: &f.Result,
	}
	err := diff.Judge(ctx)
	f.Found = diff.Found
	return err
}

// unchanged returns the claimed paths that git does not list.
func unchanged(files []string, names []reanchor.Change) []string {
	var missing []string
	for _, p := range files {
		clean := cleanClaim(p) // an agent may give whole paths: what it says is compared, not trusted
		if !slices.ContainsFunc(names, func(n reanchor.Change) bool { return n.Path == clean || strings.HasSuffix(clean, "/"+n.Path) }) {
			missing = append(missing, p)
		}
	}
	return missing
}

// recordSettings tells of work that changes how relay goes where it lands.
func (c verifier) recordSettings(names []reanchor.Change, f *state) {
	var changed []string
	for _, path := range c.o.Files {
		rel, err := filepath.Rel(c.o.Root, path)
		if err == nil && slices.ContainsFunc(names, func(n reanchor.Change) bool {
			return n.Path == filepath.ToSlash(rel) || n.From == filepath.ToSlash(rel)
		}) {
			changed = append(changed, rel)
		}
	}
	if len(changed) > 0 {
		f.Note("settings", "the agent changed "+text.Listed(changed)+", which configures relay wherever that lands")
	}
}

// recordLinks tells of new links that lead out of the checkout: what is found there is in no other clone, and checks pass by it.
func (c verifier) recordLinks(names []reanchor.Change, f *state) {
	for _, n := range names {
		if n.Code == "D" {
			continue
		}
		target, err := os.Readlink(filepath.Join(c.repo.Root(), filepath.FromSlash(n.Path)))
		if err != nil { // it is no link
			continue
		}
		to := filepath.ToSlash(target)
		if filepath.IsAbs(target) || !filepath.IsLocal(filepath.FromSlash(path.Join(path.Dir(n.Path), to))) {
			f.Note("link", n.Path+" is a link to "+attempts.Clean(to, 200)+", outside the repository: no other clone has what is there")
		}
	}
}

// allowsNoChange reports whether a success that has changed nothing may go on, and else fails it. That is what the task
// allows, or the task was done already: then its checks have to say so too.
func (c verifier) allowsNoChange(a engine.Attempt, f *state) (goesOn bool) {
	switch {
	case a.Task.AllowNoChange, a.Task.Kind == epic.KindReview:
		return true
	case f.noResult != nil: // checks that pass without any work say nothing of it
		f.revertPresumed()
		return false
	case len(a.Task.Checks) == 0:
		c.failWithoutChange(f, "")
		return false
	}
	f.Receipt.AlreadyDone = true
	return true
}

// failWithoutChange fails an attempt that claims success and has changed nothing.
func (c verifier) failWithoutChange(f *state, more string) {
	why := "the agent claims success, but nothing has changed"
	if len(f.left.untracked) > 0 {
		why += " but " + text.Listed(f.left.untracked) + ", which is no part of the work"
	} else if outside := c.tree.Outside(); len(outside) > 0 {
		why += " but " + text.Listed(outside) + ", which git does not take into a commit"
	}
	f.Receipt.AlreadyDone = false
	f.Fail(attempts.Agent, attempts.NoChange, why+more)
}

// failIfNotDone fails an attempt that says its task was done already when a check says that it was not.
func (c verifier) failIfNotDone(f *state) {
	if f.Receipt.AlreadyDone && f.Receipt.ErrorCategory == attempts.TestFailure {
		c.failWithoutChange(f, ", and "+f.Receipt.ErrorSummary)
	}
}

// failIfUnproven ends an attempt at a task whose checks passed before the work, though some of them, named here, had to fail then:
// they cannot prove it, and its agent has not found it done already.
func (f *state) failIfUnproven(named []string) {
	files := f.Outcome == attempts.Success || f.Outcome == attempts.Agent
	if len(named) == 0 || !files || f.noResult != nil || f.Receipt.AlreadyDone {
		return
	}
	why := checks.PassesBefore(text.Listed(named))
	if f.Outcome == attempts.Agent {
		why += "; its agent: " + f.Receipt.ErrorSummary
	}
	f.Fail(attempts.Environment, attempts.TestFailure, why)
	f.Gate = attempts.Infrastructure
}
