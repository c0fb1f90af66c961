package checkup

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/integration"
	"relay/orchestrator/git/worktree"
	"relay/orchestrator/merge"
	"relay/orchestrator/relayfiles"
	"relay/reanchor/git"
)

func checkRepository(ctx context.Context, c *checkup) {
	facts, err := c.project.Git.Facts(ctx, 1)
	if err != nil {
		gitFailed(c, err)
		return
	}
	listed := c.project.Config != nil
	isolation := string(engine.IsolationWorktree) // the default, while the setting cannot be read
	if listed {
		isolation = c.project.Config.Relay.Isolation
	}
	apart := isolation == string(engine.IsolationWorktree) // then the run begins from HEAD's commit, whatever is under way here
	switch {
	case facts.Head == "":
		c.add(Fail, "repository", "there is no commit yet, so nothing to go back to", "git add -A && git commit --allow-empty -m Begin")
		return
	case facts.Branch == "" && !apart:
		c.add(Fail, "repository", "HEAD is detached: the work would be on no branch", "git switch -c BRANCH")
		return
	case facts.Unmerged && !apart:
		c.add(Fail, "repository", "a merge or rebase is half done", "finish it, or git merge --abort or git rebase --abort")
		return
	case facts.Branch == "":
		c.add(Warn, "repository", fmt.Sprintf("HEAD is detached at %.12s: relay finish will not know where the work belongs", facts.Head), "git switch BRANCH now, or later relay finish --into BRANCH")
	default:
		c.add(OK, "repository", fmt.Sprintf("branch %s at %.12s", facts.Branch, facts.Head), "")
		if words, fix := project.Behind(ctx, c.project.Git); words != "" {
			c.add(Warn, "repository", words, fix)
		}
	}
	changed := worktree.TrackedRecords(ctx, c.project.Git, facts.Changes)
	switch {
	case len(changed) == 0 || !listed: // it may be the configuration itself
	case isolation == "none":
		c.add(Fail, "repository", "uncommitted changes: "+plaintext.Listed(changed), worktree.CommitHint(ctx, c.project.Git, changed, ""))
	case apart:
		c.add(Warn, "repository", "uncommitted changes are not part of the run, and stay as they are: "+plaintext.Listed(changed), "git commit them if the tasks need them")
	}
}

// gitFailed reports that git could not read the repository's state. A filter's program that is missing stops it even
// there.
func gitFailed(c *checkup, err error) {
	c.fail("repository", err)
	if answer := err.Error(); strings.Contains(answer, "hung up unexpectedly") || strings.Contains(answer, "packet write") ||
		strings.Contains(answer, " filter '") {
		c.points[len(c.points)-1].Fix = "install what git config --get-regexp ^filter names, with which this repository keeps some of its files"
	}
}

func checkLedger(ctx context.Context, c *checkup) {
	view, err := c.project.View(c.plan)
	if err != nil {
		c.fail("ledger", err)
		return
	}
	if view.Wrong != nil && view.Edit == "" {
		c.fail("ledger", view.Wrong)
		return
	}
	for _, w := range view.Warnings {
		c.add(Warn, "ledger", w, "relay ledger validate")
	}
	switch {
	case view.Edit != "":
		c.add(Fail, "ledger", "attempt-ledger.yml was edited by someone else", "relay ledger accept, or relay ledger repair")
		return
	case view.Running:
		c.add(Warn, "ledger", "a run is active: "+terminal.HolderText(view.Holder), "relay status --watch")
		return
	}
	// A run of this epic in another checkout of the repository, and what one has made.
	err = relayfiles.EpicFree(c.project.Git, c.plan.Epic.ID, c.project.Dir)
	if err == nil && c.project.Config.Relay.Isolation == string(engine.IsolationWorktree) {
		err = relayfiles.RefuseForeign(ctx, c.project.Git, c.plan.Epic.ID, relayfiles.LedgerViewOf(view.Ledger, c.project.Dir))
	}
	if err != nil {
		c.fail("epic", err)
	}
	addBase(ctx, c, view.Ledger)
	counts := decide.CountTasks(view.Ledger, c.plan.Graph)
	words := fmt.Sprintf("%d of %d completed", counts.Completed, counts.Total)
	if counts.Gated > 0 {
		c.add(Warn, "ledger", fmt.Sprintf("%s, %d gated, %d blocked", words, counts.Gated, counts.Blocked), "relay status names them and says what to do")
		return
	}
	c.add(OK, "ledger", words, "")
}

// addBase says what the integration branch lacks of the branch that the epic began from, and what the next run does about that.
func addBase(ctx context.Context, c *checkup, l *attempts.Ledger) {
	mode, name := integration.Mode(c.project.Config.Relay.Landing), "relay/"+c.plan.Epic.ID
	b := integration.NewBranch(c.project.Git, c.plan.Epic.ID, mode)
	tip, err := b.Tip(ctx)
	lacks, failed := integration.FindBehind(ctx, b, tip, l.Integration.From)
	if err != nil || failed != nil || lacks.Commits == 0 || c.project.Config.Relay.Isolation != string(engine.IsolationWorktree) {
		return // relay work says what is wrong with the branch
	}
	will, state, fix := "moves it there first", OK, ""
	if !lacks.Straight {
		will = "merges them, unless that conflicts or a check of the epic fails"
		if why, err := merge.KeepsApart(ctx, b, mode, tip, lacks); err != nil || why != "" {
			will, state, fix = "begins without"+why, Warn, lacks.ByHand(name)
		}
	}
	c.add(state, "epic", name+" lacks "+lacks.Text()+": the next relay work "+will, fix)
}

// commitHooks are the hooks that say something of a commit. One that runs after it, as git-lfs has, cannot refuse it.
var commitHooks = []string{"pre-commit", "prepare-commit-msg", "commit-msg", "pre-merge-commit"}

// hookPrograms have, by file or folder at the root of a repository, the program that puts hooks there, and the command with which it runs
// them without a commit; "" where that depends on the project.
var hookPrograms = []struct{ file, name, run string }{
	{".pre-commit-config.yaml", "pre-commit", "pre-commit run --all-files"},
	{".husky", "husky", ""},
	{"lefthook.yml", "lefthook", "lefthook run pre-commit --all-files"},
	{".lefthook.yml", "lefthook", "lefthook run pre-commit --all-files"},
	{".overcommit.yml", "overcommit", "overcommit --run"},
}

// rules reports what a repository asks of commits and what relay's own do not have: its hooks, and signatures. Put what they check
// into the checks, which all work has to pass.
func checkRules(ctx context.Context, c *checkup) {
	all, err := git.Hooks(ctx, c.project.Git)
	if err != nil {
		return // another point says so
	}
	found := slices.DeleteFunc(slices.Clone(all), func(h string) bool { return !slices.Contains(commitHooks, h) })
	runs := project.CommitHook(ctx, c.project) != ""
	if runs {
		c.add(OK, "hooks", "pre-commit runs on what each task changes, as one more check (relay.hooks)", "")
		found = slices.DeleteFunc(found, func(h string) bool { return h == "pre-commit" })
	} else if c.project.Config.Relay.Hooks {
		hookless(ctx, c, all)
	}
	fix := "put what they check among the checks of the epic, which all work has to pass"
	if slices.Contains(found, "pre-commit") && !c.project.Config.Relay.Hooks {
		fix = "set relay.hooks: true in .agents.yml for pre-commit, or " + fix
	}
	for _, p := range hookPrograms {
		if runs || !git.Exists(filepath.Join(c.project.Root, p.file)) {
			continue
		}
		found = append(found, p.name)
		if p.run != "" && !strings.Contains(fix, p.run) {
			fix += "; for " + p.name + ": " + p.run
		}
	}
	if len(found) > 0 {
		c.add(Warn, "hooks", "hooks do not run when relay commits: "+plaintext.Some(found, 5), fix)
	}
	checkSigning(ctx, c)
}

// hookless says why relay.hooks has no hook run.
func hookless(ctx context.Context, c *checkup, hooks []string) {
	if slices.Contains(hooks, "pre-commit") {
		c.add(Warn, "hooks", "relay.hooks is set, and runs no hook with isolation "+c.project.Config.Relay.Isolation, "")
		return
	}
	if file := project.HookFile(ctx, c.project); file != "" {
		file = c.project.Rel(file)
		c.add(Warn, "hooks", "relay.hooks is set, and no pre-commit hook runs: "+file+" is missing or not executable",
			"install the hooks, as pre-commit install, husky or lefthook install do it, or chmod +x "+plaintext.ShellWord(file))
	}
}

// checkSigning reports a signature that commits should have by the git of the user or by relay.sign, and will not have.
func checkSigning(ctx context.Context, c *checkup) {
	relay := &c.project.Config.Relay
	byGit, _ := c.setting(ctx, "--type=bool", "commit.gpgSign")
	worktree := engine.Isolation(relay.Isolation) == engine.IsolationWorktree
	switch {
	case worktree && relay.Sign:
		if err := integration.TrySignature(ctx, c.project.Git); err != nil && ctx.Err() == nil {
			c.add(Warn, "signing", "git cannot sign here by itself, and what lands will have no signature: "+plaintext.Fit(err.Error(), 500),
				"give git a key that asks for nothing (user.signingkey), or set relay.sign: false")
		}
	case worktree && byGit == "true":
		c.add(Warn, "signing", "what relay commits is not signed, whatever commit.gpgSign says",
			"set relay.sign: true in .agents.yml, if the key asks for no passphrase")
	case relay.Sign || byGit == "true":
		c.add(Warn, "signing", "what relay commits is not signed with isolation "+relay.Isolation,
			`sign it in the morning, if your host wants that: git rebase --exec "git commit --amend --no-edit -S" BRANCH`)
	}
}
