package session

import (
	"context"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/epic"
	"relay/epic/plaintext"
	"relay/orchestrator/briefing"
	"relay/orchestrator/git/worktree"
	"relay/orchestrator/limits"
	"relay/reanchor"
)

// NextBrief returns the prompt that the agent would be given if the task's next attempt began now. It fails if the repository
// cannot be read.
func (o *Options) NextBrief(ctx context.Context, p *project.Project, pl *project.Plan, v *attempts.View, task *epic.Task) ([]byte, error) {
	run := o.RunOptions(ctx, p, pl)
	facts, err := run.Repo.Facts(ctx, reanchor.RecentCommits)
	if err != nil {
		return nil, err
	}
	facts.Changes = worktree.WithoutRecords(ctx, run.Repo, facts.Changes)
	in := briefing.Input(&run.LocalOptions, readOnly{v}, task)
	reanchor.NewRecordReader(run.Root, run.Epic.ID, time.Now).Fill(&in)
	left := limits.NewTracker(run.Budget, run.Spent, v.Ledger).Remaining(task, readOnly{v}.Task(task.ID).UsedSince())
	if len(run.Runners) > 0 {
		in.Agent = run.Agent(plaintext.FirstOf(task.Runner, run.Runners[0]))
	}
	in.Facts, in.Base, in.BudgetUSD, in.Tokens = facts, facts.Head, left.USD, left.Tokens
	return briefing.Prompt(&run.LocalOptions, in), nil
}

// readOnly is a ledger as somebody has read it, without its store.
type readOnly struct{ *attempts.View }

func (s readOnly) Counts() map[attempts.Status]int { return s.View.Counts }

func (s readOnly) Task(id string) attempts.TaskRecord { return *s.Ledger.Record(id) }
