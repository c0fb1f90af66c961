package recorded

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"relay/attempts"
	"relay/attempts/discussion"
	"relay/attempts/ledgersync"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/status"
	"relay/epic/each"
	"relay/orchestrator/git/worktree"
	"relay/orchestrator/report"
	"relay/reanchor"
	"relay/reanchor/git"
)

// ResumeOptions are the flags of relay resume.
type ResumeOptions struct {
	Agent  string // who goes on; "": a person
	DryRun bool
}

// Resume prints what a session has to know that goes on, and answers the last handoff in the ledger with a transition.
func Resume(ctx context.Context, a *cli.App, p *project.Project, o ResumeOptions) error {
	facts, err := p.Git.Facts(ctx, reanchor.RecentCommits)
	if err != nil {
		return err
	}
	facts.Changes = worktree.WithoutRecords(ctx, p.Git, facts.Changes)
	about := reanchor.Session{Facts: facts, Directory: filepath.Base(p.Root)}
	id, next := addEpic(ctx, a, p, &about)
	found := reanchor.NewRecordReader(p.Root, id, a.Now).Find(nil)
	about.Handoff, about.Threads, about.Required = found.Handoff, append(about.Threads, found.Questions...), found.Documents
	var left *ledgersync.Entry
	if found.Source != nil {
		left = found.Source.Entry
	}
	if found.Answer != nil {
		about.Answered = found.Answer.Agent.Name
	}
	about.Next = steps(&about, left, next)
	questions := about.Threads
	for _, t := range slices.Backward(discussion.OpenIn(p.Root)) {
		said := fmt.Sprintf("%s (discussion %s, %s)", t.Topic, t.ID, t.Status)
		about.Threads = append(about.Threads, reanchor.Thread{By: "relay discuss", Question: said})
	}
	if _, err := a.Out.Write([]byte(a.Secrets.Text(string(reanchor.SessionBrief(about))))); err != nil {
		return err
	}
	if left == nil || o.DryRun || about.Answered != "" {
		return nil
	}
	about.Threads = questions
	answer := transition(&about, left, o.Agent)
	if err := AppendEntry(a, p, answer); err != nil {
		return err
	}
	fmt.Fprintf(a.Err, "the handoff is answered by entry %s\n", answer.ID)
	return nil
}

// addEpic adds what is known of the epic, if there is one, and returns its id, and what to do next. It warns of what it cannot read, and
// adds the rest.
func addEpic(ctx context.Context, a *cli.App, p *project.Project, about *reanchor.Session) (id string, next []string) {
	if !git.Exists(p.File("epic.yml")) {
		return "", nil
	}
	s, err := status.Read(ctx, p, false)
	if err != nil {
		fmt.Fprintf(a.Err, "relay: warning: the epic is left out: %s\n", err)
		return "", nil
	}
	c := s.Counts
	if s.Run.State != report.Running { // it was killed
		c.Pending, c.InProgress = c.Pending+c.InProgress, 0
	}
	about.Epic = reanchor.About{ID: s.Epic.ID, Title: s.Epic.Title, Source: s.Epic.Source}
	about.Progress = reanchor.Progress{Total: c.Total, Done: c.Completed, Running: c.InProgress, Left: c.Pending + c.Blocked, Gated: c.Gated}
	for i := range s.Tasks {
		t := &s.Tasks[i]
		if t.Status == attempts.InProgress && s.Run.State != report.Running {
			t.Status = status.InterruptedText
		}
		line := fmt.Sprintf("%s %s: %s", t.ID, t.Status, t.Title)
		if t.Reason != "" {
			line += fmt.Sprintf(" (%s)", t.Reason.Words())
		}
		for _, q := range t.Questions {
			about.Threads = append(about.Threads, reanchor.Thread{By: t.ID, Question: t.ID + ": " + q})
		}
		if t.Status != attempts.Completed {
			about.Open = append(about.Open, line)
		}
	}
	if len(about.Threads) > 0 {
		next = append(next, "Ask the user the questions of tasks: `relay answer TASK \"TEXT\"` records an answer.")
	}
	if slices.ContainsFunc(s.Tasks, func(t status.Task) bool { return t.Reason != "" && t.Reason != attempts.AwaitsAnswer }) {
		next = append(next, "Look at the tasks that are gated: `relay show TASK`, then `relay ungate TASK`; `relay work` tries them again.")
	}
	if c.Pending > 0 {
		next = append(next, "`relay work` runs the tasks that are left; `relay status` shows how they stand.")
	}
	return s.Epic.ID, next
}

func steps(about *reanchor.Session, left *ledgersync.Entry, ofEpic []string) (next []string) {
	if len(about.Required) > 0 {
		next = append(next, "Read the documents named above.")
	}
	if about.Handoff != (reanchor.Handoff{}) {
		next = append(next, "Say what you have taken over from the handoff, and what is not clear, before you change anything.")
	}
	if left != nil && len(left.SessionSummary.Deferred) > 0 {
		next = append(next, "Go on with what the handoff defers, the first of it first.")
	}
	next = append(next, ofEpic...)
	return append(next, "Before you stop, record where: `relay handoff`.")
}

func transition(about *reanchor.Session, left *ledgersync.Entry, agent string) *ledgersync.Entry {
	const mostSteps = 10
	e := &ledgersync.Entry{Agent: ledgersync.Agent{Name: agent}, Type: ledgersync.Transition, Tags: []string{"transition"}}
	if about.Epic.ID != "" {
		e.Tags = append(e.Tags, about.Epic.ID)
	}
	e.SetSummary("goes on where " + left.Agent.Name + " has stopped: " + left.Action.Summary)
	e.Reasoning.Intent = "take over what the last session has left"
	if len(about.Required) > 0 {
		e.Grounding = &ledgersync.Grounding{PhilosophyRefs: about.Required}
	}
	summary := left.SessionSummary
	open := each.Of(about.Threads, func(q reanchor.Thread) string { return q.Question })
	proposed := summary.Deferred[:min(len(summary.Deferred), mostSteps)]
	if len(proposed) == 0 {
		proposed = about.Open[:min(len(about.Open), mostSteps)]
	}
	e.Answer(left, ledgersync.ContextAcquired{EntriesRead: 1, PhilosophyDocsRead: about.Required}, ledgersync.Readiness{
		Confident: len(open) == 0 && len(summary.Blockers) == 0, ClarificationsNeeded: open, ProposedNextSteps: proposed,
	})
	return e
}
