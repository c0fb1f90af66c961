package checkup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"relay/cmd/relay/internal/project"
	"relay/epic/plaintext"
	"relay/orchestrator/engine"
	"relay/orchestrator/git/slot"
	"relay/orchestrator/provision"
	"relay/reanchor/git"
	"relay/runners"
)

// worktrees checks what would stop an agent's own commit, and at what tasks in worktrees need: git, the repository,
// room, and the files of the user's that every worktree gets.
func checkWorktrees(ctx context.Context, c *checkup) {
	if !c.usesWorktrees() {
		checkCommits(ctx, c)
		return
	}
	if head, err := c.project.Git.Head(ctx); err == nil && head == "" {
		return // another point says so: there is nothing to go back to
	}
	err := slot.CheckRepository(ctx, c.project.Git)
	if err == nil {
		err = slot.CheckFolder(c.project.Worktrees().Dir)
	}
	if err != nil {
		c.fail("worktrees", err)
		return
	}
	if branch, err := c.project.Git.Branch(ctx); err == nil && strings.HasPrefix(branch, "relay/") {
		c.add(OK, "worktrees", branch+" is checked out here and stays where it is; relay goes on beside it", "")
	}
	checkCommits(ctx, c)
	checkCopied(ctx, c)
	checkWorktreeFolder(ctx, c, addShared(ctx, c))
}

// addShared says which dependencies worktrees get a copy of, and returns how many bytes that is for each.
func addShared(ctx context.Context, c *checkup) uint64 {
	shared, err := project.FindShared(ctx, c.project)
	switch {
	case err != nil:
		c.fail("worktrees", err)
	case shared.TooMuch != "":
		c.add(Warn, "worktrees", shared.TooMuch, "")
	case shared.Files > 0:
		c.add(OK, "worktrees", "every worktree gets a copy of "+shared.String(), "")
	}
	if folders := project.PythonFolders(ctx, c.project); len(folders) > 0 {
		c.add(OK, "worktrees", "your python finds packages in this checkout ("+plaintext.Listed(folders)+"): in worktrees PYTHONPATH leads to their own", "")
	}
	return uint64(shared.Bytes)
}

// usesWorktrees reports whether tasks get worktrees.
func (c *checkup) usesWorktrees() bool {
	return c.project.Config.Relay.Isolation == string(engine.IsolationWorktree)
}

// slowHooks are those that git runs when somebody commits, or takes a branch up.
var slowHooks = []string{
	"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "pre-merge-commit",
	"post-merge", "pre-rebase", "post-rewrite", "post-checkout", "reference-transaction",
}

// commits reports what could keep an agent's own git commit waiting for somebody.
func checkCommits(ctx context.Context, c *checkup) {
	state, err := git.ReadState(ctx, c.project.Git)
	hooks, failed := git.Hooks(ctx, c.project.Git)
	if err = errors.Join(err, failed); err != nil {
		c.fail("commits", err)
		return
	}
	hooks = slices.DeleteFunc(hooks, func(h string) bool { return !slices.Contains(slowHooks, h) })
	off := slices.ContainsFunc(c.project.Config.Relay.Env, func(entry string) bool {
		name, value, _ := strings.Cut(entry, "=")
		return strings.HasPrefix(name, "GIT_CONFIG_KEY_") && strings.EqualFold(value, "core.hooksPath")
	})
	if _, forAll := c.setting(ctx, "--type=path", "core.hooksPath"); len(hooks) > 0 && !off && (forAll || !c.usesWorktrees()) {
		settings := runners.GitSettings(c.project.Config.Relay.Env, "core.hooksPath=/dev/null")
		c.add(Warn, "commits", "your hooks run when an agent commits, and stop it when they fail in a worktree or without a terminal: "+plaintext.Some(hooks, 9),
			"to turn that off for agents: relay.env: ["+strings.Join(settings, ", ")+"]")
	}
	if state.NoIdentity != "" {
		c.add(Warn, "commits", "git does not know whom to name as author: an agent's own git commit is refused", "git config user.name NAME && git config user.email ADDRESS")
	}
	if state.Partial {
		c.add(Warn, "commits", "this is a partial clone: git fetches what is missing at night, and may ask for a password", "git fetch --refetch --no-filter brings it all")
	}
	if state.Sparse && c.usesWorktrees() {
		c.add(Warn, "worktrees", "this checkout is sparse, and so is every worktree: what an agent changes outside lands as well, but no check sees it", "git sparse-checkout disable, or add what the tasks are about")
	}
}

// setting returns a setting of git's, and whether it holds in the user's other repositories as well: tasks have
// repositories of their own, without the settings of this one.
func (c *checkup) setting(ctx context.Context, kind, key string) (value string, forAll bool) {
	out, err := c.project.Git.Run(ctx, git.Call{Hooks: true, Args: []string{"config", kind, "--show-scope", "--get", key}})
	if err != nil {
		return "", false
	}
	scope, value, _ := strings.Cut(strings.TrimSpace(string(out)), "\t")
	return value, scope != "local" && scope != "worktree"
}

// copiedFiles checks that the files are there that every worktree shall get.
func checkCopied(ctx context.Context, c *checkup) {
	w := c.project.Config.Relay.Worktree
	for _, list := range []struct {
		key   string
		globs []string
	}{{"relay.worktree.copy", w.Copy}, {"relay.worktree.share", w.Share}} {
		for _, glob := range list.globs {
			if glob == provision.Auto && list.key == "relay.worktree.share" {
				continue
			}
			names, err := doublestar.Glob(os.DirFS(c.project.Root), path.Clean(glob), doublestar.WithNoFollow())
			switch {
			case err != nil:
				c.fail("worktrees", fmt.Errorf("%s: %s: %w", list.key, glob, err))
			case len(names) == 0:
				c.add(Warn, "worktrees", list.key+": there is no "+glob+" in this checkout", "make it, or take it out of "+list.key)
			case len(names) == 1 && isCommitted(ctx, c, names[0]):
				c.add(Warn, "worktrees", list.key+": "+glob+" is in every commit, and so in every worktree", "take it out of "+list.key)
			}
		}
	}
}

// isCommitted reports whether the newest commit has a file.
func isCommitted(ctx context.Context, c *checkup, name string) bool {
	kind, err := c.project.Git.Run(ctx, git.Call{Args: []string{"cat-file", "-t", "HEAD:" + name}})
	return err == nil && string(kind) == "blob\n"
}

// worktreeFolder checks the folder of the worktrees: whether git leaves it alone, and whether they find room, each with so many bytes
// besides its tracked files.
func checkWorktreeFolder(ctx context.Context, c *checkup, besides uint64) {
	dir := c.project.Worktrees().Dir
	if named := project.WorktreeDir(c.project); named != "" { // relay's own folder ignores itself
		inside := plaintext.Relative(c.project.Root, named)
		_, err := c.project.Git.Run(ctx, git.Call{Args: []string{"check-ignore", "--quiet", "--", inside + "/1"}})
		if err != nil && !filepath.IsAbs(inside) {
			c.add(Warn, "worktrees", inside+" is not ignored: git status will list the worktrees", "add /"+inside+"/ to .gitignore")
		}
	}
	jobs := c.project.Config.Relay.Jobs
	size, err := checkoutSize(ctx, c)
	if err != nil {
		c.fail("worktrees", err)
		return
	}
	size += besides
	free, err := runners.FreeSpace(project.Nearest(dir))
	n := project.Checkouts(jobs, len(c.project.Agents.Reviewers()))
	state, words, fix := roomFor(fmt.Sprintf("%d checkouts of %s", n, plaintext.Bytes(size)), uint64(n)*size, free, err)
	if fix != "" {
		fix += ", choose another disk with relay.worktree.dir, or lower relay.jobs"
	}
	c.add(state, "worktrees", words, fix)
}

// checkoutSize returns how many bytes the tracked files of this checkout take on disk. git would have to fetch what it lacks to tell
// their sizes.
func checkoutSize(ctx context.Context, c *checkup) (sum uint64, err error) {
	out, err := c.project.Git.Run(ctx, git.Call{Args: []string{"ls-files", "-z"}, Limit: maxNames})
	for name := range strings.SplitSeq(string(out), "\x00") {
		if info, err := os.Lstat(filepath.Join(c.project.Root, filepath.FromSlash(name))); err == nil && !info.IsDir() {
			sum += (uint64(info.Size()) + block - 1) / block * block
		}
	}
	return sum, err
}

// maxNames bounds the names of tracked files, in bytes.
const maxNames = 256 << 20

// block is what even the smallest file takes on most disks.
const block = 4 << 10
