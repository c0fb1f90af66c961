package backup

import (
	"context"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/orchestrator/git/gitcmd"
	"relay/reanchor"
)

// recovery takes over into a copy of .git what a damaged one has beyond it: the copy is as old as the last landing, and
// somebody may have committed since. It does what it can: all that is left behind stays in the damaged one.
type recovery struct {
	root     string // of the checkout
	from, to string // the damaged one, and the copy on its way into its place
}

func (n *recovery) run(ctx context.Context) {
	n.objects()
	n.branches(ctx)
	n.worktrees()
	n.headAndIndex(ctx)
}

// call returns a call of git on the copy.
func (n *recovery) call(args ...string) reanchor.Call {
	call := gitcmd.Writing(args...)
	call.Dir, call.GitDir, call.WorkTree, call.Stdout = n.root, n.to, n.root, io.Discard
	return call
}

func (n *recovery) git(ctx context.Context, args ...string) error {
	_, err := reanchor.Run(ctx, n.call(args...))
	return err
}

// objects links what never changes once it is written.
func (n *recovery) objects() {
	_ = filepath.WalkDir(n.from, func(path string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(n.from, path)
		if err != nil || relErr != nil || !d.Type().IsRegular() || !inObjects(rel) || strings.HasSuffix(rel, ".lock") {
			return nil //nolint:nilerr // what cannot be read is left out
		}
		to := filepath.Join(n.to, rel)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err == nil {
			_ = linkFile(path, to)
		}
		return nil
	})
}

// branches restores refs with their logs. One that the copy has too goes on only to a commit that has the old one in its
// history, unless it is relay's own or the stash.
func (n *recovery) branches(ctx context.Context) {
	theirs, ours := readRefs(n.from), readRefs(n.to)
	tried := 0
	for _, name := range slices.Sorted(maps.Keys(theirs)) {
		commit, was := theirs[name], ours[name]
		if commit == was {
			continue
		}
		if tried++; tried > mostNewer {
			return
		}
		follows := was == "" || name == stashRef || strings.HasPrefix(name, "refs/heads/"+gitcmd.TaskBranches) ||
			n.git(ctx, "merge-base", "--is-ancestor", was, commit) == nil
		if !follows || n.git(ctx, "rev-list", "--objects", "--quiet", commit, "--not", "--all", "--") != nil {
			continue
		}
		to := filepath.Join(n.to, filepath.FromSlash(name))
		if os.MkdirAll(filepath.Dir(to), 0o755) == nil && os.WriteFile(to, []byte(commit+"\n"), 0o644) == nil {
			n.file("logs/" + name)
		}
	}
}

const (
	stashRef  = "refs/stash"
	mostNewer = 1000 // refs that are asked about one by one
)

// file restores one plain file, named with slashes.
func (n *recovery) file(name string) {
	from, to := filepath.Join(n.from, filepath.FromSlash(name)), filepath.Join(n.to, filepath.FromSlash(name))
	if info, err := os.Lstat(from); err != nil || !info.Mode().IsRegular() {
		return
	}
	if os.MkdirAll(filepath.Dir(to), 0o755) == nil {
		_ = gitcmd.CopyFile(from, to)
	}
}

// worktrees restores git's files about linked worktrees, of which somebody may be at work in one.
func (n *recovery) worktrees() {
	found, _ := os.ReadDir(filepath.Join(n.from, "worktrees")) // none: nobody has made one
	for _, f := range found {
		from, to := filepath.Join(n.from, "worktrees", f.Name()), filepath.Join(n.to, "worktrees", f.Name())
		if texts := gitcmd.Contents(from, []string{gitcmd.HeadFile, "gitdir"}); texts[0] == "" || texts[1] == "" {
			continue
		}
		if os.RemoveAll(to) == nil {
			_ = copyAll(from, to)
		}
	}
}

// headAndIndex restores HEAD, if there is such a commit, and the index, if all that it names is there.
func (n *recovery) headAndIndex(ctx context.Context) {
	head := strings.TrimSpace(gitcmd.Plain(filepath.Join(n.from, gitcmd.HeadFile), gitcmd.SmallFile))
	name, symbolic := strings.CutPrefix(head, "ref: ")
	if (symbolic && strings.HasPrefix(name, "refs/heads/") || isHash(name)) && n.git(ctx, "cat-file", "-e", name+"^{commit}") == nil {
		n.file(gitcmd.HeadFile)
		n.file("logs/" + gitcmd.HeadFile)
	}
	index := filepath.Join(n.from, "index")
	if info, err := os.Lstat(index); err != nil || !info.Mode().IsRegular() {
		return
	}
	call := n.call("write-tree")
	call.Env = append(call.Env, "GIT_INDEX_FILE="+index)
	if _, err := reanchor.Run(ctx, call); err == nil {
		n.file("index")
	}
}

// readRefs reads the refs of a .git from their files.
func readRefs(dir string) map[string]string {
	refs := make(map[string]string)
	add := func(name, value string) {
		value = strings.TrimSpace(value)
		if isHash(value) && filepath.IsLocal(name) && !strings.HasSuffix(name, ".lock") {
			refs[name] = value
		}
	}
	for line := range strings.Lines(gitcmd.Plain(filepath.Join(dir, gitcmd.PackedRefs), gitcmd.MaxPrinted)) {
		if value, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.HasPrefix(name, "refs/") {
			add(name, value)
		}
	}
	_ = filepath.WalkDir(filepath.Join(dir, "refs"), func(path string, d fs.DirEntry, err error) error {
		if rel, relErr := filepath.Rel(dir, path); err == nil && relErr == nil && d.Type().IsRegular() {
			add(filepath.ToSlash(rel), gitcmd.Plain(path, gitcmd.SmallFile))
		}
		return nil
	})
	return refs
}

func isHash(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}
