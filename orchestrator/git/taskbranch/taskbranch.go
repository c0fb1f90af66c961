// Package taskbranch is about the branches that tasks work on: which there are, why one must stay, how one is deleted.
package taskbranch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
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

// What makes a branch of a task a person's.
const (
	unkeptWords = "commits that have neither landed nor been kept elsewhere: "
	onItWords   = "it is checked out in "
)

// InUse reports what makes a branch of a task (its name without refs/heads/) a person's, and where: a worktree that is
// not below dir and is on it, or commits that are in no other ref. That kept is in one, the caller knows.
func InUse(ctx context.Context, repo *reanchor.Git, dir, branch, kept string) (at, own string, err error) {
	commit, err := repo.Ref(ctx, "refs/heads/"+branch)
	if err != nil || commit == "" {
		return "", "", err
	}
	if commit != kept {
		own, err = Branch{branch, commit, ""}.Unmerged(ctx, repo)
	}
	if real, dirErr := filepath.EvalSymlinks(dir); dirErr == nil {
		dir = real
	}
	return visitor(repo, dir, branch), own, err
}

// visitor returns a worktree that is on a branch and not below dir, or "". It reads git's own files: a git that lists
// worktrees fails when it meets one that is being made.
func visitor(repo *reanchor.Git, dir, branch string) string {
	on := "ref: refs/heads/" + branch
	if strings.TrimSpace(gitcmd.Contents(repo.CommonDir(), []string{gitcmd.HeadFile})[0]) == on {
		return filepath.Dir(repo.CommonDir())
	}
	list := filepath.Join(repo.CommonDir(), "worktrees")
	admins, _ := os.ReadDir(list) // there may be none
	for _, a := range admins {
		texts := gitcmd.Contents(filepath.Join(list, a.Name()), []string{gitcmd.HeadFile, "gitdir"})
		at := filepath.Dir(strings.TrimSpace(texts[1]))
		if strings.TrimSpace(texts[0]) != on || strings.HasPrefix(at, dir+string(filepath.Separator)) {
			continue
		}
		if _, err := os.Lstat(at); err == nil {
			return at
		}
	}
	return ""
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
