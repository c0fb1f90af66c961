package trees

import (
	"context"
	"os"
	"strings"

	"relay/reanchor"
)

// taskBranch is a branch of a task.
type taskBranch struct {
	name   string // without refs/heads/
	commit string
	at     string // worktree that is on it; "": none
}

// taskBranches lists those whose full names a pattern of for-each-ref covers.
func taskBranches(ctx context.Context, repo *reanchor.Git, pattern string) ([]taskBranch, error) {
	out, err := repo.Run(ctx, reanchor.Call{Args: []string{"for-each-ref", "--format=%(refname)%00%(objectname)%00%(worktreepath)", pattern}})
	var found []taskBranch
	for _, row := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
		if parts := strings.SplitN(row, "\x00", 3); len(parts) == 3 {
			found = append(found, taskBranch{strings.TrimPrefix(parts[0], "refs/heads/"), parts[1], parts[2]})
		}
	}
	return found, err
}

// own says how many commits it has that are in no other ref, except those of other tasks; "" is none.
func (b taskBranch) own(ctx context.Context, repo *reanchor.Git) (string, error) {
	out, err := repo.Run(ctx, reanchor.Call{Args: []string{"rev-list", "--count", b.commit, "--not", "--exclude=refs/heads/" + TaskBranches + "*", "--glob=refs/*", "--"}})
	if count := strings.TrimSpace(string(out)); count != "0" {
		return count, err
	}
	return "", err
}

// What makes a branch of a task a person's.
const (
	unkeptWords = "commits that have neither landed nor been kept elsewhere: "
	onItWords   = "it is checked out in "
)

// Claimed says what makes a branch of a task (its name without refs/heads/) a person's, and where: a worktree that is not
// below dir and is on it, or commits that are in no other ref. That kept is in one, the caller knows.
func (y *Yard) Claimed(ctx context.Context, branch, kept string) (at, own string, err error) {
	found, err := taskBranches(ctx, y.Repo, "refs/heads/"+branch)
	if err != nil {
		return "", "", err
	}
	dir, err := y.ground(false)
	if err != nil {
		return "", "", err
	}
	for _, b := range found {
		if b.name != branch { // the pattern covers a folder of branches as well
			continue
		}
		if _, err := os.Lstat(b.at); err == nil && !strings.HasPrefix(b.at, dir+"/") {
			at = b.at
		}
		if b.commit != kept {
			own, err = b.own(ctx, y.Repo)
		}
	}
	return at, own, err
}

// ClaimWords says in words why such a branch stays; "" is that it need not.
func ClaimWords(at, own string) string {
	switch {
	case own != "":
		return unkeptWords + own
	case at != "":
		return onItWords + at
	}
	return ""
}
