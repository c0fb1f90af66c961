package orchestrator

import (
	"context"
	"path/filepath"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/budget"
	"relay/orchestrator/engine"
	"relay/orchestrator/text"
	"relay/orchestrator/worker"
	"relay/reanchor"
)

// memory is what a brief needs of the ledger: an open one, or one that is only read.
type memory interface {
	Task(id string) attempts.TaskRecord
	Counts() map[attempts.Status]int
}

// NextBrief returns the prompt that the agent would be given if the task's next attempt began now. It fails if the repository
// cannot be read.
func NextBrief(ctx context.Context, o Options, view *attempts.View, task *epic.Task) ([]byte, error) {
	facts, err := o.Repo.Facts(ctx, worker.RecentCommits)
	if err != nil {
		return nil, err
	}
	in := briefInput(&o, readOnly{view}, task, wallFor(o.Limits, task))
	left := budget.New(o.Budget, o.Spent, view.Ledger).Remaining(task, readOnly{view}.Task(task.ID).UsedSince())
	if len(o.Runners) > 0 {
		in.Agent = o.agent(text.FirstOf(task.Runner, o.Runners[0]))
	}
	in.Facts, in.Base, in.BudgetUSD, in.Tokens = facts, facts.Head, left.USD, left.Tokens
	return worker.PromptOf(o.engine(), in), nil
}

// briefInput returns what a brief says besides the state of the checkout.
func briefInput(o *Options, m memory, task *epic.Task, wall time.Duration) reanchor.Input {
	in := reanchor.Input{
		Epic:     reanchor.About{ID: o.Epic.ID, Title: o.Epic.Title, Description: o.Epic.Description, Source: o.Epic.Source, Bead: o.Epic.Bead},
		Progress: progress(countsOf(m)),
		Task:     *task, EpicChecks: o.Epic.Checks, Protected: o.Epic.Protected,
		Record:      m.Task(task.ID),
		MaxAttempts: attemptsFor(o.Limits, task), Wall: wall,
		Silence: o.Limits.Silence, NoCommits: o.Isolation == engine.IsolationShared, Worktree: o.Isolation == engine.IsolationWorktree, MaxBytes: o.Limits.BriefBytes,
	}
	if rel, err := filepath.Rel(o.Root, o.Dir); o.Isolation == engine.IsolationWorktree {
		in.Dir = o.Dir
	} else if err == nil {
		in.Dir = filepath.ToSlash(rel)
	}
	at, _ := o.Graph.Index(task.ID)
	for _, d := range o.Graph.Dependants(at) {
		in.Dependants = append(in.Dependants, reanchor.TaskName{ID: o.Epic.Tasks[d].ID, Title: o.Epic.Tasks[d].Title})
	}
	nameOthers(&in.Progress, o, m, at)
	for _, d := range o.Graph.Deps(at) {
		in.Dependencies = append(in.Dependencies, dependency(&o.Epic.Tasks[d], m))
	}
	return in
}

// neighbours is how many tasks before and behind a task in the plan a brief names.
const neighbours = 8

// nameOthers lists the tasks next to one in the plan by their status.
func nameOthers(p *reanchor.Progress, o *Options, m memory, at int) {
	for i := max(at-neighbours, 0); i < min(at+neighbours+1, len(o.Epic.Tasks)); i++ {
		if i == at {
			continue
		}
		rec, name := m.Task(o.Epic.Tasks[i].ID), reanchor.TaskName{ID: o.Epic.Tasks[i].ID, Title: o.Epic.Tasks[i].Title}
		switch {
		case rec.Completed:
			p.DoneTasks = append(p.DoneTasks, name)
		case rec.Gate != nil:
			p.GatedTasks = append(p.GatedTasks, name)
		case rec.Running() != nil:
			p.RunningTasks = append(p.RunningTasks, name)
		default:
			p.LeftTasks = append(p.LeftTasks, name)
		}
	}
}

// dependency returns a task with the receipt of the attempt that completed it.
func dependency(t *epic.Task, m memory) reanchor.Dependency {
	d := reanchor.Dependency{ID: t.ID, Title: t.Title}
	for _, a := range m.Task(t.ID).Attempts {
		if a.Result == attempts.ResultSuccess {
			d.Head, d.Receipt = a.Head, a.Receipt
		}
	}
	return d
}

func progress(c Counts) reanchor.Progress {
	return reanchor.Progress{Total: c.Total, Done: c.Completed, Running: c.InProgress, Left: c.Pending + c.Blocked, Gated: c.Gated}
}

func countsOf(m memory) Counts {
	by := m.Counts()
	c := Counts{Completed: by[attempts.Completed], InProgress: by[attempts.InProgress], Pending: by[attempts.Pending], Blocked: by[attempts.BlockedOn], Gated: by[attempts.Gated]}
	c.Total = c.Completed + c.InProgress + c.Pending + c.Blocked + c.Gated
	return c
}

// attemptsFor returns how many charged attempts a task may have.
func attemptsFor(l engine.Limits, t *epic.Task) int {
	if t.MaxAttempts > 0 {
		return t.MaxAttempts
	}
	return l.MaxAttempts
}

// wallFor returns how long one attempt at a task may take.
func wallFor(l engine.Limits, t *epic.Task) time.Duration {
	if t.Timeout > 0 {
		return t.Timeout
	}
	return l.Wall
}

// readOnly is a ledger as somebody has read it, without its store.
type readOnly struct{ *attempts.View }

func (s readOnly) Counts() map[attempts.Status]int { return s.View.Counts }

func (s readOnly) Task(id string) attempts.TaskRecord {
	if rec := s.Ledger.Tasks[id]; rec != nil {
		return *rec
	}
	return attempts.TaskRecord{}
}
