// Package support says beforehand whether tasks can work in slots of a repository, and what a user can do when they cannot.
package support

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/nested"
	"relay/orchestrator/text"
	"relay/reanchor"
)

// Oldest git that merges in the object database.
const gitMajor, gitMinor = 2, 38

// CheckRepository returns nil when tasks can work in repositories made from this one, else a [*text.RefusedError] that
// says why not.
func CheckRepository(ctx context.Context, repo *reanchor.Git) error {
	const otherwise = "or set relay.isolation: none"
	out, err := repo.Run(ctx, reanchor.Call{Args: []string{"version"}})
	if err != nil {
		return err
	}
	if version := strings.TrimSpace(strings.TrimPrefix(string(out), "git version ")); !newEnough(version) {
		return &text.RefusedError{
			Reason: fmt.Sprintf("git %s is too old for tasks in worktrees: they need %d.%d", version, gitMajor, gitMinor),
			Hint:   "install a newer git, " + otherwise,
		}
	}
	if head, err := repo.Head(ctx); err != nil || head == "" {
		if err != nil {
			return err
		}
		return &text.RefusedError{Reason: "this repository has no commit yet, from which tasks could begin", Hint: "git add -A && git commit --allow-empty -m Begin, then relay work"}
	}
	for _, taken := range []string{"relay", strings.TrimSuffix(gitcmd.TaskBranches, "/")} {
		at, err := repo.Ref(ctx, "refs/heads/"+taken)
		if err != nil {
			return err
		}
		if at != "" {
			return &text.RefusedError{
				Reason: "there is a branch named " + taken + ", so git cannot make the branches below " + taken + "/ that tasks need",
				Hint:   "git branch -m " + taken + " another-name, then relay work",
			}
		}
	}
	if path, err := populated(ctx, repo); err != nil || path != "" {
		if err != nil {
			return err
		}
		return &text.RefusedError{Reason: "submodule " + path + " is checked out here, and worktrees come without submodules", Hint: "relay work --isolation none, or set relay.isolation: none"}
	}
	if err := checkLFS(ctx, repo); err != nil {
		return err
	}
	return checkFilters(ctx, repo)
}

// CheckFolder refuses a folder for worktrees, absolute, that cannot be made because a file is in its way: a
// [*text.RefusedError]. It writes nothing.
func CheckFolder(dir string) error {
	at := dir
	for at != filepath.Dir(at) {
		info, err := os.Stat(at)
		if err == nil && !info.IsDir() && at != dir { // the last name is relay's own
			return &text.RefusedError{Reason: at + " is a file, and the worktrees shall go below it", Hint: "move it away, or have relay.worktree.dir name a folder"}
		}
		if err == nil {
			return nil
		}
		at = filepath.Dir(at)
	}
	return nil
}

// newEnough reports whether a version of git is new enough. What cannot be read is taken for newer.
func newEnough(version string) bool {
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil {
		return true
	}
	return major > gitMajor || major == gitMajor && minor >= gitMinor
}

// populated returns the first submodule that is checked out, or "".
func populated(ctx context.Context, repo *reanchor.Git) (string, error) {
	paths, err := nested.DeclaredHere(ctx, repo)
	for _, path := range paths {
		if nested.At(repo, path) {
			return path, nil
		}
	}
	return "", err
}

// checkLFS refuses a repository whose large files git could not write into a worktree, because the program is missing that
// the configuration asks for. Without that configuration, what stands for a large file is a small one like any other.
func checkLFS(ctx context.Context, repo *reanchor.Git) error {
	attributes := gitcmd.Contents(repo.Root(), []string{".gitattributes"})[0]
	if !strings.Contains(attributes, "filter=lfs") {
		return nil
	}
	required, err := repo.Run(ctx, reanchor.Call{Args: []string{"config", "--type=bool", "--get", "filter.lfs.required"}})
	if err != nil || strings.TrimSpace(string(required)) != "true" {
		return ctx.Err()
	}
	if _, err := repo.Run(ctx, reanchor.Call{Args: []string{"lfs", "version"}}); err != nil && ctx.Err() == nil {
		return &text.RefusedError{
			Reason: "this repository keeps large files with git-lfs, which is not installed",
			Hint:   `install git-lfs, or do without the large files: git config filter.lfs.required false && git config filter.lfs.process ""`,
		}
	}
	return ctx.Err()
}
