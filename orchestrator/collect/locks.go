package collect

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"relay/epic/plaintext"
	"relay/orchestrator/checks"
)

// TakeLocks puts lock files of package managers that checks have rewritten, and passed, into the agent's checkout, but for those that the
// checks rewrite without the work too, and notes what else they have rewritten: what they prove is not what would land. See
// [TakeRewritten].
func TakeLocks(checkout string, rewrote []checks.Rewritten, f *Account) (again bool, err error) {
	rewrote = slices.DeleteFunc(rewrote, func(r checks.Rewritten) bool { return f.OnBase.Rewrites(r.Path) })
	left, again, err := TakeRewritten("the checks", checkout, rewrote, f)
	if !again && len(left) > 0 {
		f.Unproved = "the checks pass after writing " + plaintext.Listed(left) + ", which is in no commit: without it they may fail"
		f.Note("check", f.Unproved)
	}
	return again, err
}

// TakeRewritten puts rewritten files whose content is known into the agent's checkout, the first time, as git commit -a would have them,
// and returns those that it leaves. It reports whether the work has to be collected and checked again.
func TakeRewritten(who, checkout string, rewrote []checks.Rewritten, f *Account) (left []string, again bool, err error) {
	if len(rewrote) == 0 {
		return nil, false, nil
	}
	root, err := os.OpenRoot(checkout)
	if err != nil {
		return nil, false, err
	}
	defer root.Close()
	var taken []string
	for _, r := range rewrote {
		if slices.Contains(f.Took, who) || r.Content == nil || write(root, r) != nil {
			left = append(left, r.Path)
		} else {
			taken = append(taken, r.Path)
		}
	}
	if len(taken) > 0 {
		f.Note("check", who+" wrote "+plaintext.Listed(taken)+": it was taken into the work, which is checked with it")
		f.Took, f.ClaimedFiles = append(f.Took, who), append(f.ClaimedFiles, taken...)
		f.ForgetChecks()
	}
	return left, len(taken) > 0, nil
}

// write replaces a file; what is in its way, such as a link, is not followed.
func write(root *os.Root, r checks.Rewritten) error {
	name := filepath.FromSlash(r.Path)
	return errors.Join(root.RemoveAll(name), root.WriteFile(name, r.Content, r.Mode))
}
