package finish

import (
	"context"
	"errors"
	"os"
	"strings"

	"relay/reanchor/git"
)

// Branch is a branch of a task.
type Branch struct {
	Name     string // without refs/heads/
	Commit   string
	Worktree string // worktree that is on it; "": none
}

// Branches lists those whose full names a pattern of for-each-ref covers.
func Branches(ctx context.Context, repo *git.Repo, pattern string) ([]Branch, error) {
	out, err := repo.Run(ctx, git.Call{Args: []string{"for-each-ref", "--format=%(refname)%00%(objectname)%00%(worktreepath)", pattern}})
	var found []Branch
	for row := range strings.SplitSeq(strings.TrimSuffix(string(out), "\n"), "\n") {
		if parts := strings.SplitN(row, "\x00", 3); len(parts) == 3 {
			if _, err := os.Lstat(parts[2]); err != nil { // git still knows a worktree whose folder is gone
				parts[2] = ""
			}
			found = append(found, Branch{strings.TrimPrefix(parts[0], "refs/heads/"), parts[1], parts[2]})
		}
	}
	return found, err
}

// Unmerged returns text that says how many commits it has that are in no other ref, except those of other tasks; "" is
// none.
func (b Branch) Unmerged(ctx context.Context, repo *git.Repo) (string, error) {
	out, err := repo.Run(ctx, git.Call{
		Args: []string{"rev-list", "--count", b.Commit, "--not", "--exclude=refs/heads/" + git.TaskBranches + "*", "--glob=refs/*", "--"},
	})
	if count := strings.TrimSpace(string(out)); count != "0" {
		return count, err
	}
	return "", err
}

// BranchInUse reports what makes a branch of a task (its name without refs/heads/) a person's, and where: the worktree that is on it, or
// commits that are in no other ref. That kept is in one, the caller knows.
func BranchInUse(ctx context.Context, repo *git.Repo, branch, kept string) (at, own string, err error) {
	found, err := Branches(ctx, repo, "refs/heads/"+branch)
	if err != nil || len(found) != 1 {
		return "", "", err
	}
	if found[0].Commit != kept {
		own, err = found[0].Unmerged(ctx, repo)
	}
	return found[0].Worktree, own, err
}

// WhyInUse returns text that says why such a branch stays; "" is that it need not.
func WhyInUse(at, own string) string {
	switch {
	case own != "":
		return "commits that have neither landed nor been kept elsewhere: " + own
	case at != "":
		return "it is checked out in " + at
	}
	return ""
}

// DeleteBranch deletes a branch (its name without refs/heads/) that still is at commit.
func DeleteBranch(ctx context.Context, repo *git.Repo, branch, commit string) (err error) {
	ref := "refs/heads/" + branch
	for range 3 { // by then a lock that stood in the way at first is too old for anybody alive
		if _, err = repo.Run(ctx, git.Writing("update-ref", "--no-deref", "-d", ref, commit)); err == nil || ctx.Err() != nil {
			return err
		}
		if unlocking := git.Unlatch(repo, ref); unlocking != nil {
			return errors.Join(err, unlocking)
		}
	}
	return err
}
