package worker

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"relay/attempts"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/text"
	"relay/orchestrator/worker/provision"
	"relay/reanchor"
	"relay/runners"
	"relay/runners/shell"
)

// provision makes a fresh slot ready for work: it puts the untracked files there that are configured and runs the set-up commands.
// When one of these fails, f fails: no agent can be blamed for what would follow.
func (g *workspace) provision(ctx context.Context, at checks.Location, files *provision.Files, ofEpic bool, f *state) error {
	if files.Configured() {
		why, err := files.Put(ctx, at.Dir)
		if err != nil {
			return err
		}
		if why != "" {
			f.Fail(attempts.Environment, attempts.MissingDependency, why)
		}
		if f.Outcome != attempts.Success {
			return nil
		}
	}
	if len(g.o.Worktree.Setup) == 0 {
		return nil
	}
	return g.user.RunForUser(func() error { return g.setUp(ctx, at, ofEpic, f) })
}

// setUp runs the set-up commands in a fresh slot.
func (g *workspace) setUp(ctx context.Context, at checks.Location, ofEpic bool, f *state) error {
	w := g.o.Worktree
	for i, command := range w.Setup {
		log := filepath.Join(at.Logs, fmt.Sprintf("%d-setup.log", i+1))
		if err := g.makeRoom(log); err != nil {
			return err
		}
		g.emit(engine.Event{Task: at.Attempt.Task.ID, Kind: engine.KindSettingUp, Detail: runners.Event{Text: command}})
		report, err := shell.Run(ctx, g.o.Supervisor, shell.Request{
			Mark: at.Attempt.Mark(), Dir: at.Dir, Run: command, Log: log, Env: g.commandEnv(at.Attempt, ofEpic),
			Wall: w.SetupWall, StopGrace: g.o.Limits.StopGrace, Cap: g.o.Limits.OutputCap,
		})
		switch {
		case ctx.Err() != nil:
			f.Fail(attempts.Stopped, attempts.Interrupted, "the run was stopped while "+command+" ran")
			return nil //nolint:nilerr // the attempt ends as stopped
		case err != nil:
			return err
		case checks.Unknown(report) || report.TimedOut || report.Exit.Code != 0:
			how := checks.With(ending(report, w.SetupWall), checks.Said(log))
			f.Fail(attempts.Environment, attempts.MissingDependency, fmt.Sprintf("set-up command %q: %s", command, how))
			rel, _ := filepath.Rel(g.o.Dir, log)
			f.Receipt.Checks = append(f.Receipt.Checks, attempts.CheckRun{
				Name: command, ExitCode: report.Exit.Code, Tail: report.Tail,
				Log: filepath.ToSlash(rel), SHA256: checks.LogSum(log), Phase: attempts.PhaseBaseline,
			})
			return nil
		}
	}
	return nil
}

// ending says how a command ended.
func ending(r shell.Report, wall time.Duration) string {
	switch {
	case r.TimedOut:
		return checks.TooMuch(r.Flooded, wall)
	case checks.Unknown(r):
		return "the process that watched it died"
	}
	return runners.DescribeExit(r.Exit)
}

// refuseProvisioned fails work that has files in it which relay had brought and which nobody has ever committed: they would land,
// and be pushed with the rest.
func (w *slotAttempt) refuseProvisioned(names []reanchor.Change, f *state) {
	var brought []string
	for _, n := range names {
		if n.Code != "M" && n.Code != "D" && w.files.Has(n.Path) {
			brought = append(brought, n.Path)
		}
	}
	if len(brought) > 0 && f.Outcome == attempts.Success {
		f.Fail(attempts.Agent, attempts.CodeError, "the agent committed "+text.Listed(brought)+", which the user has in no commit and relay had brought here; it is kept, but not landed")
	}
}

// excludesName lists, below a run's folder, what agents' git ignores.
const excludesName = "excludes"

// excludeProvisioned has agents' git ignore the files that slots get.
func (s *slotEngine) excludeProvisioned(ctx context.Context) error {
	if !s.files.Configured() {
		return nil
	}
	s.excludes = filepath.Join(s.o.Dir, "runs", s.o.Run, excludesName)
	return s.files.WriteExcludes(ctx, s.excludes)
}
