package worker

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"relay/attempts"
	"relay/orchestrator/changes"
	"relay/orchestrator/engine"
	"relay/orchestrator/worker/steering"
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
	if f.Outcome != attempts.Success || len(names) == 0 && !c.allowsNoChange(a, f) {
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
	diff := changes.Diff{Repo: c.repo, Plan: c.o.Epic, Task: &a.Task, Base: a.Base, Head: f.Head, Names: names, Steers: steering.Matches, Result: &f.Result}
	err := diff.Judge(ctx)
	f.Found = diff.Found
	return err
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
