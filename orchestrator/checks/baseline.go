package checks

import (
	"fmt"
	"slices"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
)

// Baseline maps the keys of checks to their results on the commit an attempt began from.
type Baseline map[string]Result

// Changed lists the protected files that the checks change without the work.
func (b Baseline) Changed() (paths []string) {
	for _, r := range b {
		paths = append(paths, r.Changed...)
	}
	return paths
}

// Red names those of the epic's checks that fail on the base: without that an agent would look for its own mistake.
func (b Baseline) Red(ofEpic []epic.Check) []string {
	var names []string
	for _, check := range List(nil, ofEpic) {
		if r, ok := b[check.Key()]; ok && !r.Unknown && !r.Passed() {
			names = append(names, check.Name)
		}
	}
	return names
}

// pass reports whether all of some checks did.
func (b Baseline) pass(list []Check) bool {
	return !slices.ContainsFunc(list, func(c Check) bool { return !b[c.Key()].Passed() })
}

// Early names the checks that must fail before the work, when all checks of the task pass then.
func (b Baseline) Early(task *epic.Task) (names []string) {
	list := List(task.Checks, nil)
	if len(b) == 0 || !b.pass(list) {
		return nil
	}
	for _, check := range list {
		if check.Expect == epic.ExpectRedThenGreen {
			names = append(names, check.Name)
		}
	}
	return names
}

// RequireRed writes the results, before the work, of the checks that must fail then into the receipt. One that passes
// proves nothing about the task, and fails the result; but when all checks of the task pass, its agent may find that it is done
// already.
func (r *Runner) RequireRed(task *epic.Task, before Baseline, f *engine.Result) {
	list := List(task.Checks, nil)
	must := slices.DeleteFunc(slices.Clone(list), func(c Check) bool { return c.Expect != epic.ExpectRedThenGreen })
	for _, check := range must {
		run := before[check.Key()].Run
		run.Phase = attempts.PhaseBaseline
		f.Receipt.Checks = append(f.Receipt.Checks, run)
	}
	if before.pass(list) {
		return
	}
	for _, check := range must {
		if r.failIfGreen(check, before[check.Key()], f); f.Outcome != attempts.Success {
			return
		}
	}
}

// failIfGreen fails a result, before the work, with a check that must fail then and did not.
func (r *Runner) failIfGreen(check Check, s Result, f *engine.Result) {
	switch {
	case s.TimedOut:
		f.Fail(attempts.Environment, attempts.TestFailure, fmt.Sprintf("%s %s before the work, so it cannot prove it (expect: red_then_green)", check.Name, TooMuch(s.Flooded, r.wall(check))))
	case s.Passed():
		f.Fail(attempts.Environment, attempts.TestFailure, PassesBefore(check.Name))
		f.Gate = attempts.Infrastructure
	}
}
