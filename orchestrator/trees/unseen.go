package trees

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/text"
	"relay/reanchor"
)

// unseen names what git status does not show of a worktree: repositories that stand in it and have something that is
// nowhere else, and changes of files that git was told not to look at.
func (w *Tree) unseen(ctx context.Context) (string, error) {
	list, err := w.Repo.Run(ctx, reanchor.Call{Args: []string{"ls-files", "--stage", "-v", "-z"}, Limit: gitcmd.MaxPrinted})
	if err != nil {
		return "git cannot list its files: " + err.Error(), ctx.Err()
	}
	var inner, hidden, files []string
	for entry := range strings.SplitSeq(string(list), "\x00") {
		about, path, ok := strings.Cut(entry, "\t") // H 100644 <object> 0
		fields := strings.Fields(about)
		files = append(files, path)
		switch {
		case !ok || len(fields) != 4:
		case fields[1] == "160000":
			if w.OnlyIn(ctx, path) != "" {
				inner = append(inner, path)
			}
		case (fields[0] >= "a" || fields[0] == "S") && !w.holds(ctx, path, fields[2]):
			hidden = append(hidden, path)
		}
	}
	if inner = append(inner, w.remade(files)...); isRepository(filepath.Join(w.Repo.Root(), ".git")) && filepath.Join(w.Repo.Root(), ".git") != w.Repo.GitDir() {
		inner = append(inner, ".git")
	}
	switch {
	case len(inner) > 0:
		return "repositories of their own inside it: " + text.Listed(inner), nil
	case len(hidden) > 0:
		return "changes that git was told not to look at: " + text.Listed(hidden), nil
	}
	return "", nil
}

// holds reports whether a file is what an object has, or is not there.
func (w *Tree) holds(ctx context.Context, path, object string) bool {
	info, err := os.Lstat(filepath.Join(w.Repo.Root(), filepath.FromSlash(path)))
	if err != nil || !info.Mode().IsRegular() {
		return err != nil
	}
	out, err := w.Repo.Run(ctx, gitcmd.Writing("hash-object", "--", path))
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
