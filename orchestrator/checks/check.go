// Package checks runs acceptance commands, interprets their results, keeps the known results of a tree, and finds completed tasks whose
// checks fail on all that has landed.
//
// check.go runs acceptance commands and says what their results mean: whether a check has passed, failed or said nothing, whether it
// failed before the work as well, and what it lacks when it cannot run at all. Results on a tree are remembered. Where a check is run (in
// a slot, in the user's checkout) is for the caller to say.
//
// regression.go finds the completed tasks whose checks fail on all that has landed, as later work has broken them.
package checks

import (
	"fmt"
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic"
)

// Check is a check with its place in its list and the occasion it is run on.
type Check struct {
	epic.Check
	Index int
	Phase string // as in attempts.CheckRun

	OfEpic   bool
	Occasion string // tells runs of the same check for one attempt apart; "" : on its own work
}

// Occasions besides an attempt's own work.
const (
	OnBase    = "-baseline"
	OnMerged  = "-landing"
	OnTip     = "-tip"
	OnEnd     = "-end"
	OnAgain   = "-again"     // what failed on the base or on the tip
	OnAllowed = "-allowed"   // with what the sandbox refused
	OnOld     = "-old-tests" // on the work with the tests of its base
	OnEmptied = "-emptied"   // on the work without the content of its code
)

// List lists the checks of a task and then the epic's.
func List(task, merged []epic.Check) []Check {
	list := make([]Check, 0, len(task)+len(merged))
	for i, check := range task {
		list = append(list, Check{Check: check, Index: i, Phase: attempts.PhaseTask})
	}
	for i, check := range merged {
		list = append(list, Check{Check: check, Index: i, Phase: attempts.PhaseMerged, OfEpic: true})
	}
	return list
}

// On returns the same checks for another occasion.
func On(occasion string, list []Check) []Check {
	list = slices.Clone(list)
	for i := range list {
		list[i].Occasion = occasion
	}
	return list
}

// Key names a check among those of a task and its epic.
func (c Check) Key() string { return fmt.Sprintf("%d-%s", c.Index+1, c.Phase) }

// Named returns the paths and globs that a task names: its files, and the words of its checks.
func Named(t *epic.Task) []string {
	named := slices.Clone(t.Files)
	for _, c := range t.Checks {
		named = append(named, wordsOf(c.Run)...)
	}
	return slices.DeleteFunc(named, func(p string) bool { return strings.HasPrefix(p, "-") })
}
