// Package briefing makes the input of a brief from plan and ledger, and gathers the learnings of earlier tasks.
//
// briefing.go gathers what a brief says of the plan and of the ledger; what it says of the checkout is added by the engine.
//
// learnings.go gathers what the agents of an epic have learned: which of it several tasks say, and what of it is to stand in AGENTS.md;
// and the work that they have found and left. It is pure: it reads and writes no file. It returns the foreign text of agents as one short
// line.
package briefing

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/engine"
	"relay/reanchor"
)

// Memory is what a brief needs of the ledger: an open one, or one that is only read.
type Memory interface {
	Task(id string) attempts.TaskRecord
	Counts() map[attempts.Status]int
	Learned(most int) []int // as [attempts.Store.Learned]
}

// Input returns what a brief says besides the state of the checkout.
func Input(o *engine.LocalOptions, m Memory, task *epic.Task) reanchor.Input {
	in := reanchor.Input{
		Epic:     reanchor.About{ID: o.Epic.ID, Title: o.Epic.Title, Description: o.Epic.Description, Source: o.Epic.Source, Bead: o.Epic.Bead},
		Progress: progress(m.Counts()),
		Task:     *task, EpicChecks: o.Epic.Checks, Protected: o.Epic.Protected,
		Record:      m.Task(task.ID),
		MaxAttempts: o.Limits.AttemptsFor(task), Wall: o.Limits.WallFor(task),
		Silence: o.Limits.Silence, NoCommits: o.Isolation == engine.IsolationShared,
		Worktree: o.Isolation == engine.IsolationWorktree, MaxBytes: o.Limits.BriefBytes,
	}
	if rel, err := filepath.Rel(o.Root, o.Dir); o.Isolation == engine.IsolationWorktree {
		in.Dir = o.Dir
	} else if err == nil {
		in.Dir = filepath.ToSlash(rel)
	}
	at, _ := o.Graph.Index(task.ID)
	in.Dependants = each.Of(o.Graph.Dependants(at), func(d int) reanchor.TaskName {
		return reanchor.TaskName{ID: o.Epic.Tasks[d].ID, Title: o.Epic.Tasks[d].Title}
	})
	nameOthers(&in.Progress, o, m, at)
	for _, d := range o.Graph.Deps(at) {
		in.Dependencies = append(in.Dependencies, dependency(&o.Epic.Tasks[d], m))
		for _, q := range m.Task(o.Epic.Tasks[d].ID).OpenQuestions() {
			in.Threads = append(in.Threads, reanchor.Thread{By: o.Epic.Tasks[d].ID, Question: q})
		}
	}
	for i := range o.Epic.Tasks {
		if id := o.Epic.Tasks[i].ID; id != task.ID && len(task.Files) > 0 {
			in.Landed = append(in.Landed, landed(id, m.Task(id))...)
		}
	}
	in.Learnings = learned(o, m, task, in.Dependencies)
	in.Dependencies = append(in.Dependencies, landedSince(o, m, task, in.Record)...)
	return in
}

// landedSince returns the tasks, besides the dependencies of a task, that have landed since its last attempt began: what that attempt
// lacked may be there now.
func landedSince(o *engine.LocalOptions, m Memory, task *epic.Task, record attempts.TaskRecord) (list []reanchor.Dependency) {
	var began time.Time
	for _, a := range record.Attempts {
		if !a.EndedAt.IsZero() {
			began = a.StartedAt
		}
	}
	if began.IsZero() {
		return nil
	}
	for i := range o.Epic.Tasks {
		t := &o.Epic.Tasks[i]
		landed := func(a attempts.Attempt) bool { return a.Result == attempts.ResultSuccess && a.EndedAt.After(began) }
		if rec := m.Task(t.ID); rec.Completed && !slices.Contains(task.DependsOn, t.ID) && slices.ContainsFunc(rec.Attempts, landed) {
			d := dependency(t, m)
			d.Title += " (landed since the last attempt at your task began)"
			list = append(list, d)
		}
	}
	return list
}

// landed returns the attempts at a task that succeeded, as their agents sign discussions.
func landed(id string, rec attempts.TaskRecord) (names []string) {
	names = each.Where(rec.Attempts, func(a attempts.Attempt) (string, bool) {
		return fmt.Sprintf("%s/%d", id, a.ID), a.Result == attempts.ResultSuccess
	})
	return names
}

// mostAsked is how many tasks a brief's learnings are chosen from: the last that have told one.
const mostAsked = 200

// learned returns what agents of other tasks have learned, besides what the receipts of its dependencies and of its own attempts say.
func learned(o *engine.LocalOptions, m Memory, task *epic.Task, deps []reanchor.Dependency) []reanchor.Learning {
	receipts := each.Of(deps, func(one reanchor.Dependency) string { return one.Receipt.Learning })
	receipts = append(receipts, each.Of(m.Task(task.ID).Attempts, func(a attempts.Attempt) string { return a.Receipt.Learning })...)
	from := LearningSource{Epic: o.Epic, Record: m.Task, Only: m.Learned(mostAsked)}
	return LearningsFor(from, task, receipts)
}

// neighbours is how many tasks before and behind a task in the plan a brief names.
const neighbours = 8

// nameOthers lists the tasks next to one in the plan by their status, and takes the task itself out of the counts.
func nameOthers(p *reanchor.Progress, o *engine.LocalOptions, m Memory, at int) {
	for i := max(at-neighbours, 0); i < min(at+neighbours+1, len(o.Epic.Tasks)); i++ {
		rec, name := m.Task(o.Epic.Tasks[i].ID), reanchor.TaskName{ID: o.Epic.Tasks[i].ID, Title: o.Epic.Tasks[i].Title}
		switch {
		case i == at && rec.Running() != nil:
			p.Running = max(p.Running-1, 0)
		case i == at:
			p.Left = max(p.Left-1, 0)
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
func dependency(t *epic.Task, m Memory) reanchor.Dependency {
	rec := m.Task(t.ID)
	d := reanchor.Dependency{ID: t.ID, Title: t.Title}
	asked := false // what a person says later may correct an answer
	d.Answers = slices.DeleteFunc(slices.Clone(rec.Answers), func(a attempts.Answer) bool { asked = asked || a.Question != ""; return !asked })
	for _, a := range rec.Attempts {
		if a.Result == attempts.ResultSuccess {
			d.Head, d.Receipt = a.Head, a.Receipt
		}
	}
	return d
}

func progress(by map[attempts.Status]int) reanchor.Progress {
	p := reanchor.Progress{
		Done: by[attempts.Completed], Running: by[attempts.InProgress],
		Left: by[attempts.Pending] + by[attempts.BlockedOn], Gated: by[attempts.Gated],
	}
	p.Total = p.Done + p.Running + p.Left + p.Gated
	return p
}

// WholeEpic returns the epic as an attempt to be judged, from the commit that the integration branch, or the first attempt,
// began from.
func WholeEpic(run string, e *epic.Epic, l *attempts.Ledger) engine.Attempt {
	var first attempts.Attempt
	for _, rec := range l.Tasks {
		if len(rec.Attempts) > 0 && (first.ID == 0 || rec.Attempts[0].StartedAt.Before(first.StartedAt)) {
			first = rec.Attempts[0]
		}
	}
	return engine.Attempt{
		Run: run, Task: epic.Task{ID: engine.WholeEpic, Title: e.Title}, Number: len(l.EpicReviews) + 1,
		Base: plaintext.FirstOf(l.Integration.Base, first.Base),
	}
}

// EarlierReviews returns the earlier reviews of the epic as attempts of one task, which is how prompts quote them.
func EarlierReviews(l *attempts.Ledger) attempts.TaskRecord {
	return attempts.TaskRecord{Attempts: each.Of(l.EpicReviews, func(r attempts.EpicReview) attempts.Attempt {
		return attempts.Attempt{Receipt: attempts.Receipt{Review: &r.Reviewed}}
	})}
}
