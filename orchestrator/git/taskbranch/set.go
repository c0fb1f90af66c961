package taskbranch

import (
	"context"
	"slices"
	"sync"

	"relay/orchestrator/git/gitcmd"
	"relay/reanchor"
)

// Set is the branches of one epic's tasks. Several goroutines may use it.
type Set struct {
	Repo *reanchor.Git
	Epic string // its id

	mu   sync.Mutex
	stay []string
}

// Name returns the branch of a task, without refs/heads/.
func Name(epicID, task string) string { return gitcmd.TaskBranches + epicID + "/" + task }

// Name returns the branch of a task, without refs/heads/.
func (s *Set) Name(task string) string { return Name(s.Epic, task) }

// Drop deletes a branch whose task has landed, or whose work is kept elsewhere; kept is the commit that has, or is. A branch that a
// person has checked out, or has gone on from, stays: see [Set.Stay].
func (s *Set) Drop(ctx context.Context, name, kept string) error {
	head, err := s.Repo.Ref(ctx, "refs/heads/"+name)
	if err != nil || head == "" {
		return err
	}
	at, own, err := InUse(ctx, s.Repo, name, kept)
	if err != nil {
		return err
	}
	if why := Reason(at, own); why != "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		if text := "the branch " + name + " was not removed: " + why; !slices.Contains(s.stay, text) {
			s.stay = append(s.stay, text)
		}
		return nil
	}
	return Delete(ctx, s.Repo, name, head)
}

// Stay lists in words the branches that [Set.Drop] has left, and why.
func (s *Set) Stay() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.stay)
}

// Blocked reports what keeps a branch from being given to a new attempt: the worktree in which a person has it checked out, or
// the commit it leads to when no other ref does, which is to be kept first. Both are "" when nothing does.
func (s *Set) Blocked(ctx context.Context, name string) (checkedOut, unkept string, err error) {
	head, err := s.Repo.Ref(ctx, "refs/heads/"+name)
	if err != nil || head == "" {
		return "", "", err
	}
	at, own, err := InUse(ctx, s.Repo, name, "")
	if err != nil || own == "" {
		return at, "", err
	}
	return at, head, nil
}
