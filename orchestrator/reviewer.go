package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"relay/attempts"
	"relay/review"
	"relay/runners"
)

// review asks the configured reviewer to judge base..head. A reviewer that cannot be asked, or gives no verdict,
// never approves: the attempt ends uncharged, with its work kept.
func (c *checkout) review(ctx context.Context, a Assignment, p place, f *Finding) error {
	if c.o.Review.Reviewer == "" || f.Head == a.Base {
		return nil
	}
	c.tell(Heard{Task: a.Task.ID, Kind: UpdateReviewing, Event: runners.Event{Text: c.o.Review.Reviewer}})
	r := &reviewer{c: c, a: a, p: p}
	j, err := review.Ask(ctx, r, c.subject(a, f), c.o.Review.Strictness)
	f.Usage.InputTokens += r.usage.InputTokens
	f.Usage.OutputTokens += r.usage.OutputTokens
	f.Usage.CostUSD += r.usage.CostUSD
	var unable *reviewerError
	switch {
	case errors.As(err, &unable):
		f.fail(unable.outcome, unable.category, unable.Error())
		f.Limited, f.ResetAt, f.RunnerOut = unable.name, unable.resetAt, unable.out
		return nil
	case errors.Is(err, review.ErrNoVerdict):
		f.fail(attempts.Environment, attempts.QualityGate, fmt.Sprintf("%s gave no verdict, asked %d times; its answers are in %s", c.o.Review.Reviewer, j.Asked, c.relative(p.review)))
		return nil
	case err != nil:
		return err
	}
	c.verdict(j, f)
	return nil
}

// verdict writes what the reviewer decided into the receipt.
func (c *checkout) verdict(j review.Judgement, f *Finding) {
	f.Receipt.Verdict = j.Decision
	if j.Decision == review.Approved {
		return
	}
	f.Receipt.Findings = review.Markdown(j.Counted)
	why := "the reviewer wants changes"
	if j.Decision == review.Blocked {
		f.Gate = attempts.QualityGateBlocked
		why = "the reviewer blocks this change"
	}
	if len(j.Counted) > 0 {
		why += ": " + j.Counted[0].Issue
	} else if j.Summary != "" {
		why += ": " + j.Summary
	}
	f.fail(attempts.Review, attempts.QualityGate, why)
}

func (c *checkout) subject(a Assignment, f *Finding) review.Subject {
	s := review.Subject{
		EpicTitle: c.o.Epic.Title, TaskID: a.Task.ID, TaskTitle: a.Task.Title, Description: a.Task.Description,
		Base: a.Base, Head: f.Head, Files: f.Receipt.FilesChanged, DiffStat: f.Receipt.DiffStat, EarlierFindings: a.EarlierFindings,
	}
	for _, criterion := range a.Task.Criteria {
		s.Criteria = append(s.Criteria, criterion.Text)
	}
	for _, run := range f.Receipt.Checks {
		s.Checks = append(s.Checks, review.CheckResult{Name: run.Name, Exit: run.ExitCode})
	}
	return s
}

func (g *ground) relative(path string) string {
	if rel, err := filepath.Rel(g.o.Root, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}

// reviewer asks an agent CLI for a verdict. Each question is a fresh process with its own folder.
type reviewer struct {
	c     *checkout
	a     Assignment
	p     place
	asked int
	usage runners.Usage
}

// Ask puts one prompt to the reviewer's CLI.
func (r *reviewer) Ask(ctx context.Context, prompt []byte) (string, error) {
	r.asked++
	folder := filepath.Join(r.p.review, fmt.Sprint(r.asked))
	in := func(name string) string { return filepath.Join(folder, name) }
	if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(in("prompt.md"), prompt, 0o600)); err != nil {
		return "", err
	}
	o := r.c.o
	runner, err := o.NewRunner(o.Review.Reviewer, o.Supervisor)
	if err != nil {
		return "", &reviewerError{name: o.Review.Reviewer, outcome: attempts.Environment, category: attempts.CLIError, detail: err.Error(), out: true}
	}
	report, err := runner.Run(ctx, runners.Request{
		Mark: r.a.Mark() + "/review", Question: true, Dir: r.c.repo.Root(), Prompt: in("prompt.md"), Result: in("result.json"), Transcript: in("transcript.jsonl"), Stderr: in("stderr.log"), End: in("end.json"),
		Schema: review.Schema(), Model: o.Review.Model, Env: r.c.env(r.a, ""),
		Limits: runners.Limits{Wall: o.Review.Wall, Silence: o.Limits.Silence, Linger: o.Limits.Linger, StopGrace: o.Limits.StopGrace, TranscriptCap: o.Limits.OutputCap},
	})
	if err != nil {
		return "", err
	}
	r.usage.InputTokens += report.Usage.InputTokens
	r.usage.OutputTokens += report.Usage.OutputTokens
	r.usage.CostUSD += report.Usage.CostUSD
	switch report.Outcome {
	case runners.Claimed:
		return report.FinalText, nil
	case runners.NoResult, runners.BadResult:
		return "", nil // asked once more, and then no verdict: never an approval
	}
	return "", unableTo(o.Review.Reviewer, report)
}

// unableTo says why a reviewer could not be asked. None of it is the agent's fault.
func unableTo(name string, r runners.Report) *reviewerError {
	row := outcomeOf(r.Outcome)
	e := &reviewerError{name, attempts.Environment, row.category, firstOf(r.Detail, row.words), r.ResetAt, row.runnerOut}
	switch row.outcome {
	case attempts.Stopped, attempts.Quota, attempts.Provider:
		e.outcome = row.outcome
	}
	return e
}

// reviewerError means that the reviewer could not be asked.
type reviewerError struct {
	name     string
	outcome  attempts.Outcome
	category attempts.Category
	detail   string
	resetAt  time.Time
	out      bool // it cannot work at all in this run
}

func (e *reviewerError) Error() string { return "reviewer " + e.name + ": " + e.detail }
