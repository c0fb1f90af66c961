package worker

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic"
	"relay/epic/globs"
	"relay/orchestrator/changes"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/evidence"
	"relay/orchestrator/text"
	"relay/reanchor"
)

// verifier holds a claimed success against its diff and the reviewers.
type verifier struct{ *checkout }

func verifierIn(c *checkout) verifier { return verifier{c} }

// verifyDiff looks at what a claimed success changed: something must have changed, nothing protected, and no test away.
func (c verifier) verifyDiff(ctx context.Context, a engine.Attempt, names []reanchor.Change, f *state) error {
	if f.Outcome != attempts.Success {
		f.provedByNothing(a.Known.Passing)
		return nil
	}
	if err := collectorIn(c.checkout).withdraw(ctx, a, names, f); err != nil || f.Outcome != attempts.Success {
		return err
	}
	if len(names) == 0 && len(a.Task.Checks) == 0 {
		f.judgeLeftovers()
	}
	if f.Outcome != attempts.Success || len(names) == 0 && !c.nothing(a, f) {
		return nil
	}
	if f.provedByNothing(a.Known.Passing); f.Outcome != attempts.Success {
		return nil
	}
	if missing := unchanged(f.claimedFiles, names); len(missing) > 0 {
		f.Receipt.Claimed += ", naming files it did not change: " + strings.Join(missing, ", ")
	}
	c.noteLinks(names, f)
	c.noteSettings(names, f)
	diff := changes.Diff{Repo: c.repo, Plan: c.o.Epic, Task: &a.Task, Base: a.Base, Head: f.Head, Names: names, Steers: steering.MatchString, Result: &f.Result}
	err := diff.Judge(ctx)
	f.Found = diff.Found
	return err
}

// checkSite is where checks of an attempt are run: in the checkout it works in.
func (c *checkout) checkSite(a engine.Attempt, p attemptFiles) checks.Site {
	return checks.Site{Attempt: a, Logs: p.checks, Dir: c.repo.Root()}
}

// commandEnv is what a command is told. One that is about the whole epic is not told for which task it is run: what it says
// holds for others as well.
func (g *workspace) commandEnv(a engine.Attempt, ofEpic bool) []string {
	env := append(g.env(a, ""), g.o.CommandEnv...)
	if ofEpic {
		env = slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, "RELAY_TASK=") })
	}
	return env
}

// runChecks runs the acceptance commands, the task's own and then the epic's, and fails the finding with the first that
// does not pass. Side by side the epic's are left out: they would judge what the neighbours have half done.
func (t *checkoutAttempt) runChecks(ctx context.Context, f *state) error {
	if f.Outcome != attempts.Success {
		return nil
	}
	var merged []epic.Check
	if t.tree != nil {
		merged = t.o.Epic.Checks
	}
	after := make(checks.Baseline)
	for _, check := range checks.List(t.a.Task.Checks, merged) {
		s, err := t.passes(ctx, check, f)
		if err != nil {
			return err
		}
		if err := t.putBackProtected(ctx, check, f); err != nil || f.Outcome != attempts.Success {
			return err
		}
		if base, known := f.onBase[check.Key()]; known && s.Passed() && t.tree != nil {
			f.RanFewer(&t.a.Task, check.Name, base.Run, s.Run, &f.Result)
		}
		if check.OfEpic {
			after[check.Key()] = s
		}
	}
	f.epicSaid = after
	return nil
}

// putBackProtected puts protected files back that were changed while a check ran: the next one would go by them.
func (t *checkoutAttempt) putBackProtected(ctx context.Context, check checks.Check, f *state) error {
	patterns := slices.Concat(t.o.Epic.Protected, t.a.Task.Protected)
	if t.tree == nil || len(patterns) == 0 {
		return nil
	}
	ctx, cancel := settling(ctx)
	defer cancel()
	changed, err := t.tree.PutBack(ctx, f.Head, func(path string) bool {
		return slices.ContainsFunc(patterns, func(glob string) bool { return globs.Covers(glob, path) })
	})
	f.written = append(f.written, changed...)
	if len(changed) > 0 {
		f.Note("tamper", text.Listed(changed)+", which is protected, was changed while "+check.Name+" ran; relay put it back")
	}
	if err == nil {
		return nil
	}
	if guarding := t.guard(ctx, f); guarding != nil || f.Outcome == attempts.Success { // the check may have damaged .git
		return errors.Join(err, guarding)
	}
	return nil
}

// passes runs one check and fails the attempt when it does not pass.
func (t *checkoutAttempt) passes(ctx context.Context, check checks.Check, f *state) (checks.Result, error) {
	s, err := t.checks.Run(ctx, t.checkSite(t.a, t.p), check)
	if ctx.Err() != nil {
		checks.FailStopped(check, &f.Result)
		return s, nil //nolint:nilerr // the attempt ends as stopped
	}
	if err != nil {
		return s, err
	}
	f.Receipt.Checks = append(f.Receipt.Checks, s.Run)
	switch {
	case check.OfEpic && s.Red() && t.redBefore(ctx, check, s, f):
	case s.Unseen:
		checks.FailUnseen(check, &f.Result)
	case !s.Passed():
		f.Fail(attempts.Check, attempts.TestFailure, t.checks.WhyNow(check, s))
		if s.Red() && strings.Contains(check.Run, evidence.FindMissing(s.Run).Name) { // what only scripts call may be the agent's own
			t.checks.FailIfCannotRun(ctx, t.a, check, s.Run, &f.Result)
		}
	}
	return s, nil
}

// redBefore reports whether a check of the epic could not run at all before the work either, or failed in the same way: it is
// held against no task.
func (t *checkoutAttempt) redBefore(ctx context.Context, check checks.Check, s checks.Result, f *state) bool {
	base, known := f.onBase[check.Key()]
	switch {
	case !known || !base.Red():
		return false
	case t.checks.CannotRun(ctx, check, base.Run, t.a.Base) != "":
		return true
	case checks.Difference(base, s) != "":
		return false
	}
	f.Receipt.Checks[len(f.Receipt.Checks)-1].Attribution = attempts.BrokenBefore
	f.Note("broken_before", check.Name+" fails on the base of "+t.a.Task.ID+" too; it is not held against the task")
	return true
}

// unchanged returns the claimed paths that git does not list.
func unchanged(claimed []string, names []reanchor.Change) []string {
	var missing []string
	for _, p := range claimed {
		clean := cleanClaim(p) // an agent may give whole paths: what it says is compared, not trusted
		if !slices.ContainsFunc(names, func(n reanchor.Change) bool { return n.Path == clean || strings.HasSuffix(clean, "/"+n.Path) }) {
			missing = append(missing, p)
		}
	}
	return missing
}

func cleanClaim(p string) string { return path.Clean(filepath.ToSlash(p)) }
