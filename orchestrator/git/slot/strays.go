package slot

import (
	"context"
	"errors"
	"slices"
	"strings"

	"relay/orchestrator/git/worktree"
	"relay/reanchor/git"
)

// Strays finds an attempt's work that its agent left elsewhere in the slot than on its branch, and puts it there.
type Strays struct {
	Tree *worktree.Tree
	Base string // commit that the attempt began from

	tried []string // commits that were put onto the branch
}

// Home puts the slot onto its branch again, with the commits and the files that the agent left elsewhere: on a branch of its own, on a
// detached HEAD, or on an amended base. It returns in words where that was; "": the agent stayed, or what it left does not descend from
// the base.
func (s *Strays) Home(ctx context.Context) (from string, err error) {
	w := s.Tree
	branch, err := w.Repo.Branch(ctx)
	if err != nil || w.Repo.Operation() != "" {
		return "", git.Unasked(err)
	}
	head, err := w.Head(ctx)
	if err != nil {
		return "", err
	}
	follows, err := w.Contains(ctx, s.Base, head)
	stayed := "refs/heads/"+branch == w.Branch
	if err != nil || stayed && follows {
		return "", err
	}
	from = onBranch(branch)
	to := head
	if !follows {
		if amended, err := s.amended(ctx, head); err != nil || !amended {
			return "", err
		}
		from, to = "on the amended commit "+s.Base[:12], s.Base
	}
	if !stayed {
		if err := s.putAside(ctx, to); err != nil {
			return "", err
		}
	}
	if err := w.Follow(ctx, to); err != nil {
		return "", err
	}
	_, err = w.Runner().Git(ctx, nil, "symbolic-ref", "-m", git.KeptMessage, "HEAD", w.Branch)
	return from, err
}

func onBranch(name string) string {
	if name == "" {
		return "on a detached HEAD"
	}
	return "on the branch " + name
}

// amended reports whether a head lacks the base alone and still has changes of it.
func (s *Strays) amended(ctx context.Context, head string) (bool, error) {
	git := func(args ...string) (string, error) {
		out, err := s.Tree.Runner().Git(ctx, nil, args...)
		return strings.TrimSpace(string(out)), git.Unasked(err)
	}
	made, err := git("rev-list", "--count", head, "--not", s.Base, "--")
	if err != nil || made == "" { // a commit of it is gone
		return false, err
	}
	lost, err := git("rev-list", "--max-count=2", s.Base, "--not", head, "--")
	if err != nil || lost != s.Base {
		return false, err
	}
	parent, err := git("rev-parse", "--quiet", "--verify", s.Base+"^")
	if err != nil || parent == "" {
		return err == nil, err
	}
	of, err := git("diff", "--name-only", "--no-renames", "-z", parent, s.Base, "--")
	if err != nil || of == "" {
		return err == nil, err
	}
	undone, err := git("diff", "--name-only", "--no-renames", "-z", parent, head, "--")
	still := strings.Split(undone, "\x00")
	return slices.ContainsFunc(strings.Split(of, "\x00"), func(p string) bool { return p != "" && slices.Contains(still, p) }), err
}

// putAside keeps what the slot's branch has and a commit lacks on a branch beside it, where [Strays.Next] and [KeepUnreachable] find it.
func (s *Strays) putAside(ctx context.Context, commit string) error {
	own, err := s.Tree.Repo.Ref(ctx, s.Tree.Branch)
	if err != nil || own == "" {
		return git.Unasked(err)
	}
	if kept, err := s.Tree.Contains(ctx, own, commit); err != nil || kept {
		return err
	}
	_, err = s.Tree.Runner().Git(ctx, nil, "update-ref", "--", "refs/heads/left-"+own[:12], own)
	return err
}

// Others lists commits, beside those on its branch, that the agent left and that descend from the base: on its branches, in its stash, and
// where it detached HEAD. Those that were tried are left out.
func (s *Strays) Others(ctx context.Context) (list []string, err error) {
	left, err := Unreachable(ctx, s.Tree.Repo, UnreachableOptions{Branch: s.Tree.Branch, Most: mostUnreachable, Detached: true})
	for _, commit := range left {
		follows, containing := s.Tree.Contains(ctx, s.Base, commit)
		if err = errors.Join(err, containing); follows && commit != s.Base && !slices.Contains(s.tried, commit) {
			list = append(list, commit)
		}
	}
	return list, err
}

// Next has the slot's branch and files be those of the next commit that [Strays.Others] lists, in place of what they are, and returns in
// words where it was; "": there is none.
func (s *Strays) Next(ctx context.Context) (from string, err error) {
	w := s.Tree
	others, err := s.Others(ctx)
	if err != nil || len(others) == 0 || w.Repo.Operation() != "" {
		return "", err
	}
	commit := others[0]
	s.tried = append(s.tried, commit)
	if err := errors.Join(s.putAside(ctx, s.Base), w.Restore(ctx, s.Base)); err != nil {
		return "", err
	}
	stash, err := worktree.Stash(w.Repo)
	if slices.ContainsFunc(stash, func(e worktree.StashEntry) bool { return e.Commit == commit }) {
		if _, err = w.Runner().Git(ctx, nil, "stash", "apply", "--quiet", commit); err == nil || git.Unasked(err) != nil {
			return "in the stash", err
		}
		if err := w.Restore(ctx, s.Base); err != nil { // it was made on other work
			return "", err
		}
		return s.Next(ctx)
	}
	_, reading := w.Runner().Git(ctx, nil, "read-tree", "-m", "-u", "HEAD", commit)
	if err = errors.Join(err, reading); err != nil {
		return "", git.Unasked(err)
	}
	return s.named(ctx, commit), w.Follow(ctx, commit)
}

// named says where a commit is.
func (s *Strays) named(ctx context.Context, commit string) string {
	args := []string{"for-each-ref", "--points-at=" + commit, "--format=%(refname:lstrip=2)", "refs/heads"}
	out, _ := s.Tree.Repo.Run(ctx, git.Call{Args: args})
	name, _, _ := strings.Cut(string(out), "\n")
	return onBranch(name)
}
