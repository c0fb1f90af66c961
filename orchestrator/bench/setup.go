package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/slot"
	"relay/orchestrator/relayfiles"
	"relay/runners"
	"relay/runners/command"
	"relay/runners/sandbox"
)

// slowSetUp is how long the set-up of a slot may take to be repeated more than once.
const slowSetUp = time.Minute

// setUp is the set-up of a slot.
type setUp struct {
	*Benches
	at     checks.Location
	ofEpic bool
	role   sandbox.Role
	tr     *Trouble
	try    int    // from 0
	failed string // how a command ended at the last try
}

// repeated sets the slot up. A failed set-up is repeated after growing pauses, in the slot as refill makes it again.
func (s *setUp) repeated(ctx context.Context, refill func(context.Context) error) error {
	pauses := []time.Duration{2, 8, 30} // of 60 parts of the backoff: 1, 4 and 15 s by default
	for ; ; s.try++ {
		began, err := time.Now(), s.run(ctx)
		slow, last := time.Since(began) > slowSetUp, s.try >= len(pauses)
		if err != nil || len(s.tr.Runs) == 0 || s.at.Allow != nil {
			return err
		}
		role := s.role
		if err := s.seeRefused(ctx); err != nil || s.tr.Refused != "" || last && s.role == role {
			return err
		}
		if slow {
			s.try = len(pauses) - 1
		}
		command := s.tr.Runs[0].Name
		*s.tr = Trouble{}
		pause := time.NewTimer(pauses[min(s.try, len(pauses)-1)] * s.Checks.Options.Limits.Backoff / 60)
		select {
		case <-ctx.Done():
			pause.Stop()
			s.tr.StoppedAt(command)
			return nil
		case <-pause.C:
		}
		if err := refill(ctx); err != nil {
			return err
		}
	}
}

// seeRefused sees what the sandbox refuses a failed set-up. That of agents' work is repeated with the user's logins if set-up of the user's
// commit needs them. The task is held if only the user may allow them.
func (s *setUp) seeRefused(ctx context.Context) (err error) {
	q := checks.Question{Attempt: s.at.Attempt, Logs: s.at.Logs, Bare: s.role == sandbox.SetUpFor}
	if q.Bare && !allows(s.Checks.Options, []string{sandbox.Logins}) {
		failed := s.tr.Runs[0]
		failed.Name, failed.Refused = "set-up", []string{sandbox.Logins}
		needs, err := refuses(ctx, s.Benches, q, failed)
		switch required := s.Checks.Options.Sandbox == sandbox.Require; {
		case err != nil:
			return err
		case needs != "" && !required:
			s.role = sandbox.SetUpWith
			if _, said := s.refused.LoadOrStore(LoginsGiven, true); !said {
				s.Checks.Emit(engine.Event{Task: s.at.Attempt.Task.ID, Kind: engine.KindNote, Detail: runners.Event{Text: LoginsGiven}})
			}
			return nil
		case needs != "":
			s.tr.Runs, s.tr.Refused = []attempts.CheckRun{failed}, needs
			s.refused.Store(sandbox.Logins, *s.tr) // no agent is asked for what cannot be checked
			return nil
		}
	}
	s.tr.Refused, err = refuses(ctx, s.Benches, q, s.tr.Runs[0])
	return err
}

// LoginsGiven is said once in a run.
const LoginsGiven = "sandbox: set-up of agents' work has your registry logins and ssh agent, as it fails without, on your commit, too"

// run puts the files and runs the commands, until one fails.
func (s *setUp) run(ctx context.Context) error {
	if err := s.put(ctx, s.at, s.tr); err != nil || s.tr.Any() {
		return err
	}
	return s.commands(ctx, s.Checks.Options.Worktree.Setup, s.Checks.Options.Worktree.SetupWall)
}

// commands runs commands, until one fails; wall is the limit of each.
func (s *setUp) commands(ctx context.Context, lines []string, wall time.Duration) error {
	o := s.Checks.Options
	for i, line := range lines {
		req := command.ShellRequest{
			Mark: s.at.Attempt.Mark(), Role: s.role, Allow: s.at.Allow, Dir: s.at.Dir, Run: line,
			Env: Env(o, s.at.Dir, s.Env(s.at.Attempt, s.ofEpic)), Wall: wall, StopGrace: o.Limits.StopGrace, Cap: o.Limits.OutputCap,
			Log: filepath.Join(s.at.Logs, fmt.Sprintf("%d-setup.log", i+1)), DiskFloor: o.Limits.DiskFloor,
		}
		detail := runners.Event{Text: line}
		if strings.HasPrefix(line, slot.SubmoduleSetUp) {
			detail.Text = "submodules"
		}
		if s.try > 0 {
			req.Log = filepath.Join(s.at.Logs, fmt.Sprintf("%d-setup-again-%d.log", i+1, s.try))
			detail.Text += ", again after " + s.failed
		}
		if err := relayfiles.MakeRoom(o.Dir, req.Log); err != nil {
			return err
		}
		s.Checks.Emit(engine.Event{Task: s.at.Attempt.Task.ID, Kind: engine.KindSettingUp, Detail: detail})
		report, err := command.RunShell(ctx, o.Supervisor, req)
		switch {
		case ctx.Err() != nil:
			s.tr.StoppedAt(line)
			return nil //nolint:nilerr // the attempt ends as stopped
		case err != nil:
			return err
		case checks.Unknown(report) || report.TimedOut || report.Exit.Code != 0:
			s.failed = ending(report, wall)
			s.tr.SetUp = fmt.Sprintf("set-up command %q: %s", line, checks.With(s.failed, checks.Said(req.Log)))
			s.tr.Runs = append(s.tr.Runs, attempts.CheckRun{
				Name: line, ExitCode: report.Exit.Code, Tail: report.Tail, Refused: strings.Fields(report.Exit.Refused),
				Log: plaintext.Relative(o.Dir, req.Log), SHA256: checks.LogSum(req.Log), Phase: attempts.PhaseBaseline,
			})
			return nil
		}
	}
	return nil
}

const lost = "the process that watched it died"

// ending says how a command ended.
func ending(r command.ShellReport, wall time.Duration) string {
	switch {
	case r.TimedOut:
		return checks.TooMuch(r.Flooded, wall)
	case checks.Unknown(r):
		return lost
	}
	return runners.DescribeExit(r.Exit)
}
