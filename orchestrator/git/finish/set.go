package finish

import (
	"context"
	"slices"
	"sync"

	"relay/epic/each"
	"relay/reanchor/git"
)

// BranchSet is the branches of one epic's tasks. Several goroutines may use it.
type BranchSet struct {
	Repo *git.Repo
	Epic string // its id

	mu   sync.Mutex
	stay []string
}

// TaskBranch returns the branch of a task, without refs/heads/.
func TaskBranch(epicID, task string) string { return git.TaskBranches + epicID + "/" + task }

// Name returns the branch of a task, without refs/heads/.
func (s *BranchSet) Name(task string) string { return TaskBranch(s.Epic, task) }

// Drop deletes a branch whose task has landed, or whose work is kept elsewhere; kept is the commit that has, or is. A branch that a
// person has checked out, or has gone on from, stays: see [BranchSet.Stay].
func (s *BranchSet) Drop(ctx context.Context, name, kept string) error {
	head, err := s.Repo.Ref(ctx, "refs/heads/"+name)
	if err != nil || head == "" {
		return err
	}
	at, own, err := BranchInUse(ctx, s.Repo, name, kept)
	if err != nil {
		return err
	}
	if why := WhyInUse(at, own); why != "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.stay = each.Added(s.stay, "the branch "+name+" was not removed: "+why)
		return nil
	}
	return DeleteBranch(ctx, s.Repo, name, head)
}

// Stay lists in words the branches that [BranchSet.Drop] has left, and why.
func (s *BranchSet) Stay() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.stay)
}

// Blocked reports what keeps a branch from being given to a new attempt: the worktree in which a person has it checked out, or
// the commit it leads to when no other ref does, which is to be kept first. Both are "" when nothing does.
func (s *BranchSet) Blocked(ctx context.Context, name string) (checkedOut, unkept string, err error) {
	head, err := s.Repo.Ref(ctx, "refs/heads/"+name)
	if err != nil || head == "" {
		return "", "", err
	}
	at, own, err := BranchInUse(ctx, s.Repo, name, "")
	if err != nil || own == "" {
		return at, "", err
	}
	return at, head, nil
}
