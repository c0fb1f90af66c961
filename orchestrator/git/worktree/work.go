package worktree

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"relay/epic/plaintext"
	"relay/reanchor/git"
)

// CommitLeftovers commits what an attempt left uncommitted, and returns the head that has it: every change of a tracked
// file, and the untracked files that takes reports. A nil takes means all of them: the tree is exactly that head then.
func (w *Tree) CommitLeftovers(ctx context.Context, message string, takes func(path string) bool) (head string, err error) {
	return apart(ctx, w.Records, func() (string, error) { return commitLeftovers(ctx, w, message, takes) })
}

func commitLeftovers(ctx context.Context, w *Tree, message string, takes func(path string) bool) (head string, err error) {
	if err := w.User.Unhide(ctx, w.Runner()); err != nil {
		return "", err
	}
	fresh, err := fresh(ctx, w, takes)
	if err != nil {
		return "", err
	}
	w.stage = staging{run: w.Runner(), refused: map[string]error{}}
	left, err := w.stage.all(ctx, fresh)
	if err != nil {
		return "", err
	}
	w.Leave(left...)
	if err := errors.Join(w.User.Release(ctx, w.Runner(), "HEAD"), w.stage.unstageConverted(ctx)); err != nil {
		return "", err
	}
	head, err = w.Head(ctx)
	if _, same := w.git(ctx, nil, "diff", "--cached", "--quiet", "--ignore-submodules=none"); err != nil || same == nil {
		return head, err
	}
	if len(w.stage.refused) > 0 { // git commit would pass the files through the filters that refuse them
		tree, err := w.git(ctx, nil, "write-tree")
		if err != nil {
			return "", err
		}
		return commitTree(ctx, w, strings.TrimSpace(string(tree)), head, message)
	}
	// Not by stdin: what it reads of a relay that is killed is an empty message.
	args := append([]string{"-c", "i18n.commitEncoding=UTF-8"}, git.Identity(ctx, w.Repo)...)
	args = append(args, "commit", "--quiet", "--no-verify", "--allow-empty-message", "--message="+message)
	if _, err := w.git(ctx, nil, args...); err != nil {
		return "", err
	}
	return w.Head(ctx)
}

// fresh lists the new files that takes reports, or all. Repositories are left where they are: a commit would have only their names.
func fresh(ctx context.Context, w *Tree, takes func(path string) bool) ([]string, error) {
	all, err := untracked(ctx, w)
	return slices.DeleteFunc(all, func(p string) bool {
		inner := strings.HasSuffix(p, "/")
		if inner {
			w.Leave(p)
		}
		return inner || takes != nil && !takes(p)
	}), err
}

// commitTree commits a tree onto a parent and moves HEAD there.
func commitTree(ctx context.Context, w *Tree, tree, parent, message string) (commit string, err error) {
	args := append([]string{"-c", "i18n.commitEncoding=UTF-8"}, git.Identity(ctx, w.Repo)...)
	made, err := w.git(ctx, nil, append(args, "commit-tree", "-p", parent, "-m", message, tree)...)
	if err != nil {
		return "", err
	}
	commit = strings.TrimSpace(string(made))
	_, err = w.git(ctx, nil, "update-ref", "-m", git.KeptMessage, "HEAD", commit)
	return commit, err
}

// Squash replaces the commits from base to HEAD by one that has their files and the message of the last of them.
func Squash(ctx context.Context, w *Tree, base, head string) (commit string, err error) {
	message, err := w.git(ctx, nil, "log", "-1", "--format=%B", head, "--")
	if err != nil {
		return "", err
	}
	return commitTree(ctx, w, head+"^{tree}", base, strings.TrimSpace(string(message)))
}

// Refused returns, by path, git's error for files that their filters or encodings refuse. They are committed as they
// are.
func (w *Tree) Refused() map[string]error { return w.stage.refused }

// Untaken lists tracked paths at which an attempt has left what git does not take: a commit would have what was there
// before.
func (w *Tree) Untaken() []string { return w.stage.untaken }

// standing returns those of paths at which a file stands: it is in no commit.
func standing(w *Tree, paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		info, err := os.Lstat(filepath.Join(w.Repo.Root(), filepath.FromSlash(p)))
		return errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular()
	})
}

// SetAside makes a commit that has files as they are now in the checkout, on top of HEAD, and moves no branch. The files
// stay where they are. The same files on the same HEAD are the same commit. It notes files that git does not take with [Tree.Leave].
func (w *Tree) SetAside(ctx context.Context, paths []string, message string) (commit string, err error) {
	index := filepath.Join(w.Repo.GitDir(), "relay-aside")
	defer func() { err = errors.Join(err, git.RemoveIfThere(index), git.RemoveIfThere(index+".lock")) }()
	list := strings.Join(paths, "\x00")
	repo := func(stdin io.ReadSeeker, args ...string) (string, error) {
		call := git.Writing(args...)
		call.Stdin, call.Env = stdin, append(call.Env, "GIT_INDEX_FILE="+index)
		out, err := w.Repo.Run(ctx, call)
		return strings.TrimSpace(string(out)), err
	}
	when, err := repo(nil, "log", "-1", "--format=%cI", "HEAD", "--")
	if err != nil {
		return "", err
	}
	if _, err := repo(nil, "read-tree", "HEAD"); err != nil {
		return "", err
	}
	if _, err := repo(strings.NewReader(list), "add", "--sparse", "--ignore-errors",
		"--pathspec-from-file=-", "--pathspec-file-nul"); err != nil {
		if err := recordRefused(w, repo, paths, err); err != nil {
			return "", err
		}
	}
	tree, err := repo(nil, "write-tree")
	if err != nil {
		return "", err
	}
	at, _ := time.Parse(time.RFC3339, when) // the zero time will do
	call := git.Writing(append(git.Identity(ctx, w.Repo), "commit-tree", "-p", "HEAD", "-m", message, tree)...)
	call.Env = append(call.Env, "GIT_AUTHOR_DATE="+at.Format(time.RFC3339), "GIT_COMMITTER_DATE="+at.Format(time.RFC3339))
	out, err := w.Repo.Run(ctx, call)
	return strings.TrimSpace(string(out)), err
}

// recordRefused records the files that git has not taken into an index. Any other refusal is returned.
func recordRefused(w *Tree, repo func(io.ReadSeeker, ...string) (string, error), paths []string, refused error) error {
	if git.ExitCode(refused) != 1 {
		return refused
	}
	out, err := repo(nil, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return errors.Join(refused, err)
	}
	w.Leave(slices.DeleteFunc(strings.Split(out, "\x00"), func(p string) bool { return !slices.Contains(paths, p) })...)
	return nil
}

// Discard removes untracked files that are kept elsewhere, and the folders that are empty then.
func (w *Tree) Discard(paths []string) error {
	root, err := os.OpenRoot(w.Repo.Root())
	if err != nil {
		return err
	}
	for _, p := range paths {
		if !w.left[p] && removeIn(root, p) != nil {
			w.Leave(p)
		}
	}
	return root.Close()
}

// large is the size in bytes from which a file is dropped in any case.
const large = 64 << 10

// DropLarge makes room on a full disk: it removes untracked files, ignored ones as well, that were written since an instant. These are all
// that are large and, if that makes at least so many bytes of room and twice as many as git needs for what stays, the largest of the
// others. It returns text that says so.
func DropLarge(ctx context.Context, w *Tree, since time.Time, room int64) string {
	list, err := w.git(ctx, nil, "ls-files", "--others", "-z")
	if err != nil {
		return "" // what fails because of that is said
	}
	sizes, all := make(map[string]int64), int64(0)
	for _, p := range paths(list) {
		info, err := os.Lstat(filepath.Join(w.Repo.Root(), filepath.FromSlash(p)))
		if err == nil && info.Mode().IsRegular() && !info.ModTime().Before(since) && !w.User.Has(p) {
			sizes[p] = info.Size()
			all += info.Size()
		}
	}
	var drop, said []string
	if room = max(room, all/3*2); all < room {
		room = 0
	}
	for _, p := range slices.SortedFunc(maps.Keys(sizes), func(a, b string) int { return cmp.Compare(sizes[b], sizes[a]) }) {
		if size := sizes[p]; size >= large || room > 0 {
			drop, said, room = append(drop, p), append(said, p+" ("+plaintext.Bytes(uint64(size))+")"), room-size
		}
	}
	if err := w.Discard(drop); len(drop) == 0 || err != nil {
		return ""
	}
	return "relay removed " + plaintext.Listed(said) + ", which the agent had written"
}

// PutBack restores the files that protected covers to what a commit has, and returns those that differed.
func (w *Tree) PutBack(ctx context.Context, commit string, protected func(path string) bool) ([]string, error) {
	return apart(ctx, w.Records, func() ([]string, error) {
		changed, err := w.Differing(ctx, commit, protected)
		if err == nil && len(changed) > 0 {
			_, err = w.git(ctx, strings.NewReader(strings.Join(changed, "\x00")),
				"checkout", "--quiet", "--force", "--pathspec-from-file=-", "--pathspec-file-nul", commit)
		}
		return changed, err
	})
}

// Differing lists the files of a commit that protected covers and that are not what the commit has.
func (w *Tree) Differing(ctx context.Context, commit string, protected func(path string) bool) ([]string, error) {
	return apart(ctx, w.Records, func() ([]string, error) { return differing(ctx, w, commit, "a", protected) }) // all but added
}

func differing(ctx context.Context, w *Tree, commit, filter string, protected func(path string) bool) ([]string, error) {
	if _, err := os.Lstat(filepath.Join(w.Repo.GitDir(), "index")); errors.Is(err, os.ErrNotExist) { // without one all files differ
		if _, err := w.git(ctx, nil, "read-tree", "HEAD"); err != nil {
			return nil, err
		}
	}
	call := git.Writing("diff", "--no-ext-diff", "--no-textconv",
		"--name-only", "--no-renames", "--diff-filter="+filter, "-z", commit, "--")
	call.Limit = git.MaxPrinted
	out, err := w.Repo.Run(ctx, call)
	changed := slices.DeleteFunc(paths(out), func(path string) bool { return !protected(path) })
	return Unconverted(ctx, w.Repo, commit, changed), err
}

// Withdraw reverts every change since a commit to files that protected covers, new ones included, and commits that.
func (w *Tree) Withdraw(ctx context.Context, commit, message string, protected func(path string) bool) (head string, err error) {
	return apart(ctx, w.Records, func() (string, error) {
		added, err := differing(ctx, w, commit, "A", protected)
		if err == nil && len(added) > 0 {
			_, err = w.git(ctx, strings.NewReader(strings.Join(added, "\x00")),
				"rm", "--quiet", "--force", "--sparse", "--pathspec-from-file=-", "--pathspec-file-nul")
		}
		if err == nil {
			_, err = w.PutBack(ctx, commit, protected)
		}
		if err != nil {
			return "", err
		}
		return w.CommitLeftovers(ctx, message, func(string) bool { return false })
	})
}

// Lay writes those of paths that a commit has into the checkout, and removes the others; the index stays as it is.
func (w *Tree) Lay(ctx context.Context, commit string, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	args := append([]string{"ls-tree", "-r", "--name-only", "-z", commit, "--"}, paths...)
	out, err := w.git(ctx, nil, args...)
	if err != nil {
		return err
	}
	there := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	added := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return slices.Contains(there, p) })
	if err := w.Discard(added); err != nil || len(out) == 0 {
		return err
	}
	_, err = w.git(ctx, strings.NewReader(strings.Join(there, "\x00")),
		"restore", "--worktree", "--source="+commit, "--pathspec-from-file=-", "--pathspec-file-nul")
	return err
}

// ResumeWork makes the files what they are in commit from, without moving a branch: a relay that is killed in between has lost nothing, and
// every commit it finds belongs to somebody. With join the files are joined with base where that has moved on.
func (w *Tree) ResumeWork(ctx context.Context, base, from string, join bool) (done bool, err error) {
	return apart(ctx, w.Records, func() (bool, error) { return resumeWork(ctx, w, base, from, join) })
}

func resumeWork(ctx context.Context, w *Tree, base, from string, join bool) (bool, error) {
	if _, err := w.git(ctx, nil, "cat-file", "-e", from+"^{commit}"); err != nil {
		return false, git.Unasked(err) // somebody has removed it
	}
	follows, err := w.Contains(ctx, base, from)
	if err == nil && !follows && !join {
		return false, nil
	}
	if err == nil && !follows {
		var merged []byte
		merged, err = w.git(ctx, nil, "merge-tree", "--write-tree", "--no-messages", base, from)
		from = strings.TrimSpace(string(merged))
	}
	if err != nil {
		return false, git.Unasked(err) // what it had changed was changed since
	}
	if head, err := w.Head(ctx); err != nil || head != base {
		return false, err
	}
	if _, err := w.git(ctx, nil, "diff", "--quiet", "HEAD"); err != nil {
		return false, git.Unasked(err) // somebody is at work here
	}
	if _, err := w.git(ctx, nil, "read-tree", "-m", "-u", "HEAD", from); err != nil {
		return false, git.Unasked(err) // git looks first whether it would overwrite anything, and then changes nothing
	}
	return true, nil
}
