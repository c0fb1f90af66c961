package worktree

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/reanchor/git"
)

// Snapshot has what stood in a checkout at one time: HEAD, the index, and all files that are tracked or not ignored.
type Snapshot struct {
	Head        string
	Commit      string   // has the files; its second parent has the index. HEAD when all was committed
	Uncommitted []string // paths
	Large       []string // those of them that are in no copy, for their size

	repo  *git.Repo
	ref   string // leads to Commit; "" : a branch does
	index string // relay's own, of these files
}

// Bounds of what a snapshot has of untracked files, in bytes: one, and all together.
const (
	snapshotFile = 32 << 20
	snapshotAll  = 256 << 20
)

// TakeSnapshot makes a snapshot that ref leads to. No hook runs, and neither index nor files of the checkout are touched.
func TakeSnapshot(ctx context.Context, repo *git.Repo, ref, index string) (*Snapshot, error) {
	head, err := repo.Head(ctx)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{Head: head, Commit: head, repo: repo, index: index}
	status, err := repo.Run(ctx, git.Call{
		Limit: git.MaxPrinted,
		Args:  []string{"status", "--porcelain", "-z", "--untracked-files=all", "--ignore-submodules=all", "--no-renames"},
	})
	if err != nil {
		return nil, err
	}
	err = errors.Join(git.RemoveTree(index), git.CopyFile(filepath.Join(repo.GitDir(), "index"), index))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	paths := s.choose(string(status))
	if len(paths) == 0 {
		return s, nil
	}
	if err := s.commit(ctx, paths); err != nil {
		return nil, err
	}
	s.ref = ref
	_, err = repo.Run(ctx, git.Writing("update-ref", "--", ref, s.Commit))
	return s, err
}

// choose returns the paths in a status whose files are not too large.
func (s *Snapshot) choose(status string) (paths []string) {
	left := int64(snapshotAll)
	for entry := range strings.SplitSeq(status, "\x00") {
		if len(entry) < 4 || strings.HasSuffix(entry, "/") { // a repository within
			continue
		}
		path := entry[3:]
		s.Uncommitted = append(s.Uncommitted, path)
		if info, err := os.Lstat(filepath.Join(s.repo.Root(), filepath.FromSlash(path))); err == nil && strings.HasPrefix(entry, "??") {
			if info.Size() > min(left, snapshotFile) {
				s.Large = append(s.Large, path)
				continue
			}
			left -= info.Size()
		}
		paths = append(paths, path)
	}
	return paths
}

// commit makes two commits, as git stash does: of the index, and of the files.
func (s *Snapshot) commit(ctx context.Context, paths []string) error {
	staged, err := s.git(ctx, nil, "write-tree")
	if err != nil { // there are conflicts in it
		staged = s.Head + "^{tree}"
	}
	// 1: not all could be read. An agent cannot read these files either.
	_, err = s.git(ctx, paths, "add", "--all", "--sparse", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul")
	if err != nil && git.ExitCode(err) != 1 {
		return err
	}
	files, err := s.git(ctx, nil, "write-tree")
	if err != nil {
		return err
	}
	index, err := s.git(ctx, nil, append(git.Nameless(), "commit-tree", "-m", "relay: the index when the run began", "-p", s.Head, staged)...)
	if err != nil {
		return err
	}
	s.Commit, err = s.git(ctx, nil, append(git.Nameless(), "commit-tree", "-m", "relay: the checkout when the run began", "-p", s.Head, "-p", index, files)...)
	return err
}

// git runs a command with the snapshot's own index, with paths on its stdin.
func (s *Snapshot) git(ctx context.Context, paths []string, args ...string) (string, error) {
	call := git.Writing(args...)
	call.Env = append(call.Env, "GIT_INDEX_FILE="+s.index)
	call.Stdin = strings.NewReader(strings.Join(paths, "\x00"))
	out, err := s.repo.Run(ctx, call)
	return strings.TrimSpace(string(out)), err
}

// Changed lists the files that are not what they were, by their paths.
func (s *Snapshot) Changed(ctx context.Context) ([]string, error) {
	out, err := s.repo.Run(ctx, git.Call{
		Limit: git.MaxPrinted, Env: []string{"GIT_INDEX_FILE=" + s.index},
		Args: []string{"diff", "--name-only", "-z", "--no-renames", "--ignore-submodules=all"},
	})
	return slices.DeleteFunc(strings.Split(string(out), "\x00"), func(p string) bool { return p == "" || slices.Contains(s.Large, p) }), err
}

// Source returns what git restore takes the files from.
func (s *Snapshot) Source() string {
	return cmp.Or(s.ref, s.Commit)
}

// Forget removes what is only there while a run is on; keep says that the copy is still needed.
func (s *Snapshot) Forget(ctx context.Context, keep bool) error {
	err := os.RemoveAll(s.index)
	if s.ref != "" && !keep {
		_, deleting := s.repo.Run(ctx, git.Writing("update-ref", "-d", s.ref))
		err = errors.Join(err, deleting)
	}
	return err
}
