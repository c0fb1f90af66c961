// Package git reads and writes repositories for relay: facts with go-git or the git program, commands that may write, and locks. It alone
// imports go-git and starts git.
//
// command.go is what the packages below orchestrator/git are built on: git commands that may write, the locks of refs and of the
// repository, files that an agent can have written, objects that are there or damaged. The packages above decide where commands run, and
// what lands or is kept.
//
// gitindex.go reads the index of a checkout, in which git notes how it left each file.
package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"relay/epic/pattern"
	"relay/epic/plaintext"
)

var (
	// ErrNoRepository means that no folder from here upwards belongs to a git repository.
	ErrNoRepository = errors.New("not a git repository")
	// ErrBare means that the repository has no files checked out here.
	ErrBare = errors.New("the git repository has no work tree here")
)

// Repo is one checkout. Its methods may be called side by side.
//
// The repository is found once, by git and under git's ownership rules; after that every command gets its path.
// So a checkout that lost its .git to an agent is an error, and never the user's repository in a folder above it.
type Repo struct {
	root, gitDir, commonDir string
	emptyTree               string
	fast                    fast
	env                     []string // see Within
}

// Hashes of the empty tree, which stands for what was there before the first commit.
const (
	emptySHA1   = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
	emptySHA256 = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
)

// Open finds the checkout that dir is in. Its error is [ErrNoRepository], [ErrBare], or a [*Error] with git's
// reason, such as a repository that belongs to another user.
func Open(ctx context.Context, dir string) (*Repo, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open repository: %w", err)
	}
	out, err := Run(ctx, Call{Dir: dir, AtOnce: true, Args: []string{
		"rev-parse", "--show-object-format", "--is-inside-work-tree",
		"--absolute-git-dir", "--git-common-dir", "--show-toplevel",
	}})
	lines := bytes.Split(bytes.TrimSuffix(out, []byte("\n")), []byte("\n"))
	switch {
	case len(lines) > 1 && string(lines[1]) == "false":
		return nil, ErrBare
	case err != nil && ExitCode(err) > 0 && !repositoryAbove(dir):
		return nil, ErrNoRepository
	case err != nil:
		return nil, fmt.Errorf("open repository: %w", err)
	}
	g := &Repo{emptyTree: emptySHA1}
	if string(lines[0]) == "sha256" {
		g.emptyTree = emptySHA256
	}
	if len(lines) != 5 {
		return nil, fmt.Errorf("open repository: %q: a path with a line break", dir)
	}
	paths := [3]string{}
	for i := range paths {
		p := filepath.FromSlash(string(lines[2+i]))
		if !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
		paths[i] = filepath.Clean(p)
	}
	g.gitDir, g.commonDir, g.root = paths[0], paths[1], paths[2]
	g.fast = fast{gitDir: g.gitDir, commonDir: g.commonDir}
	return g, nil
}

// repositoryAbove reports whether dir or a folder above it looks like a checkout: then git had another reason. An empty
// .git is none: sandboxes of agents leave such folders behind.
func repositoryAbove(dir string) bool {
	for {
		inside, err := os.ReadDir(filepath.Join(dir, ".git"))
		if !errors.Is(err, os.ErrNotExist) && (err != nil || len(inside) > 0) {
			return true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
}

// ExitCode returns git's exit status: 0 for no error, -1 for an error that is not git's own.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return -1
}

// Borrower returns a repository of its own that borrows this one's objects: root is its folder, gitDir its git folder,
// both without symbolic links. Nothing is looked up: whatever stands in place of its .git leads nowhere else.
func (g *Repo) Borrower(root, gitDir string) *Repo {
	return &Repo{
		root: root, gitDir: gitDir, commonDir: gitDir, emptyTree: g.emptyTree,
		fast: fast{gitDir: gitDir, commonDir: gitDir, lender: g.commonDir}, env: g.env,
	}
}

// Wide reports whether the names of objects are SHA-256.
func (g *Repo) Wide() bool { return g.emptyTree == emptySHA256 }

// Within returns the same checkout, whose git commands get the variables of env and what is git's own of relay's. An
// agent can have a filter run with each file that git writes: it must not find there what the agent itself was not given.
func (g *Repo) Within(env []string) *Repo {
	return &Repo{root: g.root, gitDir: g.gitDir, commonDir: g.commonDir, emptyTree: g.emptyTree, fast: g.fast, env: append([]string{}, env...)}
}

// Root returns the top folder of the checkout, absolute and without symbolic links.
func (g *Repo) Root() string { return g.root }

// GitDir returns the checkout's own git folder; for a linked worktree it lies below CommonDir.
func (g *Repo) GitDir() string { return g.gitDir }

// CommonDir returns the git folder that all worktrees of the repository share.
func (g *Repo) CommonDir() string { return g.commonDir }

// Run runs a git command in this checkout and in no other: c.Dir is the root when empty, c.GitDir and c.WorkTree are set. A command
// that returns what it prints and does not find an object is run a second time: git gc or git repack may have moved it that moment.
func (g *Repo) Run(ctx context.Context, c Call) ([]byte, error) {
	c.Dir = cmp.Or(c.Dir, g.root)
	c.GitDir, c.WorkTree, c.within = g.gitDir, g.root, g.env
	out, err := Run(ctx, c)
	var gitErr *Error
	if c.Stdout != nil || !errors.As(err, &gitErr) || gitErr.Code < 0 || !vanished.MatchString(gitErr.Stderr) {
		return out, err
	}
	if stdin, ok := c.Stdin.(io.Seeker); ok {
		if _, err := stdin.Seek(0, io.SeekStart); err != nil {
			return out, err
		}
	} else if c.Stdin != nil {
		return out, err
	}
	return Run(ctx, c)
}

// vanished is what git says of an object or a pack that is not where it was.
var vanished = pattern.New(
	`packfile |\.pack |(?:[Cc]ould not read|cannot read|failed to read|unable to (?:read|find|open)|bad object|missing \w+) .*\b[0-9a-f]{40}`)

// Head returns the full hash of HEAD, or "" before the first commit.
func (g *Repo) Head(ctx context.Context) (string, error) { return g.Ref(ctx, "HEAD") }

// Ref returns the full hash a reference (HEAD, refs/…) leads to, or "" when there is none of that name.
func (g *Repo) Ref(ctx context.Context, name string) (string, error) {
	if err := checkRef(name); err != nil {
		return "", err
	}
	if hash, err := g.fast.ref(name); err == nil {
		return hash, nil
	}
	return g.line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
}

// Branch returns the branch that is checked out, before its first commit too, or "" when HEAD is detached. A HEAD
// outside refs/heads is returned by its full name.
func (g *Repo) Branch(ctx context.Context) (string, error) {
	name, err := g.fast.symbolic()
	if err == nil {
		return strings.TrimPrefix(name, "refs/heads/"), nil
	}
	name, err = g.line(ctx, "symbolic-ref", "--quiet", "HEAD")
	return strings.TrimPrefix(name, "refs/heads/"), err
}

// line runs a command that prints one line, or exits with 1 when it has nothing to say.
func (g *Repo) line(ctx context.Context, args ...string) (string, error) {
	out, err := g.Run(ctx, Call{Args: args})
	if ExitCode(err) == 1 {
		return "", nil
	}
	return strings.TrimSuffix(string(out), "\n"), err
}

// Tree returns the full hash of a commit's tree.
func (g *Repo) Tree(ctx context.Context, commit string) (string, error) {
	if IsHash(commit) {
		if tree, err := g.fast.tree(commit); err == nil {
			return tree, nil
		}
	}
	return verify(ctx, g, commit+"^{tree}")
}

// HeadCommit returns the full hash of the commit HEAD leads to. That there is none is an error, and so is one git cannot find.
func (g *Repo) HeadCommit(ctx context.Context) (string, error) {
	if hash, err := g.fast.ref("HEAD"); err == nil {
		if _, err := g.fast.tree(hash); err == nil {
			return hash, nil
		}
	}
	return verify(ctx, g, "HEAD^{commit}")
}

// verify returns the full hash of the one object a name stands for.
func verify(ctx context.Context, g *Repo, name string) (string, error) {
	out, err := g.Run(ctx, Call{Args: []string{"rev-parse", "--verify", "--end-of-options", name}})
	return strings.TrimSpace(string(out)), err
}

// checkRef refuses what git would read as an option or as an expression instead of a name.
func checkRef(name string) error {
	odd := func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune("~^:?*[\\", r) }
	plain := name == "HEAD" || strings.HasPrefix(name, "refs/")
	if !plain || strings.Contains(name, "..") || strings.Contains(name, "@{") || strings.ContainsFunc(name, odd) {
		return fmt.Errorf("reference %q: want HEAD or a name below refs/", plaintext.Head(name, 200))
	}
	return nil
}
