package session

import (
	"context"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/epic/plaintext"
	"relay/orchestrator"
	"relay/orchestrator/briefing"
	"relay/orchestrator/git/worktree"
	"relay/orchestrator/limits"
	"relay/reanchor"
)

// NextBrief returns the prompt that the agent would be given if the task's next attempt began now. It fails if the repository
// cannot be read.
func NextBrief(ctx context.Context, o orchestrator.Options, view *attempts.View, task *epic.Task) ([]byte, error) {
	facts, err := o.Repo.Facts(ctx, reanchor.RecentCommits)
	if err != nil {
		return nil, err
	}
	facts.Changes = worktree.WithoutRecords(ctx, o.Repo, facts.Changes)
	in := briefing.Input(&o.LocalOptions, readOnly{view}, task)
	reanchor.NewRecordReader(o.Root, o.Epic.ID, time.Now).Fill(&in)
	left := limits.NewTracker(o.Budget, o.Spent, view.Ledger).Remaining(task, readOnly{view}.Task(task.ID).UsedSince())
	if len(o.Runners) > 0 {
		in.Agent = o.Agent(plaintext.FirstOf(task.Runner, o.Runners[0]))
	}
	in.Facts, in.Base, in.BudgetUSD, in.Tokens = facts, facts.Head, left.USD, left.Tokens
	return briefing.Prompt(&o.LocalOptions, in), nil
}

// readOnly is a ledger as somebody has read it, without its store.
type readOnly struct{ *attempts.View }

func (s readOnly) Counts() map[attempts.Status]int { return s.View.Counts }

func (s readOnly) Task(id string) attempts.TaskRecord { return *s.Ledger.Record(id) }
