package slot

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/nested"
	"relay/orchestrator/text"
	"relay/reanchor"
)

// hidden names what git status does not show of a worktree: repositories that stand in it and have something that is
// nowhere else, and changes of files that git was told not to look at.
func hidden(ctx context.Context, repo *reanchor.Git) (string, error) {
	list, err := repo.Run(ctx, reanchor.Call{Args: []string{"ls-files", "--stage", "-v", "-z"}, Limit: gitcmd.MaxPrinted})
	if err != nil {
		return "git cannot list its files: " + err.Error(), ctx.Err()
	}
	var inner, covered, files []string
	for entry := range strings.SplitSeq(string(list), "\x00") {
		about, path, ok := strings.Cut(entry, "\t") // H 100644 <object> 0
		fields := strings.Fields(about)
		files = append(files, path)
		switch {
		case !ok || len(fields) != 4:
		case fields[1] == "160000":
			if nested.UniqueAt(ctx, repo, path) != "" {
				inner = append(inner, path)
			}
		case (fields[0] >= "a" || fields[0] == "S") && !holds(ctx, repo, path, fields[2]):
			covered = append(covered, path)
		}
	}
	inner = append(inner, nested.Remade(repo, files)...)
	if own := filepath.Join(repo.Root(), ".git"); isRepository(own) && own != repo.GitDir() {
		inner = append(inner, ".git")
	}
	switch {
	case len(inner) > 0:
		return "repositories of their own inside it: " + text.Listed(inner), nil
	case len(covered) > 0:
		return "changes that git was told not to look at: " + text.Listed(covered), nil
	}
	return "", nil
}

// holds reports whether a file is what an object has, or is not there.
func holds(ctx context.Context, repo *reanchor.Git, path, object string) bool {
	info, err := os.Lstat(filepath.Join(repo.Root(), filepath.FromSlash(path)))
	if err != nil || !info.Mode().IsRegular() {
		return err != nil
	}
	out, err := repo.Run(ctx, gitcmd.Writing("hash-object", "--", path))
	return err == nil && strings.TrimSpace(string(out)) == object
}

// isRepository reports whether a path is the folder of a repository, and not a file that leads to one.
func isRepository(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	_, err = os.Lstat(filepath.Join(path, gitcmd.HeadFile))
	return err == nil
}
