package slot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/git/worktree"
	"relay/reanchor/git"
)

// Oldest git that merges in the object database.
const gitMajor, gitMinor = 2, 38

// CheckRepository returns nil when tasks can work in repositories made from this one, else a [*attempts.RefusedError] that
// says why not.
func CheckRepository(ctx context.Context, repo *git.Repo) error {
	const otherwise = "or set relay.isolation: none"
	out, err := repo.Run(ctx, git.Call{Args: []string{"version"}})
	if err != nil {
		return err
	}
	if version := strings.TrimSpace(strings.TrimPrefix(string(out), "git version ")); !newEnough(version) {
		return &attempts.RefusedError{
			Reason: fmt.Sprintf("git %s is too old for tasks in worktrees: they need %d.%d", version, gitMajor, gitMinor),
			Hint:   "install a newer git, " + otherwise,
		}
	}
	if head, err := repo.Head(ctx); err != nil || head == "" {
		if err != nil {
			return err
		}
		return &attempts.RefusedError{Reason: "this repository has no commit yet, from which tasks could begin", Hint: "git add -A && git commit --allow-empty -m Begin, then relay work"}
	}
	for _, taken := range []string{"relay", strings.TrimSuffix(git.TaskBranches, "/")} {
		at, err := repo.Ref(ctx, "refs/heads/"+taken)
		if err != nil {
			return err
		}
		if at != "" {
			return &attempts.RefusedError{
				Reason: "there is a branch named " + taken + ", so git cannot make the branches below " + taken + "/ that tasks need",
				Hint:   "git branch -m " + taken + " another-name, then relay work",
			}
		}
	}
	if err := checkAccess(repo); err != nil {
		return err
	}
	return checkFilters(ctx, repo)
}

// checkAccess refuses a repository in which another user, such as root with sudo git, has made objects or branches that git cannot go on
// with.
func checkAccess(repo *git.Repo) error {
	for _, part := range []string{"objects", "refs/heads", "logs/refs/heads"} {
		err := filepath.WalkDir(filepath.Join(repo.CommonDir(), part), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				err = unix.Access(path, unix.R_OK|unix.W_OK|unix.X_OK)
			} else if err == nil {
				err = unix.Access(path, unix.R_OK)
			}
			if err == nil || errors.Is(err, fs.ErrNotExist) { // git clears up meanwhile
				return nil
			}
			return &attempts.RefusedError{
				Reason: "git cannot work with " + path + ": " + plaintext.Fit(err.Error(), 200),
				Hint:   `sudo chown -R "$(id -un)" ` + plaintext.ShellWord(repo.CommonDir()) + ", then relay work",
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// CheckFolder refuses a folder for worktrees, absolute, that cannot be made because a file is in its way: a
// [*attempts.RefusedError]. It writes nothing.
func CheckFolder(dir string) error {
	above := filepath.Dir(dir) // the last name is relay's own
	if _, err := os.Stat(filepath.Join(above, "name")); errors.Is(err, unix.ENOTDIR) {
		return &attempts.RefusedError{Reason: "a file is in the way of " + above + ", where worktrees go", Hint: "move it away, or have relay.worktree.dir name a folder"}
	}
	return nil
}

// newEnough reports whether a version of git is new enough. It takes a version that it cannot read for newer.
func newEnough(version string) bool {
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil {
		return true
	}
	return major > gitMajor || major == gitMajor && minor >= gitMinor
}

// SubmoduleSetUp is what the command of [SetUpSubmodules] begins with.
const SubmoduleSetUp = "git -c protocol.file.allow=always"

// SetUpSubmodules returns a shell command that checks out in a slot the submodules that are checked out in the user's checkout, from there;
// "": there are none.
func SetUpSubmodules(ctx context.Context, repo *git.Repo) string {
	names := worktree.NestedHere(ctx, repo)
	if len(names) == 0 {
		return ""
	}
	command, paths := SubmoduleSetUp, ""
	for _, path := range slices.Sorted(maps.Keys(names)) {
		from := filepath.Join(repo.Root(), filepath.FromSlash(path))
		command += " -c " + plaintext.ShellWord("submodule."+names[path]+".url="+from)
		paths += " " + plaintext.ShellWord(path)
	}
	return command + " submodule --quiet update --init --" + paths
}
