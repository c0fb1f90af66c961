package checks

import (
	"slices"

	"relay/epic"
	"relay/epic/each"
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

// Rewrites reports whether the checks write a file without the work.
func (b Baseline) Rewrites(path string) (yes bool) {
	for _, r := range b {
		yes = yes || slices.ContainsFunc(r.Rewrote, func(w Rewritten) bool { return w.Path == path })
	}
	return yes
}

// Red names those of the epic's checks that fail on the base: without that an agent would look for its own mistake.
func (b Baseline) Red(ofEpic []epic.Check) []string {
	return each.Where(List(nil, ofEpic), func(check Check) (string, bool) {
		r, ok := b[check.Key()]
		return check.Name, ok && !r.Unknown && !r.Passed()
	})
}

// Early names the checks that must fail before the work, when all checks of the task pass then.
func (b Baseline) Early(task *epic.Task) []string {
	list := List(task.Checks, nil)
	if len(b) == 0 || slices.ContainsFunc(list, func(c Check) bool { return !b[c.Key()].Passed() }) {
		return nil
	}
	return each.Of(MustFail(task), func(check Check) string { return check.Name })
}

// MustFail lists the checks of a task that must fail before the work.
func MustFail(task *epic.Task) []Check {
	return slices.DeleteFunc(List(task.Checks, nil), func(c Check) bool { return c.Expect != epic.ExpectRedThenGreen })
}
