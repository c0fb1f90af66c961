package worker

import (
	"context"
	"slices"

	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/taskbranch"

	"relay/attempts"
	"relay/orchestrator/engine"
)

// branch is where a task's commits are until they land.
func (l *slotEngine) branch(a engine.Attempt) string { return taskBranch(l.o.Epic.ID, a) }

func taskBranch(epicID string, a engine.Attempt) string {
	return gitcmd.TaskBranches + epicID + "/" + a.Task.ID
}

// dropBranch deletes the branch of a task that has landed, or whose work is kept elsewhere; kept is what has, or is. A
// person can have looked at it meanwhile, or gone on from it: then it stays, and is told of when the run ends.
func (l *slotEngine) dropBranch(ctx context.Context, name, kept string) error {
	head, err := l.home.Ref(ctx, "refs/heads/"+name)
	if err != nil || head == "" {
		return err
	}
	at, own, err := taskbranch.InUse(ctx, l.home, l.o.Worktree.Dir, name, kept)
	if err != nil {
		return err
	}
	if why := taskbranch.Reason(at, own); why != "" {
		l.mu.Lock()
		defer l.mu.Unlock()
		if text := "the branch " + name + " was not removed: " + why; !slices.Contains(l.theirs, text) {
			l.theirs = append(l.theirs, text)
		}
		return nil
	}
	return taskbranch.Delete(ctx, l.home, name, head)
}

// freeBranch sees that a new attempt may have its task's branch. What a person has committed there is kept; what they have
// checked out is not moved under them.
func (l *slotEngine) freeBranch(ctx context.Context, a engine.Attempt) (f state, err error) {
	f.Outcome = attempts.Success
	name := l.branch(a)
	head, err := l.home.Ref(ctx, "refs/heads/"+name)
	if a.Ended || err != nil || head == "" {
		return f, err
	}
	at, own, err := taskbranch.InUse(ctx, l.home, l.o.Worktree.Dir, name, "")
	if err != nil {
		return f, err
	}
	if at != "" {
		f.Gate = attempts.Infrastructure
		f.Fail(attempts.Environment, attempts.CLIError, "the branch "+name+" is checked out in "+at+"; git switch to another one there")
		return f, nil
	}
	if own != "" {
		ref := "refs/relay/" + l.o.Epic.ID + "-moved/" + head
		f.Note("salvage", "what was on the branch "+name+" and in no other is kept as "+ref)
		err = l.attemptIn("", l.home, a).c.tree.Keep(ctx, ref, head)
	}
	return f, err
}
