package trees

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"

	"relay/orchestrator/git/gitcmd"
	"relay/reanchor"
)

// declared lists the paths that a .gitmodules names; where is --file or --blob with its name.
func declared(ctx context.Context, repo *reanchor.Git, where ...string) ([]string, error) {
	out, err := repo.Run(ctx, reanchor.Call{Args: append(append([]string{"config"}, where...), "-z", "--get-regexp", `^submodule\..*\.path$`)})
	if err != nil && len(out) == 0 {
		return nil, ctx.Err() // nothing of that kind is in it
	}
	var paths []string
	for setting := range strings.SplitSeq(string(out), "\x00") {
		if _, path, _ := strings.Cut(setting, "\n"); path != "" && filepath.IsLocal(filepath.FromSlash(path)) {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// Declared lists the paths of submodules that a commit declares.
func (w *Tree) Declared(ctx context.Context, commit string) ([]string, error) {
	return declared(ctx, w.Repo, "--blob", commit+":.gitmodules")
}

// Inner says of each submodule that is checked out, and of each folder with tracked files that was made a repository, what
// is in it and nowhere else, as [Tree.OnlyIn] does.
func (w *Tree) Inner(ctx context.Context) (map[string]string, error) {
	list, err := w.Repo.Run(ctx, reanchor.Call{Args: []string{"ls-files", "-z"}, Limit: gitcmd.MaxPrinted})
	if err != nil {
		return nil, gitcmd.Unasked(err)
	}
	paths := w.remade(strings.Split(string(list), "\x00"))
	if info, err := os.Lstat(filepath.Join(w.Repo.Root(), ".gitmodules")); err == nil && info.Mode().IsRegular() {
		submodules, err := declared(ctx, w.Repo, "--file", ".gitmodules")
		if err != nil {
			return nil, err
		}
		paths = append(paths, submodules...)
	}
	found := make(map[string]string)
	for _, path := range paths {
		if what := w.OnlyIn(ctx, path); what != "" {
			found[path] = what
		}
	}
	return found, nil
}

// remade lists folders of these files in which a repository was made: git does not see it. With them is the one that was
// made of the worktree, which the worktree's .gitignore may hide.
func (w *Tree) remade(files []string) (folders []string) {
	if w.Populated(AgentsGit) {
		folders = append(folders, AgentsGit)
	}
	seen := map[string]bool{".": true}
	for _, file := range files {
		for dir := path.Dir(file); !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			if w.Populated(dir) {
				folders = append(folders, dir)
			}
		}
	}
	return folders
}

// OnlyIn says what the repository at path has that is nowhere else: changes in no commit, or commits that it has from no
// other repository. "" is nothing, or no repository.
func (w *Tree) OnlyIn(ctx context.Context, path string) string {
	if !w.Populated(path) {
		return ""
	}
	dir := filepath.Join(w.Repo.Root(), filepath.FromSlash(path))
	changes, err := reanchor.Run(ctx, reanchor.Call{Dir: dir, Args: []string{"status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=none"}})
	if err != nil {
		return "git cannot read it"
	}
	commits, err := reanchor.Run(ctx, reanchor.Call{Dir: dir, Args: []string{"rev-list", "--max-count=10", "HEAD", "--all", "--not", "--remotes", "--"}})
	if err != nil {
		return "git cannot read it"
	}
	return string(changes) + string(commits)
}

// Populated reports whether a repository stands at path.
func (w *Tree) Populated(path string) bool {
	_, err := os.Lstat(filepath.Join(w.Repo.Root(), filepath.FromSlash(path), ".git"))
	return err == nil
}

// OnlyHere reports whether the repository at path has a commit that it got from no other one.
func (w *Tree) OnlyHere(ctx context.Context, path, commit string) bool {
	if !w.Populated(path) {
		return false
	}
	dir := filepath.Join(w.Repo.Root(), filepath.FromSlash(path))
	out, err := reanchor.Run(ctx, reanchor.Call{Dir: dir, Args: []string{"for-each-ref", "--count=1", "--contains=" + commit, "--format=x", "refs/remotes"}})
	return err == nil && len(out) == 0
}

// AgentsGit is the folder in a slot for the repository that an agent has made of it.
const AgentsGit = "agents-git"
