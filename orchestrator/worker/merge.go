package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"relay/attempts"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/integration"
	"relay/orchestrator/text"
)

// Join makes the integration branch's next step: the first of the waiting, or as many as their checks are worth
// running once for. What comes of it is proved before the branch moves. When several are red together, fewer are
// tried.
func (s *slotEngine) Join(ctx context.Context, waiting []engine.Proved) (engine.Step, error) {
	step, err := s.joinAgain(ctx, waiting)
	if err != nil {
		return engine.Step{}, err
	}
	s.step = step
	made := engine.Step{From: step.from, To: step.to}
	for _, f := range step.findings {
		made.Results = append(made.Results, f.Result)
	}
	return made, nil
}

// mergeStep is a step of the integration branch that has been made and not taken yet.
type mergeStep struct {
	from, to string            // commits; the same when nothing of it lands
	findings []state           // see Joint.Results
	branches map[string]string // of what lands, and what they have
	arrivals []arrival
	replayed map[string]string // commits of attempts that land as others, by the refs that keep them
}

func (s *slotEngine) joinAgain(ctx context.Context, waiting []engine.Proved) (step mergeStep, err error) {
	for range lostTries { // nothing leads to it yet: a git gc --prune=now can take it away
		if step, err = s.join(ctx, waiting); !refused(ctx, err) {
			break
		}
	}
	if refused(ctx, err) {
		return s.joinFirst(ctx, waiting[0])
	}
	return step, err
}

func (s *slotEngine) join(ctx context.Context, waiting []engine.Proved) (mergeStep, error) {
	if err := s.rules.MendSilently(ctx); err != nil { // they say how a merge comes out
		return mergeStep{}, err
	}
	tip := s.tips.Tip()
	size := 1
	if len(waiting) > 1 && s.slow(waiting) {
		size = len(waiting)
	}
	for {
		batch := waiting[:size]
		step, coupled, err := s.stack(ctx, tip, batch)
		if err != nil || coupled == 0 {
			return step, err
		}
		if err := s.trunk.Pin(ctx, step.to); err != nil {
			return step, err
		}
		green, err := s.proveStep(ctx, batch[:coupled], &step)
		if err != nil || green || coupled == 1 {
			return step, err
		}
		size = coupled / 2
	}
}

// slow reports whether the checks these tasks need took long when they ran last.
func (s *slotEngine) slow(waiting []engine.Proved) bool {
	sum := 0.0
	for _, r := range waiting {
		for _, run := range r.Result.Receipt.Checks {
			sum += run.Seconds
		}
	}
	return sum/float64(len(waiting)) > s.slowAfter.Seconds()
}

// stack puts the work of a batch on top of the tip, as far as git can. When not even the first one fits, the step
// says so and goes nowhere.
func (s *slotEngine) stack(ctx context.Context, tip string, batch []engine.Proved) (step mergeStep, coupled int, err error) {
	step = mergeStep{from: tip, to: tip, replayed: make(map[string]string), branches: make(map[string]string)}
	for i, r := range batch {
		if r.Result.Head == r.Attempt.Base { // nothing has changed, and nothing had to
			coupled++
			continue
		}
		to, err := s.trunk.Integrate(ctx, step.to, r.Result.Head, integration.MergeInput{
			Base: r.Attempt.Base, Message: s.message(batch[i : i+1]), Trailers: s.trailers(r.Attempt),
		})
		if conflict, ok := errors.AsType[*integration.ConflictError](err); ok {
			if i == 0 {
				f := state{Result: r.Result}
				s.collided(ctx, r.Attempt, tip, conflict, &f)
				step.findings = []state{f}
				return step, 0, s.keepBack(ctx, r.Attempt, &step.findings[0])
			}
			break // with one of this batch: that may not land itself
		}
		if err != nil {
			return step, 0, err
		}
		step.to = to
		coupled++
	}
	if coupled > 1 && step.to != tip {
		step.to, err = s.trunk.CloseBatch(ctx, tip, step.to, s.message(batch[:coupled]))
	}
	return step, coupled, err
}

// proveStep has the checks pass on the step's tree and fills in the findings of a batch. A red step of one goes
// nowhere; a red step of several is reported and nothing else.
func (s *slotEngine) proveStep(ctx context.Context, batch []engine.Proved, step *mergeStep) (green bool, err error) {
	findings := make([]state, len(batch))
	for i := range batch {
		findings[i].Result = batch[i].Result
	}
	known, err := s.known(ctx, batch, step)
	if err != nil {
		return false, err
	}
	if !known {
		for i := range batch {
			if findings[i], err = s.proveOne(ctx, batch, i, step); err != nil {
				return false, err
			}
			if findings[i].Outcome == attempts.Success && !undone(batch, i, findings[i].Receipt.Checks) {
				continue
			}
			if len(batch) > 1 {
				return false, nil
			}
			step.to, step.findings = step.from, findings
			return false, s.keepBack(ctx, batch[i].Attempt, &findings[i])
		}
	}
	for i := range findings {
		findings[i].Landed = step.to
		step.branches[s.branch(batch[i].Attempt)] = findings[i].Head
		if s.o.Landing == integration.Rebase && findings[i].Head != batch[i].Attempt.Base { // what the ledger calls the head stays reachable
			step.replayed[salvageRef(s.o.Epic.ID, batch[i].Attempt)] = findings[i].Head
		}
		s.noteBoth(ctx, batch[i], step, &findings[i])
		s.noteScope(&batch[i].Attempt.Task, &findings[i])
	}
	step.findings = findings
	return true, nil
}

// watched runs checks while nobody's attempt may be under way who would look at what they have done.
func (s *slotEngine) watched(ctx context.Context, check func() error) error {
	s.agentsEnter()
	defer s.agentsLeave()
	return errors.Join(check(), s.rules.MendSilently(ctx))
}

// merged lists the checks of one landing on the merged tree. The epic's are run once for a batch.
func (s *slotEngine) merged(r engine.Proved, first bool) checks.Question {
	ofEpic := s.o.Epic.Checks
	if !first {
		ofEpic = nil
	}
	list := checks.On(checks.OnMerged, checks.List(r.Attempt.Task.Checks, ofEpic))
	return checks.Question{Attempt: r.Attempt, Logs: filesOf(s.o.Dir, r.Attempt).checks, Checks: list}
}

// proveMerged runs the checks of one landing on the merged tree. They have passed on the work alone: one that fails
// now fails for what has landed since.
func (s *slotEngine) proveMerged(ctx context.Context, q checks.Question, step *mergeStep, f *state) error {
	q.Commit, q.From = step.to, step.from
	err := s.ask(ctx, q, f, func(check checks.Check, after checks.Result) (bool, error) {
		after.Run.Phase = attempts.PhaseMerged
		if after.Passed() {
			f.Receipt.Checks = append(f.Receipt.Checks, after.Run)
			return true, nil
		}
		if check.OfEpic {
			tip := checks.Question{Attempt: q.Attempt, Logs: q.Logs, Commit: step.from}
			before, err := s.tipSays(ctx, tip, check, f)
			if err != nil || f.Outcome != attempts.Success {
				return false, err
			}
			if before.Red() {
				after.Run.Attribution = attempts.BrokenBefore
				f.Receipt.Checks = append(f.Receipt.Checks, after.Run)
				if worse := checks.Difference(before, after); worse != "" {
					f.Note("broken_before", check.Name+" fails on what "+q.Attempt.Task.ID+" lands on too"+worse+"; it is not held against the task")
				}
				return true, nil
			}
		}
		after.Run.Attribution = attempts.BrokenByTask
		f.Receipt.Checks = append(f.Receipt.Checks, after.Run)
		s.checks.Fail(check, after, &f.Result)
		s.clashed(ctx, q, step, f)
		return false, nil
	})
	if f.Outcome == attempts.Check { // it could not be set up
		s.clashed(ctx, q, step, f)
	}
	return err
}

// clashed fails a work that fits what has landed since as far as git can tell, and no further.
func (s *slotEngine) clashed(ctx context.Context, q checks.Question, step *mergeStep, f *state) {
	f.Fail(attempts.Conflict, attempts.Conflicted, "it merges, but then "+f.Receipt.ErrorSummary+" (landed since it began: "+s.sinceIn(ctx, q.Attempt.Base, step.from)+")")
	f.Receipt.Contested = f.Receipt.FilesChanged
}

// tipSays is what a check of the epic says of the tip without this landing.
func (s *slotEngine) tipSays(ctx context.Context, q checks.Question, check checks.Check, f *state) (before checks.Result, err error) {
	known := q
	known.Before, known.Checks = true, checks.On(checks.OnTip, checks.List(nil, s.o.Epic.Checks))
	err = s.ask(ctx, known, f, func(one checks.Check, said checks.Result) (bool, error) {
		if one.Index == check.Index {
			before = said
		}
		return true, nil
	})
	if err != nil || f.Outcome != attempts.Success {
		return before, err
	}
	return s.rerun(ctx, q, check, before, f)
}

// collided turns a merge conflict into what the next attempt is told.
func (s *slotEngine) collided(ctx context.Context, a engine.Attempt, tip string, c *integration.ConflictError, f *state) {
	log := filepath.Join(filesOf(s.o.Dir, a).checks, "merge-landing.log")
	f.Fail(attempts.Conflict, attempts.Conflicted, fmt.Sprintf("conflict with %s in %s", s.since(ctx, a.Base, tip, c.Files...), text.Listed(c.Files)))
	f.Receipt.Contested = c.Files
	run := attempts.CheckRun{Name: "git merge relay/" + s.o.Epic.ID, ExitCode: 1, Phase: attempts.PhaseMerged, Tail: attempts.Clean(c.Text, 4<<10)}
	if err := errors.Join(s.makeRoom(log), os.WriteFile(log, []byte(c.Text), 0o600)); err == nil {
		rel, _ := filepath.Rel(s.o.Dir, log)
		run.Log = filepath.ToSlash(rel)
	}
	f.Receipt.Checks = append(slices.Clone(f.Receipt.Checks), run)
}

// keepBack keeps the work of an attempt that was proved and cannot land.
func (s *slotEngine) keepBack(ctx context.Context, a engine.Attempt, f *state) error {
	if f.Outcome == attempts.Stopped || f.Outcome == attempts.Success {
		return nil
	}
	w := s.attemptIn("", s.home, a)
	if err := collectorIn(w.c).keepWork(ctx, a, w.p, f); err != nil {
		return err
	}
	return s.branches.Drop(ctx, s.branch(a), f.Head)
}

// Advance moves the integration branch, if there is anything to add, and then forgets the branches that have landed.
func (s *slotEngine) Advance(ctx context.Context, _ engine.Step) (bool, error) {
	j := s.step
	settled, cancel := uninterrupted(ctx)
	defer cancel()
	for ref, commit := range j.replayed {
		if _, err := s.attemptIn("", s.home, engine.Attempt{}).c.tree.Salvage(settled, ref, commit); err != nil {
			return false, err
		}
	}
	if j.to != j.from {
		moved, err := s.tips.Step(settled, j.to)
		if err != nil && s.lost.Add(1) < lostTries && !gitcmd.Has(settled, s.home, j.to) {
			return false, nil // nothing led to it, and the user's git has cleared it away: it is made again
		}
		if err != nil || !moved {
			return false, err
		}
		s.lost.Store(0)
	}
	s.arrived = append(s.arrived, j.arrivals...)
	for name, head := range j.branches {
		if err := s.branches.Drop(settled, name, head); err != nil {
			return false, err
		}
	}
	return true, nil
}
