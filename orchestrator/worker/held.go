package worker

import (
	"context"

	"relay/attempts"
	"relay/orchestrator/engine"
)

// holdBack ends an attempt before its agent begins when a check of the task cannot run at all, whatever the agent does. The
// task waits until nothing else is left to do: what lands meanwhile may bring what the check lacks. A check of the epic
// that cannot run is told once; what is red before the work is held against no task.
func (g *workspace) holdBack(ctx context.Context, a engine.Attempt, check numbered, s checkResult, f *state) (held bool) {
	if !s.red() {
		return false
	}
	why := g.remedy(ctx, check, s.run, a.Base)
	if why == "" {
		return false
	}
	if !check.ofEpic {
		s.run.Phase = attempts.PhaseBaseline
		f.Receipt.Checks = append(f.Receipt.Checks, s.run)
		f.Fail(attempts.Environment, attempts.MissingDependency, why)
		f.Held = true
		return true
	}
	if _, told := g.unable.LoadOrStore(check.Name, true); !told {
		f.Note("check", "a check of the epic, "+why+"; until then it proves nothing")
	}
	return false
}

// cannotRun finds it no fault of the agent's that a check of the task failed on its work when it could not run there,
// whatever the agent did. The next agent would be asked in vain as well.
func (g *workspace) cannotRun(ctx context.Context, a engine.Attempt, check numbered, run attempts.CheckRun, f *state) {
	if why := g.remedy(ctx, check, run, a.Base); why != "" {
		f.Fail(attempts.Environment, attempts.MissingDependency, why)
		f.Gate = attempts.Infrastructure
	}
}
