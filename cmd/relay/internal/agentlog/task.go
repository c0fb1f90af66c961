package agentlog

import (
	"fmt"
	"io"
	"strings"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/epic"
	"relay/epic/plaintext"
	"relay/orchestrator/relayfiles"
	"relay/orchestrator/report"
	"relay/orchestrator/view"
	"relay/review"
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

	person bool // only a person can do it
	Logged bool `json:"-"` // relay logs has something to show of the last one
}

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
		ID: t.ID, Title: t.Title, Description: t.Description, Status: l.StatusOf(g, t.ID), Files: t.Files, person: t.Kind == epic.KindPerson,
		Gate: rec.Gate, Looks: rec.Looks(), Questions: rec.OpenQuestions(), Answers: rec.Answers,
		Attempts: append([]attempts.Attempt{}, rec.Attempts...),
	}
	if i, ok := g.Index(t.ID); ok {
		s.RootCauses = attempts.AllRootCauses(l, g)[i]
		for _, d := range g.Deps(i) {
			s.DependsOn = append(s.DependsOn, g.ID(d))
		}
	}
	for _, c := range t.Criteria {
		s.Criteria = append(s.Criteria, c.Text)
		s.ProvedBy = append(s.ProvedBy, report.CriterionText(c, t.Checks))
	}
	for _, c := range t.Checks {
		s.Checks = append(s.Checks, c.Run)
	}
	return s
}

// PickAttempt returns the attempt of a number, or with 0 the last one. It fails when there is none.
func PickAttempt(task string, rec *attempts.TaskRecord, number int) (*attempts.Attempt, error) {
	if len(rec.Attempts) == 0 {
		return nil, &terminal.Hinted{Err: fmt.Errorf("%s has not been tried yet", task), Hint: "relay status shows what it waits for"}
	}
	if number == 0 {
		return &rec.Attempts[len(rec.Attempts)-1], nil
	}
	for i := range rec.Attempts {
		if rec.Attempts[i].ID == number {
			return &rec.Attempts[i], nil
		}
	}
	return nil, &terminal.UsageError{
		Message: fmt.Sprintf("%s has no attempt %d", task, number), Hint: "relay show " + task + " lists its attempts",
	}
}

// Write prints the task for people.
func (s *Task) Write(w io.Writer, l status.Printer) {
	state := strings.ReplaceAll(string(s.Status), "_", " ")
	if l.Dead && s.Status == attempts.InProgress {
		state = status.InterruptedText
	}
	fmt.Fprintf(w, "%s  %s  %s\n", s.ID, state, plaintext.Fit(s.Title, 200))
	s.writeGate(w, l)
	if len(s.Looks) > 0 {
		fmt.Fprintf(w, "  needs a look:\n  relay approve %s takes it as it is, relay retry %s has it done again\n", s.ID+l.Flag, s.ID+l.Flag)
	}
	if len(s.RootCauses) > 0 && s.Status == attempts.BlockedOn {
		fmt.Fprintf(w, "  blocked by %s (gated)\n", plaintext.Some(s.RootCauses, 8))
	}
	if s.Description != "" {
		fmt.Fprintf(w, "\n%s\n", terminal.WrapLines(s.Description, l.Width, "  "))
	}
	s.writeQuestions(w, l)
	writeList(w, "files", s.Files, l, nil)
	writeList(w, "depends on", s.DependsOn, l, nil)
	writeList(w, "acceptance criteria", s.Criteria, l, func(i int) string {
		if i+1 < len(s.ProvedBy) && s.ProvedBy[i] == s.ProvedBy[i+1] {
			return "" // what is the same for all is said once
		}
		return s.ProvedBy[i]
	})
	writeList(w, "checks", s.Checks, l, nil)
	for i := range s.Attempts {
		fmt.Fprintln(w)
		status.WriteAttempt(w, &s.Attempts[i], l, "")
		if cause := s.Attempts[i].Cause; cause != "" {
			fmt.Fprintln(w, "  ruled by: "+plaintext.Fit(cause, 60))
		}
	}
	s.writeProgress(w, l)
	if len(s.Attempts) > 0 {
		fmt.Fprintf(w, "\nmore:  relay show %s --brief, --log, --diff, --checks or --review\n", s.ID+l.Flag)
		if s.Logged {
			fmt.Fprintf(w, "       relay logs %s\n", s.ID+l.Flag)
		}
	}
}

// writeGate prints why the task is gated, and how it is tried again. The gate of a task for a person says itself what completes it.
func (s *Task) writeGate(w io.Writer, l status.Printer) {
	if s.Gate != nil {
		gate := fmt.Sprintf("gated %s: %s", status.FormatTime(s.Gate.At, l.Now), s.Gate.Text())
		fmt.Fprintln(w, terminal.Wrap(gate, l.Width, "  "))
		if !s.person && s.Gate.Reason != attempts.AwaitsAnswer {
			fmt.Fprintf(w, "  relay ungate %s to try again\n", s.ID+l.Flag)
		}
	}
}

// writeQuestions prints the open questions, and what a person said.
func (s *Task) writeQuestions(w io.Writer, l status.Printer) {
	writeList(w, "open questions", s.Questions, l, nil)
	if len(s.Questions) > 0 {
		fmt.Fprintf(w, "  %s\n", view.Answering(s.ID).Type+l.Flag)
	}
	for _, a := range s.Answers {
		fmt.Fprintln(w, terminal.Wrap("you answered "+status.FormatTime(a.At, l.Now)+": "+a.Text, l.Width, "  "))
	}
}

// writeProgress prints what the agent has said of its progress.
func (s *Task) writeProgress(w io.Writer, l status.Printer) {
	for _, said := range s.Progress {
		done := ""
		if said.Percent > 0 {
			done = fmt.Sprintf(" (%d%%)", said.Percent)
		}
		fmt.Fprintln(w, terminal.Wrap(status.FormatTime(said.At, l.Now)+" it said: "+said.Message+done, l.Width, "  "))
	}
}

func writeList(w io.Writer, label string, items []string, l status.Printer, more func(i int) string) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s:\n", label)
	for i, item := range items {
		fmt.Fprintln(w, "  - "+terminal.Hang(item, l.Width, "    "))
		if more == nil {
			continue
		}
		if words := more(i); words != "" {
			fmt.Fprintln(w, terminal.Wrap(words, l.Width, "    "))
		}
	}
}

// review prints what reviewers said of the attempt, and how each acceptance criterion was proved.
func (a *TaskAttempt) review() error {
	at := a.Attempt
	r := at.Receipt.Review
	if r == nil {
		return a.without("attempt %d of %s was not reviewed, and its task has no acceptance criteria")
	}
	w, l := a.App.Out, cli.Printer(a.App, a.Project)
	fmt.Fprintf(w, "attempt %d of %s at %.12s%s\n", at.ID, a.Task, at.Head, verdictText(at.Receipt.Verdict, r))
	for _, s := range r.Opinions {
		fmt.Fprintf(w, "  %-16s %s\n", plaintext.Fit(s.Reviewer, 40), s.Decision)
		if s.Verdict.Summary != "" {
			fmt.Fprintln(w, terminal.Wrap(s.Verdict.Summary, l.Width, "    "))
		}
	}
	for _, m := range r.Missing {
		fmt.Fprintf(w, "  %-16s no opinion\n%s\n", plaintext.Fit(m.Reviewer, 40), terminal.Wrap(m.Why, l.Width, "    "))
	}
	if at.Receipt.Findings != "" {
		fmt.Fprintf(w, "\nwhat must change:\n")
		for msg := range strings.SplitSeq(plaintext.Escape(strings.TrimSpace(at.Receipt.Findings)), "\n") {
			fmt.Fprintln(w, "  "+plaintext.Fit(msg, max(l.Width-2, 20)))
		}
	}
	writeFindings(l, w, "deferred, because it is minor", r.Deferred)
	writeFindings(l, w, "noted, because it is not about this change", r.Noted)
	writeProofs(l, w, r.Proofs, report.Covering(&at.Receipt))
	return nil
}

func verdictText(d review.Decision, r *attempts.Reviewed) string {
	msg := ""
	if d != "" {
		msg = ": " + string(d)
	}
	if r.Rounds > 0 {
		msg += ", after " + plaintext.Count(r.Rounds, "round") + " of fixes"
	}
	if r.Split {
		msg += "; the reviewers disagree"
	}
	return msg
}

func writeFindings(l status.Printer, w io.Writer, title string, found []review.Raised) {
	if len(found) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s:\n", title)
	for _, f := range found {
		where := plaintext.Fit(f.File, 100)
		if f.Line > 0 {
			where += fmt.Sprintf(":%d", f.Line)
		}
		msg := strings.TrimSpace(fmt.Sprintf("%s %s", f.Severity, where)) + ": " + f.Issue
		if len(f.By) > 0 {
			msg += " (" + strings.Join(f.By, ", ") + ")"
		}
		fmt.Fprintln(w, "  - "+terminal.Hang(msg, l.Width, "    "))
	}
}

// writeProofs prints the table of acceptance criteria.
func writeProofs(l status.Printer, w io.Writer, table []review.Proof, covering []string) {
	if len(table) == 0 {
		return
	}
	fmt.Fprint(w, "\nacceptance criteria:\n")
	for i, p := range table {
		text := terminal.Hang(p.Criterion, l.Width, "     ")
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("%3d. ", i+1)+text, " "))
		fmt.Fprintln(w, terminal.Wrap(report.ProofText(p, covering), l.Width, "     "))
	}
}
