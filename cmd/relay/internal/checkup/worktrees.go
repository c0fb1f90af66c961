package checkup

import (
	"bytes"
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
	"relay/orchestrator/engine"
	"relay/orchestrator/git/support"
	"relay/orchestrator/provision"
	"relay/orchestrator/text"
	"relay/reanchor"
	"relay/runners"
)

// worktrees checks what would stop an agent's own commit, and at what tasks in worktrees need: git, the repository,
// room, and the files of the user's that every worktree gets.
func (c *checkup) worktrees(ctx context.Context) {
	if !c.usesWorktrees() {
		c.commits(ctx)
		return
	}
	if head, err := c.project.Git.Head(ctx); err == nil && head == "" {
		return // that is told as it is: nothing to go back to
	}
	err := support.CheckRepository(ctx, c.project.Git)
	if err == nil {
		err = support.CheckFolder(c.project.Worktrees().Dir)
	}
	var refused *text.RefusedError
	switch {
	case errors.As(err, &refused):
		c.add(Fail, "worktrees", refused.Reason, refused.Hint)
		return
	case err != nil:
		c.fail("worktrees", err)
		return
	}
	if branch, err := c.project.Git.Branch(ctx); err == nil && strings.HasPrefix(branch, "relay/") {
		c.add(OK, "worktrees", branch+" is checked out here and stays where it is; relay goes on beside it", "")
	}
	c.commits(ctx)
	c.copiedFiles(ctx)
	addAbove(c)
	c.worktreeFolder(ctx, addShared(ctx, c))
}

// above are files that programs look for in the folders above the one they work in.
var above = []string{
	".npmrc", ".yarnrc.yml", ".tool-versions", ".python-version", ".node-version", ".nvmrc", ".ruby-version", "mise.toml", "pom.xml",
	".cargo/config.toml", "rust-toolchain.toml", "global.json", "go.work", "pnpm-workspace.yaml",
}

// addAbove names the files above this checkout that programs find from there and not from worktrees.
func addAbove(c *checkup) {
	slots := c.project.Worktrees().Dir
	for dir := filepath.Dir(c.project.Root); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if !filepath.IsAbs(project.Rel(dir, slots)) {
			return // worktrees are below that as well
		}
		var found []string
		for _, name := range above {
			if project.Exists(filepath.Join(dir, name)) {
				found = append(found, name)
			}
		}
		if len(found) > 0 {
			c.add(Warn, "worktrees", "programs find "+text.Listed(found)+" in "+dir+" from this checkout, and not from worktrees",
				"commit it, or put worktrees beside this checkout: relay.worktree.dir: "+filepath.Join(dir, ".relay-worktrees"))
		}
	}
}

// addShared says which dependencies worktrees get a copy of, and returns how many bytes that is for each.
func addShared(ctx context.Context, c *checkup) uint64 {
	if links := c.project.Config.Relay.Worktree.Link; len(links) > 0 {
		c.add(Warn, "worktrees", "relay.worktree.link: "+text.Listed(links)+" is copied: through a link an install in a worktree would empty yours", "name it in relay.worktree.share instead")
	}
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
		c.add(OK, "worktrees", "your python finds packages in this checkout ("+text.Listed(folders)+"): in worktrees PYTHONPATH leads to their own", "")
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
func (c *checkup) commits(ctx context.Context) {
	state, err := c.project.Git.State(ctx)
	if err != nil {
		c.fail("commits", err)
		return
	}
	var found, off []string
	without := func(what, key, value string) {
		given := slices.ContainsFunc(c.project.Config.Relay.Env, func(entry string) bool {
			name, value, _ := strings.Cut(entry, "=")
			return strings.HasPrefix(name, "GIT_CONFIG_KEY_") && strings.EqualFold(value, key)
		})
		if !given {
			found, off = append(found, what), append(off, key+"="+value)
		}
	}
	hooks := slices.DeleteFunc(state.Hooks, func(h string) bool { return !slices.Contains(slowHooks, h) })
	if _, forAll := c.setting(ctx, "--type=path", "core.hooksPath"); len(hooks) > 0 && (forAll || !c.usesWorktrees()) {
		without("your hooks run when an agent commits, and stop it when they fail in a worktree or without a terminal: "+text.Some(hooks, 9), "core.hooksPath", "/dev/null")
	}
	for _, key := range []string{"tag.gpgSign", "tag.forceSignAnnotated"} {
		if c.boolSetting(ctx, key) {
			without("tags are signed ("+key+"): an agent's own git tag may ask for a passphrase", key, "false")
		}
	}
	for i, what := range found {
		fix := ""
		if i == len(found)-1 {
			fix = "to turn that off for agents: relay.env: [" + strings.Join(runners.GitSettings(c.project.Config.Relay.Env, off...), ", ") + "]"
		}
		c.add(Warn, "commits", what, fix)
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

// boolSetting reports whether a boolean of git's configuration is on for agents.
func (c *checkup) boolSetting(ctx context.Context, key string) bool {
	value, forAll := c.setting(ctx, "--type=bool", key)
	return value == "true" && (forAll || !c.usesWorktrees())
}

// setting returns a setting of git's, and whether it holds in the user's other repositories as well: tasks have
// repositories of their own, without the settings of this one.
func (c *checkup) setting(ctx context.Context, kind, key string) (value string, forAll bool) {
	out, err := c.project.Git.Run(ctx, reanchor.Call{Hooks: true, Args: []string{"config", kind, "--show-scope", "--get", key}})
	if err != nil {
		return "", false
	}
	scope, value, _ := strings.Cut(strings.TrimSpace(string(out)), "\t")
	return value, scope != "local" && scope != "worktree"
}

// copiedFiles checks that the files are there that every worktree shall get.
func (c *checkup) copiedFiles(ctx context.Context) {
	w := c.project.Config.Relay.Worktree
	for _, list := range []struct {
		key   string
		globs []string
	}{{"relay.worktree.copy", w.Copy}, {"relay.worktree.share", w.Share}, {"relay.worktree.link", w.Link}} {
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
			case len(names) == 1 && c.tracked(ctx, names[0]):
				c.add(Warn, "worktrees", list.key+": "+glob+" is in every commit, and so in every worktree", "take it out of "+list.key)
			}
		}
	}
}

// tracked reports whether git knows a file.
func (c *checkup) tracked(ctx context.Context, name string) bool {
	_, err := c.project.Git.Run(ctx, reanchor.Call{
		Env: []string{"GIT_LITERAL_PATHSPECS=1"}, Args: []string{"ls-files", "--error-unmatch", "--", name},
	})
	info, statErr := os.Lstat(filepath.Join(c.project.Root, filepath.FromSlash(name)))
	return err == nil && statErr == nil && !info.IsDir()
}

// worktreeFolder checks the folder of the worktrees: whether git leaves it alone, and whether they find room, each with so many bytes
// besides its tracked files.
func (c *checkup) worktreeFolder(ctx context.Context, besides uint64) {
	dir := c.project.Worktrees().Dir
	if named := c.project.WorktreeDir(); named != "" { // relay's own folder ignores itself
		inside := project.Rel(c.project.Root, named)
		_, err := c.project.Git.Run(ctx, reanchor.Call{Args: []string{"check-ignore", "--quiet", "--", inside + "/1"}})
		if err != nil && !filepath.IsAbs(inside) {
			c.add(Warn, "worktrees", inside+" is not ignored: git status will list the worktrees", "add /"+inside+"/ to .gitignore")
		}
	}
	jobs := c.project.Config.Relay.Jobs
	size, err := c.size(ctx)
	if err != nil {
		c.fail("worktrees", err)
		return
	}
	size += besides
	free, err := project.FreeSpace(project.Nearest(dir))
	n := project.Checkouts(jobs, len(c.project.Reviewers()))
	state, words, fix := roomFor(fmt.Sprintf("%d checkouts of %s", n, text.Bytes(size)), uint64(n)*size, free, err)
	if fix != "" {
		fix += ", choose another disk with relay.worktree.dir, or lower relay.jobs"
	}
	c.add(state, "worktrees", words, fix)
}

// size returns how many bytes the tracked files of this checkout take on disk.
func (c *checkup) size(ctx context.Context) (uint64, error) {
	sum := sizeCounter{root: c.project.Root}
	_, err := c.project.Git.Run(ctx, reanchor.Call{Args: []string{"ls-files", "-z"}, Stdout: &sum})
	return sum.bytes, err
}

// sizeCounter adds up the sizes of files, whose names come to it with a NUL behind each. git would have to fetch what it
// lacks to tell their sizes.
type sizeCounter struct {
	root  string
	bytes uint64
	rest  []byte // of a name that has not ended
}

// block is what even the smallest file takes on most disks.
const block = 4 << 10

// Write takes a part of the list.
func (s *sizeCounter) Write(p []byte) (int, error) {
	s.rest = append(s.rest, p...)
	for {
		name, after, whole := bytes.Cut(s.rest, []byte{0})
		if !whole {
			return len(p), nil
		}
		if info, err := os.Lstat(filepath.Join(s.root, filepath.FromSlash(string(name)))); err == nil && !info.IsDir() {
			s.bytes += (uint64(info.Size()) + block - 1) / block * block
		}
		s.rest = after
	}
}
