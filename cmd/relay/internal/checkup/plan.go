package checkup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
	"relay/epic/globs"
	"relay/internal/lazyregexp"
	"relay/orchestrator/budget"
	"relay/orchestrator/precheck"
	"relay/orchestrator/text"
	"relay/reanchor"
	"relay/runners/shell"
)

// epic reads the plan and says what in it nothing would prove.
func (c *checkup) epic() bool {
	plan, err := c.project.Plan()
	if err != nil {
		c.fail("epic", err)
		return false
	}
	c.plan = plan
	c.add(OK, "epic", fmt.Sprintf("%s, %s", plan.Epic.ID, text.Count(len(plan.Epic.Tasks), "task")), "")
	for i, w := range project.Unproved(plan.Epic) {
		if i == project.MaxWarnings {
			c.add(Warn, "epic", fmt.Sprintf("and %s more like this", text.Count(len(project.Unproved(plan.Epic))-i, "task")), "")
			break
		}
		fix := "write the commands that prove it under checks: in "
		if t, ok := plan.Epic.Task(w.Task); ok && len(t.Checks) > 0 {
			fix = "say what must be true under acceptance_criteria: in "
		}
		c.add(Warn, "epic", w.Task+" "+w.Message, fix+c.project.Rel(c.project.File("epic.yml")))
	}
	return true
}

// budget checks what a run may cost, and whether the caps can be kept.
func (c *checkup) budget() {
	p, caps := c.project, c.project.Caps(c.plan)
	if err := caps.Check(); err != nil {
		c.fail("budget", err)
		return
	}
	if view, err := p.View(c.plan); err == nil {
		if over := budget.EpicExhausted(p.Budget(), view.Ledger); over != nil {
			c.fail("budget", &exit.Hinted{Err: errors.New(over.Error()), Hint: project.RaiseEpicBudget, Code: exit.Stopped})
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
var bash = lazyregexp.New(`\[\[ |<\(|\bpipefail\b|<<<|^\s*source `)

// runChecks runs every check once on the commit that a run would begin from, as a run does before each agent.
func (c *checkup) runChecks(ctx context.Context) {
	view, err := c.project.View(c.plan)
	if err != nil {
		return // that is told already
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
	o.Supervisor = c.programs.guardian
	open, err := o.EngineFactory()
	if err != nil {
		c.fail("checks", err)
		return
	}
	tried, err := precheck.TryChecks(ctx, open, &o.LocalOptions, view.Ledger)
	switch {
	case err != nil:
		c.fail("checks", err)
	case tried.Unready != "":
		c.add(Fail, "checks", "task checkouts cannot be set up: "+tried.Unready, "correct relay.worktree")
	default:
		reportChecks(c, tried.Checks)
	}
	for _, t := range tried.Checks {
		if t.Hook && !t.Passed {
			c.add(Fail, "hooks", "where nothing has changed, "+text.FirstOf(t.CannotRun, t.How), "no task can land like this: correct the hook, or set relay.hooks: false")
		}
		if !t.Passed && bash.MatchString(t.Check.Run) && shell.Name(o.Env) == "sh" {
			c.add(Warn, "checks", t.Check.Name+" is written for bash, and sh runs it: bash is not on the PATH", "install bash, or write it for sh")
		}
	}
	if len(tried.Changed) > 0 {
		c.add(Warn, "checks", "the checks have changed "+text.Some(tried.Changed, 3)+" in your checkout", "look at git status; git restore puts a file back")
	}
}

// ignored warns of what git ignores and checks name: task checkouts lack it. Only running them proves that.
func (c *checkup) ignored(ctx context.Context) {
	view, err := c.project.View(c.plan)
	if err != nil {
		return // that is told already
	}
	o := c.host.RunOptions(ctx, c.project, c.plan)
	lacks, err := precheck.Lacks(ctx, &o.LocalOptions, view.Ledger)
	if err != nil {
		c.fail("checks", err)
		return
	}
	for _, l := range lacks {
		c.add(Warn, "checks", fmt.Sprintf("%s: %s names %s, which is ignored by git: task checkouts lack it", text.Some(l.Whose, 3), l.Check, l.What),
			l.Set+"; relay check --run tries the checks")
	}
}

// protected reports globs that protect nothing of what is in the repository, and links of which only the link is.
func (c *checkup) protected(ctx context.Context) {
	patterns := slices.Clone(c.plan.Epic.Protected)
	for i := range c.plan.Epic.Tasks {
		patterns = append(patterns, c.plan.Epic.Tasks[i].Protected...)
	}
	slices.Sort(patterns)
	if patterns = slices.Compact(patterns); len(patterns) == 0 {
		return
	}
	out, err := c.project.Git.Run(ctx, reanchor.Call{Args: []string{"ls-files", "-s", "-z"}, Limit: 256 << 20})
	if err != nil {
		c.fail("protected", err)
		return
	}
	var files, links []string
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if mode, name, ok := strings.Cut(entry, "\t"); ok {
			files = append(files, name)
			if strings.HasPrefix(mode, "120000 ") {
				links = append(links, name)
			}
		}
	}
	covered := func(glob string) bool {
		return slices.ContainsFunc(files, func(p string) bool { return globs.Covers(glob, p) })
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
	c.protectedLinks(patterns, links)
}

// protectedLinks warns of links whose target anybody may change.
func (c *checkup) protectedLinks(patterns, links []string) {
	safe := func(p string) bool {
		return slices.ContainsFunc(patterns, func(glob string) bool { return globs.Covers(glob, p) })
	}
	for _, link := range slices.DeleteFunc(links, func(p string) bool { return !safe(p) }) {
		target, err := os.Readlink(filepath.Join(c.project.Root, filepath.FromSlash(link)))
		if err != nil {
			continue
		}
		to := path.Join(path.Dir(link), filepath.ToSlash(target))
		var fix string
		switch {
		case filepath.IsAbs(target) || !filepath.IsLocal(filepath.FromSlash(to)):
			fix = "put a file in its place: what is outside the repository cannot be protected"
		case !safe(to):
			fix = "protect " + to + " as well"
		default:
			continue
		}
		c.add(Warn, "protected", link+" is a link: what it leads to may be changed", fix)
	}
}
