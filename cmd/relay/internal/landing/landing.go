// Package landing lands finished epics, opens their pull requests, and removes what ended runs have left.
//
// finish.go is relay finish, and playlist.go lands the epics of a playlist with it.
//
// landing.go looks at the work of an epic before relay finish lands or pushes it: for secrets in its commits, and for checks that fail on
// the result.
//
// pullrequest.go pushes the branch of an epic and opens a pull request for it with the program of its host.
//
// clean.go is relay clean, and transcripts.go what it does with --sessions.
package landing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/session"
	"relay/cmd/relay/internal/terminal"
	"relay/cmd/relay/internal/trust"
	"relay/epic"
	"relay/epic/plaintext"
	"relay/orchestrator/bench"
	"relay/orchestrator/collect"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/finish"
	"relay/orchestrator/verdict"
	"relay/reanchor/git"
)

// candidate is the work of an epic that is to land.
// With the flag PR it is for a pull request, and is not joined with the branch here.
type candidate struct {
	flags   *Finish
	project *project.Project
	plan    *project.Plan
	view    *attempts.View
	step    *finish.Step
	store   *attempts.Store // with the events that the view is of
}

// check refuses commits that add secrets, and a result on which a check of the epic fails that passes on the branch now. The checks run
// only where there is a doubt, and not with NoChecks or DryRun. It reports whether the work would be joined untested with what others did.
func (c candidate) check(ctx context.Context) (untested bool, err error) {
	if untested = c.step.How == finish.MergeCommit || c.step.How == finish.Replay; c.step.How == finish.NothingToLand || c.flags.DryRun {
		return untested, nil
	}
	if err := c.refuseSecrets(ctx); err != nil {
		return untested, err
	}
	why := c.doubt()
	if why == "" || c.flags.NoChecks {
		return untested, nil
	}
	fmt.Fprintf(c.flags.App.Err, "relay: %s: running the checks of the epic on the result\n", why)
	red, err := c.test(ctx)
	for _, how := range red {
		fmt.Fprintf(c.flags.App.Err, "relay: warning: %s, as on %s\n", how, c.step.Into)
	}
	if err == nil && c.store.Unproved() {
		c.store.Prove()
	}
	return err != nil, err
}

// refuseSecrets fails if a commit that would land adds a secret, unless a person has approved that of its task.
func (c candidate) refuseSecrets(ctx context.Context) error {
	found, err := collect.Search{Repo: c.project.Git, Rules: c.project.Redactor()}.Commits(ctx, c.step.Old, c.step.Tip)
	if errors.Is(err, git.ErrTooMuch) {
		fmt.Fprintf(c.flags.App.Err, "relay: warning: the commits of %s are too large to be searched for secrets\n", c.step.Name)
		return nil
	}
	if err != nil {
		return err
	}
	var open []string
	hint := ""
	for _, s := range found {
		task, err := c.taskOf(ctx, s.Commit)
		if err != nil {
			return err
		}
		rec := c.view.Ledger.Record(task)
		approved := len(rec.Looks()) == 0 && slices.ContainsFunc(rec.Attempts, func(a attempts.Attempt) bool {
			return slices.ContainsFunc(a.Receipt.Looks, func(l attempts.Look) bool { return l.Cause == verdict.SecretFound })
		})
		if approved || c.flags.NoChecks && len(rec.Looks()) == 0 {
			continue
		}
		if open = append(open, fmt.Sprintf("%s in %.12s", s, s.Commit)); hint == "" && len(rec.Looks()) > 0 {
			flag := task + c.project.EpicFlag()
			hint = "relay approve " + flag + ", if it may be pushed; relay retry " + flag + " has the task done again without it"
		}
	}
	if len(open) == 0 {
		return nil
	}
	return &terminal.Hinted{
		Err:  fmt.Errorf("nothing was landed: commits of %s add what looks like a secret: %s", c.step.Name, plaintext.Some(open, 3)),
		Hint: plaintext.FirstOf(hint, "relay finish --no-checks, if it may be pushed"), Code: terminal.Gated,
	}
}

// taskOf returns the task that a commit belongs to, as its message says.
func (c candidate) taskOf(ctx context.Context, commit string) (string, error) {
	out, err := c.project.Git.Run(ctx, git.Call{Args: []string{"log", "-1", "--format=%(trailers:key=Relay-Task,valueonly)", commit, "--"}})
	return strings.TrimSpace(string(out)), err
}

// doubt says why the checks of the epic have not been seen to pass on what would land; "": they have.
func (c candidate) doubt() string {
	merged := !c.flags.PR && (c.step.How == finish.MergeCommit || c.step.How == finish.Replay)
	switch {
	case c.store.Unproved():
		return "nothing proves all that the ledger says"
	case len(c.plan.Epic.Checks) == 0:
		return ""
	case merged:
		return c.step.Into + " has changed since"
	case c.view.Ledger.Status.State == "running":
		return "the last run was killed"
	case !c.recorded():
		return c.step.Name + " has a commit that no run recorded"
	}
	return ""
}

// recorded reports whether the branch ends in what a task has landed.
func (c candidate) recorded() bool {
	for _, rec := range c.view.Ledger.Tasks {
		if slices.ContainsFunc(rec.Attempts, func(a attempts.Attempt) bool { return a.Landed == c.step.Tip || a.Head == c.step.Tip }) {
			return true
		}
	}
	return false
}

// test runs the checks of the epic on what would land, and fails if one fails there that does not fail in the same way on the branch it
// lands on. It returns what fails on both.
func (c candidate) test(ctx context.Context) (before []string, err error) {
	commit := c.step.New
	if c.flags.PR || c.step.How == finish.FastForward {
		commit = c.step.Tip
	}
	g, err := cli.StartGuardian(c.flags.App, func() error { return trust.Ask(ctx, c.flags.App, c.project, false) })
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	s := session.Options{App: c.flags.App}
	o := s.RunOptions(ctx, c.project, c.plan)
	o.Supervisor, o.Isolation = cli.Walled(ctx, c.project, g, ""), engine.IsolationWorktree
	var proofs []epic.Check // of what tasks have done, and must pass
	if c.store.Unproved() {
		all, known := *o.Epic, map[epic.Check]bool{}
		for _, t := range all.Tasks {
			if c.view.Ledger.StatusOf(c.plan.Graph, t.ID) == attempts.Completed {
				proofs = slices.Concat(proofs, t.Checks)
			}
		}
		all.Checks = slices.DeleteFunc(slices.Concat(proofs, all.Checks), func(check epic.Check) bool { // a command that several have runs once
			check.Name, check.Expect = "", ""
			was := known[check]
			known[check] = true
			return was
		})
		o.Epic = &all
	}
	c.flags.App.Warn(session.AsLastRun(ctx, c.project, &o)...)
	open, err := o.EngineFactory()
	if err != nil {
		return nil, err
	}
	after, err := bench.TryEpic(ctx, open, &o.LocalOptions, commit)
	if err != nil {
		return nil, err
	}
	red := slices.DeleteFunc(after.Checks, func(t bench.TriedCheck) bool { return t.Passed })
	if len(red) == 0 && after.Unready == "" {
		return nil, nil
	}
	if c.store.Unproved() {
		tasks := slices.DeleteFunc(slices.Clone(red), func(t bench.TriedCheck) bool { return !slices.Contains(proofs, t.Check) })
		if tasks = append(tasks, bench.TriedCheck{How: after.Unready}); tasks[0].How != "" {
			return nil, c.refusal(tasks[0].How)
		}
	}
	o.Epic = c.plan.Epic
	was, err := bench.TryEpic(ctx, open, &o.LocalOptions, c.step.Old)
	if err != nil {
		return nil, err
	}
	return c.compare(red, was, after.Unready)
}

// compare fails if a check that is red on the result is better on the branch that it lands on, or the result could not be tested.
func (c candidate) compare(red []bench.TriedCheck, was bench.Tried, unready string) (before []string, err error) {
	switch {
	case unready != "" && was.Unready != "":
		return nil, &terminal.Hinted{
			Err:  fmt.Errorf("nothing was landed: the result cannot be tested, nor can %s: %s", c.step.Into, unready),
			Hint: "relay check --run says when set-up works again; or relay finish --no-checks", Code: terminal.Gated,
		}
	case unready != "":
		return nil, c.refusal(unready + "; it does not on " + c.step.Into)
	}
	for _, t := range red {
		i := slices.IndexFunc(was.Checks, func(w bench.TriedCheck) bool { return w.Check.Name == t.Check.Name })
		if i < 0 || was.Checks[i].Passed || t.Run.Tests().MoreFailed(was.Checks[i].Run.Tests()) {
			return nil, c.refusal(t.How + "; it does not on " + c.step.Into)
		}
		before = append(before, t.How)
	}
	return before, nil
}

func (c candidate) refusal(why string) error {
	return &terminal.Hinted{
		Err: errors.New("nothing was landed: on the result " + why),
		Hint: "git switch " + plaintext.ShellWord(c.step.Name) + " && git merge " + plaintext.ShellWord(c.step.Into) +
			", mend it, git commit; or relay finish --no-checks", Code: terminal.Gated,
	}
}
