package bench

import (
	"errors"
	"os"
	"path/filepath"

	"relay/orchestrator/account"
	"relay/orchestrator/checks"
	"relay/orchestrator/text"
)

// TakeLocks puts lock files of package managers that checks have rewritten, and passed, into the agent's checkout, but for those that the
// checks rewrite without the work too, and notes what else they have rewritten: what they prove is not what would land. It reports whether
// the work has to be collected and checked again. That happens once.
func TakeLocks(checkout string, rewrote []checks.Rewritten, f *account.State) (again bool, err error) {
	if len(rewrote) == 0 {
		return false, nil
	}
	root, err := os.OpenRoot(checkout)
	if err != nil {
		return false, err
	}
	defer root.Close()
	var taken, left []string
	for _, r := range rewrote {
		switch {
		case f.OnBase.Rewrites(r.Path):
		case f.Locks || r.Lock == nil || write(root, r) != nil:
			left = append(left, r.Path)
		default:
			taken = append(taken, r.Path)
		}
	}
	switch {
	case len(taken) > 0:
		f.Note("check", "the checks wrote "+text.Listed(taken)+": it was taken into the work, which is checked with it")
		f.Locks, f.ClaimedFiles = true, append(f.ClaimedFiles, taken...)
		f.ForgetChecks()
	case len(left) > 0:
		f.Unproved = "the checks pass after writing " + text.Listed(left) + ", which is in no commit: without it they may fail"
		f.Note("check", f.Unproved)
	}
	return len(taken) > 0, nil
}

// write replaces a file; what is in its way, such as a link, is not followed.
func write(root *os.Root, r checks.Rewritten) error {
	name := filepath.FromSlash(r.Path)
	return errors.Join(root.RemoveAll(name), root.WriteFile(name, r.Lock, 0o644))
}
