package agentlog

import (
	_ "embed" // of the text
	"fmt"
	"io"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/epic"
	"relay/epic/each"
	"relay/orchestrator/relayfiles"
	"relay/orchestrator/report"
)

// Task is one task with its attempts: the answer of relay show --json.
type Task struct {
	ID          string             `json:"id"`
	Title       string             `json:"title"`
	Description string             `json:"description,omitempty"`
	Status      attempts.Status    `json:"status"`
	Files       []string           `json:"files,omitempty"`
	DependsOn   []string           `json:"depends_on,omitempty"`
	Criteria    []string           `json:"acceptance_criteria,omitempty"`
	ProvedBy    []string           `json:"proved_by,omitempty"` // of each criterion, in words
	Checks      []string           `json:"checks,omitempty"`
	Gate        *attempts.Gate     `json:"gate,omitempty"`
	RootCauses  []string           `json:"root_causes,omitempty"`
	Looks       []attempts.Look    `json:"looks,omitempty"`     // of a completed task: what a person has to look at
	Questions   []string           `json:"questions,omitempty"` // of its agent, that are open
	Answers     []attempts.Answer  `json:"answers,omitempty"`   // of a person
	Attempts    []attempts.Attempt `json:"attempts"`

	Progress []relayfiles.Progress `json:"progress,omitempty"` // what the agent of the last one has said, the last few

	Person bool `json:"-"` // only a person can do it
	Logged bool `json:"-"` // relay logs has something to show of the last one
}

// taskText has a task and a review as people read them.
//
//go:embed task.txt
var taskText string

// mostProgress is how much of what an agent has said of its progress is shown.
const mostProgress = 5

// AddProgress adds what the agent of the last attempt has said of its progress.
func (s *Task) AddProgress(p *project.Project) {
	if n := len(s.Attempts); n > 0 {
		last := &s.Attempts[n-1]
		s.Progress = relayfiles.ReadProgress(p.File("runs", last.Run, s.ID, fmt.Sprint(last.ID)), mostProgress)
		for i := range s.Progress {
			s.Progress[i].Message = p.Redactor().Text(s.Progress[i].Message)
		}
	}
}

// NewTask returns what there is to show of a task.
func NewTask(t *epic.Task, rec *attempts.TaskRecord, l *attempts.Ledger, g *epic.Graph) *Task {
	s := &Task{
		ID: t.ID, Title: t.Title, Description: t.Description, Status: l.StatusOf(g, t.ID), Files: t.Files, Person: t.Kind == epic.KindPerson,
		Gate: rec.Gate, Looks: rec.Looks(), Questions: rec.OpenQuestions(), Answers: rec.Answers,
		Attempts: append([]attempts.Attempt{}, rec.Attempts...),
	}
	if i, ok := g.Index(t.ID); ok {
		s.RootCauses = attempts.AllRootCauses(l, g)[i]
		s.DependsOn = each.Of(g.Deps(i), g.ID)
	}
	s.Criteria = each.Of(t.Criteria, func(c epic.Criterion) string { return c.Text })
	s.ProvedBy = each.Of(t.Criteria, func(c epic.Criterion) string { return report.CriterionText(c, t.Checks) })
	s.Checks = each.Of(t.Checks, func(c epic.Check) string { return c.Run })
	return s
}

// PickAttempt returns the attempt of a number, or with 0 the last one. It fails when there is none.
func PickAttempt(task string, rec *attempts.TaskRecord, number int) (Attempt, error) {
	n := len(rec.Attempts)
	if n == 0 {
		return Attempt{}, &terminal.Hinted{Err: fmt.Errorf("%s has not been tried yet", task), Hint: "relay status shows what it waits for"}
	}
	for i := range rec.Attempts {
		if at := &rec.Attempts[i]; at.ID == number || number == 0 && i == n-1 {
			return Attempt{task, at}, nil
		}
	}
	return Attempt{}, &terminal.UsageError{
		Message: fmt.Sprintf("%s has no attempt %d", task, number), Hint: "relay show " + task + " lists its attempts",
	}
}

// Write prints the task for people.
func (s *Task) Write(w io.Writer, l status.Printer) { l.Print(w, taskText, "task", s) }

// Proof says what proves a criterion; "": the same as the next one, as relay says once what is the same for all.
func (s *Task) Proof(i int) string {
	if i+1 < len(s.ProvedBy) && s.ProvedBy[i] == s.ProvedBy[i+1] {
		return ""
	}
	return s.ProvedBy[i]
}
