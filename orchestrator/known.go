package orchestrator

import (
	"path/filepath"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/reanchor"
)

// known gathers what a brief says besides the state of the checkout.
func (n *night) known(task *epic.Task, record attempts.TaskRecord, wall time.Duration) reanchor.Input {
	in := reanchor.Input{
		Epic:     reanchor.About{ID: n.o.Epic.ID, Title: n.o.Epic.Title, Description: n.o.Epic.Description, Source: n.o.Epic.Source, Bead: n.o.Epic.Bead},
		Progress: n.progress(),
		Task:     *task, EpicChecks: n.o.Epic.Checks, Protected: n.o.Epic.Protected,
		Record:      record,
		MaxAttempts: n.maxAttempts(task), Wall: wall, BudgetUSD: task.BudgetUSD,
		NoCommits: n.o.Isolation == IsolationShared, MaxBytes: n.o.Limits.BriefBytes,
	}
	if rel, err := filepath.Rel(n.o.Root, n.o.Dir); err == nil {
		in.Dir = filepath.ToSlash(rel)
	}
	at, _ := n.o.Graph.Index(task.ID)
	for _, d := range n.o.Graph.Deps(at) {
		in.Dependencies = append(in.Dependencies, n.dependency(d))
	}
	return in
}

// dependency is a completed task with the receipt of the attempt that completed it.
func (n *night) dependency(i int) reanchor.Dependency {
	id := n.o.Graph.ID(i)
	d := reanchor.Dependency{ID: id, Title: n.plan.tasks[i].Title}
	record := n.store.Task(id)
	for _, a := range record.Attempts {
		if a.Result == attempts.ResultSuccess {
			d.Head, d.Receipt = a.Head, a.Receipt
		}
	}
	return d
}

// progress counts the epic's tasks and names those that are under way.
func (n *night) progress() reanchor.Progress {
	c := n.counts()
	return reanchor.Progress{Total: c.Total, Done: c.Completed, Running: c.InProgress, Left: c.Pending + c.Blocked, Gated: c.Gated}
}
