package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/epic/globs"
	"relay/orchestrator/engine"
	"relay/orchestrator/evidence"
	"relay/orchestrator/text"
	"relay/reanchor"
	"relay/runners"
	"relay/runners/shell"
)

// verifyDiff looks at what a claimed success changed: something must have changed, nothing protected, and no test away.
func (c *checkout) verifyDiff(ctx context.Context, a engine.Attempt, names []reanchor.Change, f *state) error {
	if f.Outcome != attempts.Success {
		f.provedByNothing(a.Known.Passing)
		return nil
	}
	if err := c.withdraw(ctx, a, names, f); err != nil || f.Outcome != attempts.Success {
		return err
	}
	if len(names) == 0 && len(a.Task.Checks) == 0 {
		f.judgeLeftovers()
	}
	if f.Outcome != attempts.Success || len(names) == 0 && !c.nothing(a, f) {
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
	return errors.Join(c.testsKept(ctx, a, names, f), c.checksKept(ctx, a, names, f), c.findOldTests(ctx, a, names, f))
}

// protectedHits returns the changed paths that a protected glob covers.
func protectedHits(patterns []string, names []reanchor.Change) []string {
	var hits []string
	for _, n := range names {
		for _, p := range []string{n.Path, n.From} {
			if p != "" && slices.ContainsFunc(patterns, func(g string) bool { return globs.Covers(g, p) }) {
				hits = append(hits, p)
			}
		}
	}
	return hits
}

// trial runs acceptance commands for one attempt in one place.
type trial struct {
	*workspace
	a   engine.Attempt
	p   attemptFiles
	dir string
}

func (c *checkout) trial(a engine.Attempt, p attemptFiles) trial {
	return trial{c.workspace, a, p, c.repo.Root()}
}

// commandEnv is what a command is told. One that is about the whole epic is not told for which task it is run: what it says
// holds for others as well.
func (g *workspace) commandEnv(a engine.Attempt, ofEpic bool) []string {
	env := append(g.env(a, ""), g.o.CommandEnv...)
	if ofEpic {
		env = slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, "RELAY_TASK=") })
	}
	return env
}

// runChecks runs the acceptance commands, the task's own and then the epic's, and fails the finding with the first that
// does not pass. Side by side the epic's are left out: they would judge what the neighbours have half done.
func (c *checkout) runChecks(ctx context.Context, a engine.Attempt, p attemptFiles, f *state) error {
	if f.Outcome != attempts.Success {
		return nil
	}
	var merged []epic.Check
	if c.tree != nil {
		merged = c.o.Epic.Checks
	}
	after := make(baseline)
	for _, check := range acceptance(a.Task.Checks, merged) {
		s, err := c.trial(a, p).passes(ctx, check, f)
		if err != nil {
			return err
		}
		if err := c.putBackProtected(ctx, a, check, f); err != nil || f.Outcome != attempts.Success {
			return err
		}
		if base, known := f.onBase[check.key()]; known && s.passed() && c.tree != nil {
			f.ranFewer(a.Task, check, base, s)
		}
		if check.ofEpic {
			after[check.key()] = s
		}
	}
	f.epicSaid = after
	return nil
}

// putBackProtected puts protected files back that were changed while a check ran: the next one would go by them.
func (c *checkout) putBackProtected(ctx context.Context, a engine.Attempt, check numbered, f *state) error {
	patterns := slices.Concat(c.o.Epic.Protected, a.Task.Protected)
	if c.tree == nil || len(patterns) == 0 {
		return nil
	}
	ctx, cancel := settling(ctx)
	defer cancel()
	changed, err := c.tree.PutBack(ctx, f.Head, func(path string) bool {
		return slices.ContainsFunc(patterns, func(glob string) bool { return globs.Covers(glob, path) })
	})
	f.written = append(f.written, changed...)
	if len(changed) > 0 {
		f.Note("tamper", text.Listed(changed)+", which is protected, was changed while "+check.Name+" ran; relay put it back")
	}
	if err == nil {
		return nil
	}
	if guarding := c.guard(ctx, f); guarding != nil || f.Outcome == attempts.Success { // the check may have damaged .git
		return errors.Join(err, guarding)
	}
	return nil
}

// acceptance lists the checks of a task and then the epic's.
func acceptance(task, merged []epic.Check) []numbered {
	list := make([]numbered, 0, len(task)+len(merged))
	for i, check := range task {
		list = append(list, numbered{Check: check, index: i, phase: attempts.PhaseTask})
	}
	for i, check := range merged {
		list = append(list, numbered{Check: check, index: i, phase: attempts.PhaseMerged, ofEpic: true})
	}
	return list
}

// numbered is a check with its place in its list and the occasion it is run on.
type numbered struct {
	epic.Check
	index int
	phase string

	ofEpic   bool
	occasion string // tells runs of the same check for one attempt apart; "" : on its own work
}

// Occasions besides an attempt's own work.
const (
	onBase   = "-baseline"
	onMerged = "-landing"
	onTip    = "-tip"
	onEnd    = "-end"
	onAgain  = "-again" // what failed on the base or on the tip
)

// key names a check among those of a task and its epic.
func (n numbered) key() string { return fmt.Sprintf("%d-%s", n.index+1, n.phase) }

// passes runs one check and fails the finding when it does not pass.
func (t trial) passes(ctx context.Context, check numbered, f *state) (checkResult, error) {
	run, ended, err := t.check(ctx, check)
	s := checkResult{run: run, timedOut: ended.TimedOut, flooded: ended.Flooded, unseen: unseen(ended)}
	if ctx.Err() != nil {
		f.Fail(attempts.Stopped, attempts.Interrupted, "the run was stopped while "+check.Name+" ran")
		return s, nil //nolint:nilerr // the attempt ends as stopped
	}
	if err != nil {
		return s, err
	}
	f.Receipt.Checks = append(f.Receipt.Checks, run)
	switch {
	case check.ofEpic && s.red() && t.redBefore(ctx, check, s, f):
	case unseen(ended):
		f.Fail(attempts.Environment, attempts.CLIError, "the process that watched "+check.Name+" died; how it ended is unknown")
	case ended.TimedOut:
		f.Fail(attempts.Check, attempts.TestFailure, check.Name+" "+tooMuch(ended.Flooded, t.checkWall(check.Check)))
	case run.ExitCode != 0:
		f.Fail(attempts.Check, attempts.TestFailure, check.Name+": "+runners.DescribeExit(ended.Exit))
		if strings.Contains(check.Run, evidence.FindMissing(run).Name) { // what only scripts call may be the agent's own
			t.cannotRun(ctx, t.a, check, run, f)
		}
	}
	return s, nil
}

// redBefore reports whether a check of the epic could not run at all before the work either, or failed in the same way: it is
// held against no task.
func (t trial) redBefore(ctx context.Context, check numbered, s checkResult, f *state) bool {
	base, known := f.onBase[check.key()]
	switch {
	case !known || !base.red():
		return false
	case t.remedy(ctx, check, base.run, t.a.Base) != "":
		return true
	case otherwise(base, s) != "":
		return false
	}
	f.Receipt.Checks[len(f.Receipt.Checks)-1].Attribution = attempts.BrokenBefore
	f.Note("broken_before", check.Name+" fails on the base of "+t.a.Task.ID+" too; it is not held against the task")
	return true
}

// unseen reports that nobody knows what a check would have said: that proves nothing, and is not the agent's fault.
func unseen(r shell.Report) bool { return r.Exit.Lost || r.Exit.Stopped && !r.TimedOut }

// check runs one acceptance command, the user's own text.
func (t trial) check(ctx context.Context, check numbered) (attempts.CheckRun, shell.Report, error) {
	switch check.occasion {
	case "":
		t.tell(engine.Event{Task: t.a.Task.ID, Kind: engine.KindChecking, Detail: runners.Event{Text: check.Name}})
	case onMerged:
		t.tell(engine.Event{Task: t.a.Task.ID, Kind: engine.KindChecking, Detail: runners.Event{Text: check.Name + " on the merged tree"}})
	}
	log := filepath.Join(t.p.checks, check.key()+check.occasion+".log")
	if err := t.makeRoom(log); err != nil {
		return attempts.CheckRun{}, shell.Report{}, err
	}
	env, err := t.user.Point(t.commandEnv(t.a, check.ofEpic))
	if err != nil {
		return attempts.CheckRun{}, shell.Report{}, err
	}
	start := t.now()
	report, err := shell.Run(ctx, t.o.Supervisor, shell.Request{
		Mark: t.a.Mark(), Dir: t.dir, Run: check.Run, Log: log, Env: env,
		Wall: t.checkWall(check.Check), StopGrace: t.o.Limits.StopGrace, Cap: t.o.Limits.OutputCap,
	})
	if err != nil {
		return attempts.CheckRun{}, shell.Report{}, err
	}
	rel, err := filepath.Rel(t.o.Dir, log)
	run := attempts.CheckRun{Name: check.Name, ExitCode: report.Exit.Code, Seconds: seconds(t.now().Sub(start)), Log: filepath.ToSlash(rel), SHA256: sumOf(log), Phase: check.phase}
	if report.Exit.Code != 0 {
		run.Tail = report.Tail
	}
	tests := attempts.CountTests(report.Output)
	run.FailedTests, run.RanTests = tests.Failed, tests.Ran
	return run, report, err
}

func (g *workspace) checkWall(check epic.Check) time.Duration {
	if check.Timeout > 0 {
		return check.Timeout
	}
	return g.o.Limits.Check
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

func seconds(d time.Duration) float64 { return float64(d.Milliseconds()) / 1000 }

// sumOf is the SHA-256 of a log, in hex; "" when it cannot be read.
func sumOf(path string) string {
	f, err := runners.OpenRegular(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}
