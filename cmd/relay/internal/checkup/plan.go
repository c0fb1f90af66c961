package checkup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/configs"
	"relay/epic/pattern"
	"relay/epic/plaintext"
	"relay/orchestrator/bench"
	"relay/orchestrator/limits"
	"relay/reanchor/git"
	"relay/runners/command"
	"relay/runners/sandbox"
)

// epic reads the plan and says what in it nothing would prove.
func checkEpic(c *checkup) bool {
	plan, err := c.project.Plan()
	if err != nil {
		c.fail("epic", err)
		return false
	}
	c.plan = plan
	c.add(OK, "epic", fmt.Sprintf("%s, %s", plan.Epic.ID, plaintext.Count(len(plan.Epic.Tasks), "task")), "")
	for i, w := range project.Unproved(plan.Epic) {
		if i == project.MaxWarnings {
			c.add(Warn, "epic", fmt.Sprintf("and %s more like this", plaintext.Count(len(project.Unproved(plan.Epic))-i, "task")), "")
			break
		}
		fix := "write the commands that prove it under checks: in "
		if w.Message == project.NoCriteria {
			fix = "say what must be true under acceptance_criteria: in "
		}
		c.add(Warn, "epic", w.Task+" "+w.Message, fix+c.project.Rel(c.project.File("epic.yml")))
	}
	return true
}

// budget checks what a run may cost, and whether the caps can be kept.
func checkBudget(c *checkup) {
	p, caps := c.project, &project.Caps{Agents: c.project.Agents, Plan: c.plan}
	if err := caps.Check(); err != nil {
		c.fail("budget", err)
		return
	}
	if view, err := p.View(c.plan); err == nil {
		if over := limits.EpicExhausted(project.Budget(p.Config), view.Ledger); over != nil {
			c.fail("budget", &terminal.Hinted{Err: errors.New(over.Error()), Hint: project.RaiseEpicBudget, Code: terminal.Stopped})
			return
		}
	}
	for _, text := range caps.UncountedWarning() {
		c.add(Warn, "budget", text, "add their prices (relay.prices), or set relay.budget_usd: 0 for no limit")
	}
	c.add(OK, "budget", caps.Text(), "")
	for _, text := range caps.Reports() {
		c.add(OK, "budget", text, "")
	}
}

// bash is what bash reads and sh need not.
var bash = pattern.New(`\[\[ |<\(|\bpipefail\b|<<<|^\s*source `)

// runChecks runs every check once on the commit that a run would begin from, as a run does before each agent.
func runChecks(ctx context.Context, c *checkup) {
	view, err := c.project.View(c.plan)
	if err != nil {
		return // another point says so
	}
	if view.Running {
		c.add(Warn, "checks", "checks are not tried while a run is active", "relay status --watch")
		return
	}
	if err := c.programs.start(); err != nil {
		c.fail("checks", err)
		return
	}
	o := c.host.RunOptions(ctx, c.project, c.plan)
	o.Supervisor = cli.Walled(ctx, c.project, c.programs.guardian, "")
	open, err := o.EngineFactory()
	if err != nil {
		c.fail("checks", err)
		return
	}
	tried, err := bench.TryChecks(ctx, open, &o.LocalOptions, view.Ledger, true)
	switch {
	case err != nil:
		c.fail("checks", err)
	case tried.Unready != "":
		c.add(Fail, "checks", "task checkouts cannot be set up: "+tried.Unready, "correct relay.worktree")
	default:
		reportChecks(c, tried.Checks)
	}
	reportTried(c, &tried, command.ShellName(o.Env))
}

// reportTried reports what the trial of the checks tells of hooks, of the shell and of the sandbox.
func reportTried(c *checkup, tried *bench.Tried, shell string) {
	for _, t := range tried.Checks {
		if t.Hook && !t.Passed {
			c.add(Fail, "hooks", "where nothing has changed, "+plaintext.FirstOf(t.CannotRun, t.How), "no task can land like this: correct the hook, or set relay.hooks: false")
		}
		if !t.Passed && bash.MatchString(t.Check.Run) && shell == "sh" {
			c.add(Warn, "checks", t.Check.Name+" is written for bash, and sh runs it: bash is not on the PATH", "install bash, or write it for sh")
		}
	}
	if tried.Logins {
		hint := "to give them at once, in " + configs.LocalFile + ":\n" + sandbox.Settings([]string{sandbox.Logins})
		c.add(Warn, "sandbox", strings.TrimPrefix(bench.LoginsGiven, "sandbox: "), hint)
	}
	if refused := slices.Compact(slices.Sorted(slices.Values(tried.Refused))); sandbox.Settings(refused) != "" {
		c.add(Warn, "sandbox", "it refuses "+plaintext.Listed(refused), "to allow that, in "+configs.LocalFile+":\n"+sandbox.Settings(refused))
	}
	if len(tried.Changed) > 0 {
		c.add(Warn, "checks", "the checks have changed "+plaintext.Some(tried.Changed, 3)+" in your checkout", "look at git status; git restore puts a file back")
	}
}

// checkProtected reports globs that protect nothing of what is in the repository.
func checkProtected(ctx context.Context, c *checkup) {
	patterns := slices.Clone(c.plan.Epic.Protected)
	for i := range c.plan.Epic.Tasks {
		patterns = append(patterns, c.plan.Epic.Tasks[i].Protected...)
	}
	slices.Sort(patterns)
	if patterns = slices.Compact(patterns); len(patterns) == 0 {
		return
	}
	out, err := c.project.Git.Run(ctx, git.Call{Args: []string{"ls-files", "-z"}, Limit: maxNames})
	if err != nil {
		c.fail("protected", err)
		return
	}
	files := strings.Split(string(out), "\x00")
	covered := func(glob string) bool {
		return slices.ContainsFunc(files, func(p string) bool { return pattern.Covers(glob, p) })
	}
	for _, glob := range patterns {
		if covered(glob) {
			continue
		}
		fix := "write the path as git ls-files shows it"
		if deep := "**/" + glob; !strings.Contains(glob, "/") && covered(deep) {
			fix = "write " + deep + ": without a slash it is about the root only"
		}
		c.add(Warn, "protected", glob+" covers no file that git has", fix)
	}
}
