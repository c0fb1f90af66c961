package worktree

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"relay/reanchor/git"
)

// declaredBy returns the names of the submodules that a .gitmodules declares, by path; where is --file or --blob with its name.
func declaredBy(ctx context.Context, repo *git.Repo, where ...string) (map[string]string, error) {
	out, err := repo.Run(ctx, git.Call{Args: append(append([]string{"config"}, where...), "-z", "--get-regexp", `^submodule\..*\.path$`)})
	if err != nil && len(out) == 0 {
		return nil, ctx.Err() // it declares none
	}
	names := make(map[string]string)
	for setting := range strings.SplitSeq(string(out), "\x00") {
		if key, path, _ := strings.Cut(setting, "\n"); path != "" && filepath.IsLocal(filepath.FromSlash(path)) {
			names[path] = strings.TrimSuffix(strings.TrimPrefix(key, "submodule."), ".path")
		}
	}
	return names, nil
}

// NestedHere returns the names of the submodules that are checked out in a checkout, by path.
func NestedHere(ctx context.Context, repo *git.Repo) map[string]string {
	if info, err := os.Lstat(filepath.Join(repo.Root(), ".gitmodules")); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	names, err := declaredBy(ctx, repo, "--file", ".gitmodules")
	maps.DeleteFunc(names, func(path, _ string) bool { return err != nil || !NestedAt(repo, path) })
	return names
}

// UniqueNested returns, by path, what is nowhere else in each repository that the index has as one, and in each folder with tracked files
// that was made a repository, in the words of [UniqueNestedAt].
func UniqueNested(ctx context.Context, repo *git.Repo) (map[string]string, error) {
	list, err := repo.Run(ctx, git.Call{Args: []string{"ls-files", "--stage", "-z"}, Limit: git.MaxPrinted})
	if err != nil {
		return nil, git.Unasked(err)
	}
	found := make(map[string]string)
	add := func(path string) {
		if what := UniqueNestedAt(ctx, repo, path); what != "" {
			found[path] = what
		}
	}
	seen := map[string]bool{".": true}
	for entry := range strings.SplitSeq(string(list), "\x00") {
		about, file, _ := strings.Cut(entry, "\t")
		if strings.HasPrefix(about, "160000 ") {
			add(file)
		}
		for dir := path.Dir(file); !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			add(dir)
		}
	}
	return found, nil
}

// UniqueNestedAt returns text that says what the repository at path has that is nowhere else: changes in no commit, except
// folders that tools make, or commits that it has from no other repository. "" is nothing, or no repository.
func UniqueNestedAt(ctx context.Context, repo *git.Repo, path string) string {
	if !NestedAt(repo, path) {
		return ""
	}
	dir := filepath.Join(repo.Root(), filepath.FromSlash(path))
	var unique strings.Builder
	for _, args := range [][]string{
		{"status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=none"},
		{"rev-list", "--max-count=10", "HEAD", "--all", "--not", "--remotes", "--"},
	} {
		out, err := git.Run(ctx, git.Call{Dir: dir, Args: args})
		if err != nil {
			return "git cannot read it"
		}
		unique.WriteString(strings.Join(slices.DeleteFunc(strings.Split(string(out), "\x00"), func(entry string) bool {
			file, untracked := strings.CutPrefix(entry, "?? ")
			return untracked && strings.HasSuffix(file, "/") && Product(file) != ""
		}), "\x00"))
	}
	return unique.String()
}

// NestedAt reports whether a repository stands at path.
func NestedAt(repo *git.Repo, path string) bool {
	_, err := os.Lstat(filepath.Join(repo.Root(), filepath.FromSlash(path), ".git"))
	return err == nil
}

// MadeNestedCommit reports whether the repository at path has a commit that it got from no other one.
func MadeNestedCommit(ctx context.Context, repo *git.Repo, path, commit string) bool {
	if !NestedAt(repo, path) {
		return false
	}
	dir := filepath.Join(repo.Root(), filepath.FromSlash(path))
	out, err := git.Run(ctx, git.Call{
		Dir: dir, Args: []string{"for-each-ref", "--count=1", "--contains=" + commit, "--format=x", "refs/remotes"},
	})
	return err == nil && len(out) == 0
}

// ForeignNested returns the first repository in a commit that is not a submodule, and the first submodule with a commit that only this
// checkout has, when such are asked for: a user's own stays with the user. A commit has only their names, and what is in them would be
// nowhere else: leave lists the folders, ending in a slash.
func ForeignNested(
	ctx context.Context, repo *git.Repo, head string, names []git.Change, submodules bool,
) (repository, submodule string, leave []string, err error) {
	var declared map[string]string
	for _, n := range names {
		if n.Link == "" {
			continue
		}
		if declared == nil {
			if declared, err = declaredBy(ctx, repo, "--blob", head+":.gitmodules"); err != nil {
				return repository, submodule, leave, err
			}
		}
		switch _, is := declared[n.Path]; {
		case !is:
			repository = cmp.Or(repository, n.Path)
			if NestedAt(repo, n.Path) {
				leave = append(leave, n.Path+"/")
			}
		case submodules && MadeNestedCommit(ctx, repo, n.Path, n.Link):
			submodule = cmp.Or(submodule, n.Path)
			leave = append(leave, n.Path+"/")
		}
	}
	return repository, submodule, leave, nil
}
