package checkup

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"relay/cmd/relay/internal/project"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/integration"
	"relay/orchestrator/text"
)

// commitHooks are the hooks that say something of a commit.
var commitHooks = []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "pre-merge-commit"}

// hookPrograms have, by file or folder at the root of a repository, the program that puts hooks there, and the command with which it runs
// them without a commit; "" where that depends on the project.
var hookPrograms = []struct{ file, name, run string }{
	{".pre-commit-config.yaml", "pre-commit", "pre-commit run --all-files"},
	{".husky", "husky", ""},
	{"lefthook.yml", "lefthook", "lefthook run pre-commit --all-files"},
	{".lefthook.yml", "lefthook", "lefthook run pre-commit --all-files"},
	{".overcommit.yml", "overcommit", "overcommit --run"},
}

// rules reports what a repository asks of commits and what relay's own do not have: its hooks, and signatures. What they should hold
// belongs into the checks, which all work has to pass.
func (c *checkup) rules(ctx context.Context) {
	state, err := c.project.Git.State(ctx)
	if err != nil {
		return // that is told already
	}
	found := slices.DeleteFunc(state.Hooks, func(h string) bool { return !slices.Contains(commitHooks, h) })
	runs := c.project.CommitHook(ctx) != ""
	if runs {
		c.add(OK, "hooks", "pre-commit runs on what each task changes, as one more check (relay.hooks)", "")
		found = slices.DeleteFunc(found, func(h string) bool { return h == "pre-commit" })
	} else if c.project.Config.Relay.Hooks {
		c.hookless(ctx, state.Hooks)
	}
	fix := "put what they check among the checks of the epic, which all work has to pass"
	if slices.Contains(found, "pre-commit") && !c.project.Config.Relay.Hooks {
		fix = "set relay.hooks: true in .agents.yml for pre-commit, or " + fix
	}
	for _, p := range hookPrograms {
		if runs || !project.Exists(filepath.Join(c.project.Root, p.file)) {
			continue
		}
		found = append(found, p.name)
		if p.run != "" && !strings.Contains(fix, p.run) {
			fix += "; for " + p.name + ": " + p.run
		}
	}
	if len(found) > 0 {
		c.add(Warn, "hooks", "no hook runs for what relay commits: "+text.Some(found, 5), fix)
	}
	c.signing(ctx)
}

// hookless says why relay.hooks has no hook run.
func (c *checkup) hookless(ctx context.Context, hooks []string) {
	if slices.Contains(hooks, "pre-commit") {
		c.add(Warn, "hooks", "relay.hooks is set, and runs no hook with isolation "+c.project.Config.Relay.Isolation+", nor on Windows", "")
		return
	}
	file := c.project.HookFile(ctx)
	if file == "" {
		return
	}
	why, fix := "there is no "+c.project.Rel(file), "install the hooks, as pre-commit install, husky or lefthook install do it"
	if project.Exists(file) {
		why, fix = c.project.Rel(file)+" is not executable", "chmod +x "+text.ShellWord(c.project.Rel(file))
	}
	c.add(Warn, "hooks", "relay.hooks is set, and no pre-commit hook runs: "+why, fix)
}

// signing reports a signature that commits should have by the git of the user or by relay.sign, and will not have.
func (c *checkup) signing(ctx context.Context) {
	relay := &c.project.Config.Relay
	byGit, _ := c.setting(ctx, "--type=bool", "commit.gpgSign")
	worktree := engine.Isolation(relay.Isolation) == engine.IsolationWorktree
	switch {
	case worktree && relay.Sign:
		if err := integration.TrySignature(ctx, c.project.Git); err != nil && ctx.Err() == nil {
			c.add(Warn, "signing", "git cannot sign here by itself, and what lands will have no signature: "+text.Line(err.Error(), 500),
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
