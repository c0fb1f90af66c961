// Package nested is about repositories within a checkout: submodules, and folders in which somebody has made one.
package nested

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"relay/orchestrator/git/gitcmd"
	"relay/reanchor"
)

// declaredBy lists the paths that a .gitmodules names; where is --file or --blob with its name.
func declaredBy(ctx context.Context, repo *reanchor.Git, where ...string) (paths []string, names map[string]string, err error) {
	out, err := repo.Run(ctx, reanchor.Call{Args: append(append([]string{"config"}, where...), "-z", "--get-regexp", `^submodule\..*\.path$`)})
	if err != nil && len(out) == 0 {
		return nil, nil, ctx.Err() // nothing of that kind is in it
	}
	names = make(map[string]string)
	for setting := range strings.SplitSeq(string(out), "\x00") {
		if key, path, _ := strings.Cut(setting, "\n"); path != "" && filepath.IsLocal(filepath.FromSlash(path)) {
			paths = append(paths, path)
			names[path] = strings.TrimSuffix(strings.TrimPrefix(key, "submodule."), ".path")
		}
	}
	return paths, names, nil
}

// Declared lists the paths of submodules that a commit declares.
func Declared(ctx context.Context, repo *reanchor.Git, commit string) ([]string, error) {
	paths, _, err := declaredBy(ctx, repo, "--blob", commit+":.gitmodules")
	return paths, err
}

// DeclaredHere lists the paths of submodules that the .gitmodules of a checkout declares.
func DeclaredHere(ctx context.Context, repo *reanchor.Git) ([]string, error) {
	if info, err := os.Lstat(filepath.Join(repo.Root(), ".gitmodules")); err != nil || !info.Mode().IsRegular() {
		return nil, nil //nolint:nilerr // there are none
	}
	paths, _, err := declaredBy(ctx, repo, "--file", ".gitmodules")
	return paths, err
}

// CheckedOut returns the names of the submodules that are checked out in a checkout, by path.
func CheckedOut(ctx context.Context, repo *reanchor.Git) map[string]string {
	if paths, err := DeclaredHere(ctx, repo); err != nil || len(paths) == 0 {
		return nil
	}
	_, names, err := declaredBy(ctx, repo, "--file", ".gitmodules")
	maps.DeleteFunc(names, func(path, _ string) bool { return err != nil || !At(repo, path) })
	return names
}

// Unique returns, by path, what is nowhere else in each checked-out submodule and in each folder with tracked files that
// was made a repository, in the words of [UniqueAt].
func Unique(ctx context.Context, repo *reanchor.Git) (map[string]string, error) {
	list, err := repo.Run(ctx, reanchor.Call{Args: []string{"ls-files", "-z"}, Limit: gitcmd.MaxPrinted})
	if err != nil {
		return nil, gitcmd.Unasked(err)
	}
	paths := Remade(repo, strings.Split(string(list), "\x00"))
	submodules, err := DeclaredHere(ctx, repo)
	if err != nil {
		return nil, err
	}
	paths = append(paths, submodules...)
	found := make(map[string]string)
	for _, path := range paths {
		if what := UniqueAt(ctx, repo, path); what != "" {
			found[path] = what
		}
	}
	return found, nil
}

// Remade lists folders of these files in which a repository was made: git does not see it. With them is the one that was
// made of the worktree, which the worktree's .gitignore may hide.
func Remade(repo *reanchor.Git, files []string) (folders []string) {
	if At(repo, AgentsGit) {
		folders = append(folders, AgentsGit)
	}
	seen := map[string]bool{".": true}
	for _, file := range files {
		for dir := path.Dir(file); !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			if At(repo, dir) {
				folders = append(folders, dir)
			}
		}
	}
	return folders
}

// UniqueAt returns text that says what the repository at path has that is nowhere else: changes in no commit, or commits
// that it has from no other repository. "" is nothing, or no repository.
func UniqueAt(ctx context.Context, repo *reanchor.Git, path string) string {
	if !At(repo, path) {
		return ""
	}
	dir := filepath.Join(repo.Root(), filepath.FromSlash(path))
	changes, err := reanchor.Run(ctx, reanchor.Call{
		Dir: dir, Args: []string{"status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=none"},
	})
	if err != nil {
		return "git cannot read it"
	}
	commits, err := reanchor.Run(ctx, reanchor.Call{
		Dir: dir, Args: []string{"rev-list", "--max-count=10", "HEAD", "--all", "--not", "--remotes", "--"},
	})
	if err != nil {
		return "git cannot read it"
	}
	return string(changes) + string(commits)
}

// At reports whether a repository stands at path.
func At(repo *reanchor.Git, path string) bool {
	_, err := os.Lstat(filepath.Join(repo.Root(), filepath.FromSlash(path), ".git"))
	return err == nil
}

// MadeCommit reports whether the repository at path has a commit that it got from no other one.
func MadeCommit(ctx context.Context, repo *reanchor.Git, path, commit string) bool {
	if !At(repo, path) {
		return false
	}
	dir := filepath.Join(repo.Root(), filepath.FromSlash(path))
	out, err := reanchor.Run(ctx, reanchor.Call{
		Dir: dir, Args: []string{"for-each-ref", "--count=1", "--contains=" + commit, "--format=x", "refs/remotes"},
	})
	return err == nil && len(out) == 0
}

// AgentsGit is the folder in a slot for the repository that an agent has made of it.
const AgentsGit = "agents-git"

// Foreign returns the first repository in a commit that is not a submodule, and the first submodule with a commit that only this checkout
// has, when such are asked for: a user's own stays with the user. A commit has only their names, and what is in them would
// be nowhere else: leave lists the folders, ending in a slash.
func Foreign(
	ctx context.Context, repo *reanchor.Git, head string, names []reanchor.Change, submodules bool,
) (repository, submodule string, leave []string, err error) {
	var declared []string
	for _, n := range names {
		if n.Link == "" {
			continue
		}
		if declared == nil {
			if declared, err = Declared(ctx, repo, head); err != nil {
				return repository, submodule, leave, err
			}
		}
		switch {
		case !slices.Contains(declared, n.Path):
			repository = cmp.Or(repository, n.Path)
			if At(repo, n.Path) {
				leave = append(leave, n.Path+"/")
			}
		case submodules && MadeCommit(ctx, repo, n.Path, n.Link):
			submodule = cmp.Or(submodule, n.Path)
			leave = append(leave, n.Path+"/")
		}
	}
	return repository, submodule, leave, nil
}
