package session

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/epic"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator"
	"relay/orchestrator/bench"
	"relay/orchestrator/engine"
	"relay/orchestrator/report"
	"relay/orchestrator/view"
	"relay/runners/sandbox"
)

// lastRun returns the report of the last run of this checkout that ended, and whether it had no sandbox, or commands outside of it, which
// may need what that refuses.
func lastRun(ctx context.Context, p *project.Project) (last report.Report, bare bool) {
	text, err := os.ReadFile(filepath.Join(project.LastEnded(ctx, p), "report.json"))
	_ = json.Unmarshal(text, &last) // what cannot be read tells of no sandbox
	return last, err == nil && !slices.ContainsFunc(last.Runs, func(r view.OneRun) bool { return r.Sandbox != "" })
}

// AsLastRun has set-up and the checks of the epic run outside of the sandbox as in the last run, and returns what to say of it.
func AsLastRun(ctx context.Context, p *project.Project, o *orchestrator.Options) (remarks []string) {
	box := cli.Sandbox(ctx, p)
	last, bare := lastRun(ctx, p)
	outside := slices.Concat(each.Of(last.Runs, func(r view.OneRun) []string { return r.Outside })...)
	if bare && len(outside) == 0 {
		outside = []string{sandbox.All}
	}
	if !box.Holds("") || box.Setting != sandbox.Auto {
		return nil
	}
	list := slices.Concat([]string{sandbox.All}, o.Worktree.Setup, each.Of(o.Epic.Checks, func(c epic.Check) string { return c.Run }))
	box.Outside = each.Where(list, func(run string) (string, bool) { return run, slices.Contains(outside, run) })
	return each.Of(box.Outside, func(run string) string { return "outside of the sandbox, as in the last run: " + run })
}

// tryInside has the set-up and the checks that fail only in the sandbox run outside until this relay work ends, if the last run was bare.
// It tries them on what the run begins from, before an agent has worked. It returns what to say of it.
func tryInside(ctx context.Context, s *session, o *orchestrator.Options) (remarks []string) {
	box := cli.Sandbox(ctx, s.project)
	if !s.command.bare || s.reloads > 0 || !box.Holds("") || box.Setting != sandbox.Auto {
		return nil
	}
	if o.Isolation != engine.IsolationWorktree { // a trial would change the checkout before the run begins
		box.Outside = []string{sandbox.All}
		return []string{"sandbox: checks run outside in this run, as the last run had none; relay check --run tries them inside"}
	}
	s.command.say("trying set-up and checks in the sandbox, which did not hold all of the last run")
	found := onlyInside(ctx, s, o, box)
	box.Outside = each.Of(found, func(f failing) string { return f.command })
	for _, f := range found {
		remarks = append(remarks, "sandbox: outside in this run, as it fails only inside: "+f.command+plaintext.Fit(f.why, 300))
	}
	if len(found) > 0 {
		remarks = append(remarks, "sandbox: these run outside until relay.sandbox_write and relay.sandbox_sockets, in your own "+
			"settings, allow what they need; relay check --run tries them")
	}
	return remarks
}

// failing is a command that fails in the sandbox, with why.
type failing struct{ command, why string }

// onlyInside returns the commands that fail inside and succeed outside. It finds none if a trial cannot be made: the run says why.
func onlyInside(ctx context.Context, s *session, o *orchestrator.Options, box *sandbox.Sandbox) (found []failing) {
	view, err := s.project.View(s.plan)
	open, unknown := o.EngineFactory()
	if err != nil || unknown != nil {
		return nil
	}
	try := func(outside []failing) bench.Tried {
		box.Outside = each.Of(outside, func(f failing) string { return f.command })
		tried, err := bench.TryChecks(ctx, open, &o.LocalOptions, view.Ledger, false)
		if err != nil {
			tried.Unready = err.Error()
		}
		return tried
	}
	inside := try(nil)
	if why := inside.Unready; why != "" {
		found = each.Of(o.Worktree.Setup, func(line string) failing { return failing{line, ""} })
		if inside = try(found); inside.Unready != "" || len(found) == 0 {
			return nil
		}
		found[len(found)-1].why = ": " + why
	}
	red := slices.Clone(found)
	for _, c := range inside.Checks {
		if !c.Passed {
			red = append(red, failing{c.Check.Run, ": " + c.Said})
		}
	}
	if len(red) == len(found) {
		return found
	}
	for i, c := range try(red).Checks {
		if before := inside.Checks[min(i, len(inside.Checks)-1)]; c.Passed && !before.Passed && before.Check.Run == c.Check.Run {
			found = append(found, failing{c.Check.Run, ": " + before.Said})
		}
	}
	return slices.CompactFunc(found, func(a, b failing) bool { return a.command == b.command })
}
