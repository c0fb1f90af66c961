package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/integration"
	"relay/orchestrator/text"
)

// Join makes the integration branch's next step: the first of the waiting, or as many as their checks are worth
// running once for. What comes of it is proved before the branch moves. When several are red together, fewer are
// tried.
func (l *slotEngine) Join(ctx context.Context, waiting []engine.Proved) (engine.Step, error) {
	step, err := l.joinAgain(ctx, waiting)
	if err != nil {
		return engine.Step{}, err
	}
	l.step = step
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

func (l *slotEngine) joinAgain(ctx context.Context, waiting []engine.Proved) (step mergeStep, err error) {
	for range lostTries { // nothing leads to it yet: a git gc --prune=now can take it away
		if step, err = l.join(ctx, waiting); !refused(ctx, err) {
			break
		}
	}
	if refused(ctx, err) {
		return l.joinFirst(ctx, waiting[0])
	}
	return step, err
}

func (l *slotEngine) join(ctx context.Context, waiting []engine.Proved) (mergeStep, error) {
	if err := l.rules.MendSilently(ctx); err != nil { // they say how a merge comes out
		return mergeStep{}, err
	}
	tip := l.tips.Tip()
	size := 1
	if len(waiting) > 1 && l.slow(waiting) {
		size = len(waiting)
	}
	for {
		batch := waiting[:size]
		step, coupled, err := l.stack(ctx, tip, batch)
		if err != nil || coupled == 0 {
			return step, err
		}
		if err := l.trunk.Pin(ctx, step.to); err != nil {
			return step, err
		}
		green, err := l.proveStep(ctx, batch[:coupled], &step)
		if err != nil || green || coupled == 1 {
			return step, err
		}
		size = coupled / 2
	}
}

// slow reports whether the checks these tasks need took long when they ran last.
func (l *slotEngine) slow(waiting []engine.Proved) bool {
	sum := 0.0
	for _, r := range waiting {
		for _, run := range r.Result.Receipt.Checks {
			sum += run.Seconds
		}
	}
	return sum/float64(len(waiting)) > l.slowAfter.Seconds()
}

// stack puts the work of a batch on top of the tip, as far as git can. When not even the first one fits, the step
// says so and goes nowhere.
func (l *slotEngine) stack(ctx context.Context, tip string, batch []engine.Proved) (step mergeStep, coupled int, err error) {
	step = mergeStep{from: tip, to: tip, replayed: make(map[string]string), branches: make(map[string]string)}
	for i, r := range batch {
		if r.Result.Head == r.Attempt.Base { // nothing has changed, and nothing had to
			coupled++
			continue
		}
		to, err := l.trunk.Integrate(ctx, step.to, r.Result.Head, integration.MergeInput{
			Base: r.Attempt.Base, Message: l.message(batch[i : i+1]), Trailers: l.trailers(r.Attempt),
		})
		if conflict, ok := errors.AsType[*integration.ConflictError](err); ok {
			if i == 0 {
				f := state{Result: r.Result}
				l.collided(ctx, r.Attempt, tip, conflict, &f)
				step.findings = []state{f}
				return step, 0, l.keepBack(ctx, r.Attempt, &step.findings[0])
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
		step.to, err = l.trunk.CloseBatch(ctx, tip, step.to, l.message(batch[:coupled]))
	}
	return step, coupled, err
}

// proveStep has the checks pass on the step's tree and fills in the findings of a batch. A red step of one goes
// nowhere; a red step of several is reported and nothing else.
func (l *slotEngine) proveStep(ctx context.Context, batch []engine.Proved, step *mergeStep) (green bool, err error) {
	findings := make([]state, len(batch))
	for i := range batch {
		findings[i].Result = batch[i].Result
	}
	known, err := l.known(ctx, batch, step)
	if err != nil {
		return false, err
	}
	if !known {
		for i := range batch {
			if findings[i], err = l.proveOne(ctx, batch, i, step); err != nil {
				return false, err
			}
			if findings[i].Outcome == attempts.Success && !undone(batch, i, findings[i].Receipt.Checks) {
				continue
			}
			if len(batch) > 1 {
				return false, nil
			}
			step.to, step.findings = step.from, findings
			return false, l.keepBack(ctx, batch[i].Attempt, &findings[i])
		}
	}
	for i := range findings {
		findings[i].Landed = step.to
		step.branches[l.branch(batch[i].Attempt)] = findings[i].Head
		if l.o.Landing == integration.Rebase && findings[i].Head != batch[i].Attempt.Base { // what the ledger calls the head stays reachable
			step.replayed[salvageRef(l.o.Epic.ID, batch[i].Attempt)] = findings[i].Head
		}
		l.noteBoth(ctx, batch[i], step, &findings[i])
		l.noteScope(&batch[i].Attempt.Task, &findings[i])
	}
	step.findings = findings
	return true, nil
}

// watched runs checks while nobody's attempt may be under way who would look at what they have done.
func (l *slotEngine) watched(ctx context.Context, check func() error) error {
	l.agentsEnter()
	defer l.agentsLeave()
	return errors.Join(check(), l.rules.MendSilently(ctx))
}

// merged lists the checks of one landing on the merged tree. The epic's are run once for a batch.
func (l *slotEngine) merged(r engine.Proved, first bool) question {
	ofEpic := l.o.Epic.Checks
	if !first {
		ofEpic = nil
	}
	checks := acceptance(r.Attempt.Task.Checks, ofEpic)
	for i := range checks {
		checks[i].occasion = onMerged
	}
	return question{a: r.Attempt, p: filesOf(l.o.Dir, r.Attempt), checks: checks}
}

// proveMerged runs the checks of one landing on the merged tree. They have passed on the work alone: one that fails
// now fails for what has landed since.
func (l *slotEngine) proveMerged(ctx context.Context, q question, step *mergeStep, f *state) error {
	q.commit, q.from = step.to, step.from
	err := l.ask(ctx, q, f, func(check numbered, after checkResult) (bool, error) {
		after.run.Phase = phaseMerged
		if after.passed() {
			f.Receipt.Checks = append(f.Receipt.Checks, after.run)
			return true, nil
		}
		if check.ofEpic {
			tip := question{a: q.a, p: q.p, commit: step.from}
			before, err := l.tipSays(ctx, tip, check, f)
			if err != nil || f.Outcome != attempts.Success {
				return false, err
			}
			if before.red() {
				after.run.Attribution = attempts.BrokenBefore
				f.Receipt.Checks = append(f.Receipt.Checks, after.run)
				if worse := otherwise(before, after); worse != "" {
					f.Note("broken_before", check.Name+" fails on what "+q.a.Task.ID+" lands on too"+worse+"; it is not held against the task")
				}
				return true, nil
			}
		}
		after.run.Attribution = attempts.BrokenByTask
		f.Receipt.Checks = append(f.Receipt.Checks, after.run)
		l.failed(check, after, f)
		l.clashed(ctx, q, step, f)
		return false, nil
	})
	if f.Outcome == attempts.Check { // it could not be set up
		l.clashed(ctx, q, step, f)
	}
	return err
}

// clashed fails a work that fits what has landed since as far as git can tell, and no further.
func (l *slotEngine) clashed(ctx context.Context, q question, step *mergeStep, f *state) {
	f.Fail(attempts.Conflict, attempts.Conflicted, "it merges, but then "+f.Receipt.ErrorSummary+" (landed since it began: "+l.sinceIn(ctx, q.a.Base, step.from)+")")
	f.Receipt.Contested = f.Receipt.FilesChanged
}

// tipSays is what a check of the epic says of the tip without this landing.
func (l *slotEngine) tipSays(ctx context.Context, q question, check numbered, f *state) (before checkResult, err error) {
	known := q
	known.before, known.checks = true, acceptance(nil, l.o.Epic.Checks)
	for i := range known.checks {
		known.checks[i].occasion = onTip
	}
	err = l.ask(ctx, known, f, func(one numbered, s checkResult) (bool, error) {
		if one.index == check.index {
			before = s
		}
		return true, nil
	})
	if err != nil || f.Outcome != attempts.Success {
		return before, err
	}
	return l.rerun(ctx, q, check, before, f)
}

// collided turns a merge conflict into what the next attempt is told.
func (l *slotEngine) collided(ctx context.Context, a engine.Attempt, tip string, c *integration.ConflictError, f *state) {
	log := filepath.Join(filesOf(l.o.Dir, a).checks, "merge-landing.log")
	f.Fail(attempts.Conflict, attempts.Conflicted, fmt.Sprintf("conflict with %s in %s", l.since(ctx, a.Base, tip, c.Files...), text.Listed(c.Files)))
	f.Receipt.Contested = c.Files
	run := attempts.CheckRun{Name: "git merge relay/" + l.o.Epic.ID, ExitCode: 1, Phase: phaseMerged, Tail: attempts.Clean(c.Text, 4<<10)}
	if err := errors.Join(l.makeRoom(log), os.WriteFile(log, []byte(c.Text), 0o600)); err == nil {
		rel, _ := filepath.Rel(l.o.Dir, log)
		run.Log = filepath.ToSlash(rel)
	}
	f.Receipt.Checks = append(slices.Clone(f.Receipt.Checks), run)
}

// keepBack keeps the work of an attempt that was proved and cannot land.
func (l *slotEngine) keepBack(ctx context.Context, a engine.Attempt, f *state) error {
	if f.Outcome == attempts.Stopped || f.Outcome == attempts.Success {
		return nil
	}
	w := l.attemptIn("", l.home, a)
	if err := w.c.keepWork(ctx, a, w.p, f); err != nil {
		return err
	}
	return l.branches.Drop(ctx, l.branch(a), f.Head)
}

// Advance moves the integration branch, if there is anything to add, and then forgets the branches that have landed.
func (l *slotEngine) Advance(ctx context.Context, _ engine.Step) (bool, error) {
	j := l.step
	settled, cancel := settling(ctx)
	defer cancel()
	for ref, commit := range j.replayed {
		if _, err := l.attemptIn("", l.home, engine.Attempt{}).c.tree.Salvage(settled, ref, commit); err != nil {
			return false, err
		}
	}
	if j.to != j.from {
		moved, err := l.tips.Step(settled, j.to)
		if err != nil && l.lost.Add(1) < lostTries && !gitcmd.Has(settled, l.home, j.to) {
			return false, nil // nothing led to it, and the user's git has cleared it away: it is made again
		}
		if err != nil || !moved {
			return false, err
		}
		l.lost.Store(0)
	}
	l.arrived = append(l.arrived, j.arrivals...)
	for name, head := range j.branches {
		if err := l.branches.Drop(settled, name, head); err != nil {
			return false, err
		}
	}
	return true, nil
}
