// Package taskbranch is about the branches that tasks work on: which there are, why one must stay, how one is deleted.
package taskbranch

import (
	"context"
	"errors"
	"strings"

	"relay/orchestrator/git/gitcmd"
	"relay/reanchor"
)

// Branch is a branch of a task.
type Branch struct {
	Name     string // without refs/heads/
	Commit   string
	Worktree string // worktree that is on it; "": none
}

// List lists those whose full names a pattern of for-each-ref covers.
func List(ctx context.Context, repo *reanchor.Git, pattern string) ([]Branch, error) {
	out, err := repo.Run(ctx, reanchor.Call{Args: []string{"for-each-ref", "--format=%(refname)%00%(objectname)%00%(worktreepath)", pattern}})
	var found []Branch
	for row := range strings.SplitSeq(strings.TrimSuffix(string(out), "\n"), "\n") {
		if parts := strings.SplitN(row, "\x00", 3); len(parts) == 3 {
			found = append(found, Branch{strings.TrimPrefix(parts[0], "refs/heads/"), parts[1], parts[2]})
		}
	}
	return found, err
}

// Unmerged returns text that says how many commits it has that are in no other ref, except those of other tasks; "" is
// none.
func (b Branch) Unmerged(ctx context.Context, repo *reanchor.Git) (string, error) {
	out, err := repo.Run(ctx, reanchor.Call{
		Args: []string{"rev-list", "--count", b.Commit, "--not", "--exclude=refs/heads/" + gitcmd.TaskBranches + "*", "--glob=refs/*", "--"},
	})
	if count := strings.TrimSpace(string(out)); count != "0" {
		return count, err
	}
	return "", err
}

// Reasons why a branch of a task is a person's.
const (
	unkeptWords = "commits that have neither landed nor been kept elsewhere: "
	onItWords   = "it is checked out in "
)

// InUse reports what makes a branch of a task (its name without refs/heads/) a person's, and where: the worktree that is on it, or commits
// that are in no other ref. That kept is in one, the caller knows.
func InUse(ctx context.Context, repo *reanchor.Git, branch, kept string) (at, own string, err error) {
	found, err := List(ctx, repo, "refs/heads/"+branch)
	if err != nil || len(found) != 1 {
		return "", "", err
	}
	if found[0].Commit != kept {
		own, err = found[0].Unmerged(ctx, repo)
	}
	return found[0].Worktree, own, err
}

// Reason returns text that says why such a branch stays; "" is that it need not.
func Reason(at, own string) string {
	switch {
	case own != "":
		return unkeptWords + own
	case at != "":
		return onItWords + at
	}
	return ""
}

// Delete deletes a branch (its name without refs/heads/) that still is at commit.
func Delete(ctx context.Context, repo *reanchor.Git, branch, commit string) (err error) {
	ref := "refs/heads/" + branch
	for range 3 { // by then a lock that stood in the way at first is too old for anybody alive
		if _, err = repo.Run(ctx, gitcmd.Writing("update-ref", "--no-deref", "-d", ref, commit)); err == nil || ctx.Err() != nil {
			return err
		}
		if unlocking := gitcmd.Unlatch(repo, ref); unlocking != nil {
			return errors.Join(err, unlocking)
		}
	}
	return err
}
