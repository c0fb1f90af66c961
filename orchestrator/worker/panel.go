package worker

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/redact"
	"relay/orchestrator/text"
	"relay/review"
)

// review has the panel judge base..head. A reviewer that cannot be asked, or gives no verdict, never approves: unless
// another one has refused, the attempt ends uncharged, with its work kept.
func (c *checkout) review(ctx context.Context, d *panelSession, f *state) error {
	if len(c.o.Review.Reviewers) == 0 || f.Head == d.a.Base {
		f.recordProofs(d.a, nil)
		return nil
	}
	d.usage, d.a.Closed = f.Usage, slices.Concat(d.a.Closed, f.limits())
	s := c.subject(d.a, f)
	said, missing, err := d.askAll(ctx, s)
	f.Usage = d.usage
	f.Notes = append(f.Notes, d.notes...)
	if err != nil {
		return err
	}
	j := review.Judge(opinionsOf(said), scope(d.a, f), c.o.Review.Strictness)
	for i := range said {
		said[i].Decision = j.Votes[i].Decision
	}
	f.Receipt.Review = &attempts.Reviewed{Rounds: f.rounds, Split: j.Split, Opinions: said, Deferred: j.Deferred, Noted: j.Noted}
	f.recordProofs(d.a, said)
	f.lack(said, missing)
	if len(missing) > 0 && (j.Decision == "" || j.Decision == review.Approved) {
		f.unreviewed(missing, s.EarlierFindings)
		return nil
	}
	c.recordVerdict(j, f)
	return nil
}

// askAll asks all reviewers, side by side where each has a checkout of its own. It returns what was said and who has
// said nothing, in the order of the panel. The error is a fault of relay's own machine.
func (d *panelSession) askAll(ctx context.Context, s review.Subject) (said []attempts.Opinion, missing []*reviewerError, err error) {
	panel := d.c.o.Review.Reviewers
	heard, failed := make([]attempts.Opinion, len(panel)), make([]error, len(panel))
	var asking errgroup.Group
	if d.room == nil {
		asking.SetLimit(1)
	}
	for i, r := range panel {
		asking.Go(func() error {
			heard[i], failed[i] = d.askOnce(ctx, r, s)
			return nil
		})
	}
	_ = asking.Wait() // no member of it fails
	for i := range panel {
		var unable *reviewerError
		switch {
		case failed[i] == nil:
			said = append(said, heard[i])
		case errors.As(failed[i], &unable):
			missing = append(missing, unable)
		default:
			return nil, nil, failed[i]
		}
	}
	return said, missing, nil
}

// scope is what findings about an attempt may point at.
func scope(a engine.Attempt, f *state) review.Scope {
	s := review.Scope{Files: f.Receipt.FilesChanged, Found: slices.Concat(f.weakened, f.decisive)}
	for _, criterion := range a.Task.Criteria {
		s.Criteria = append(s.Criteria, criterion.Text)
	}
	return s
}

// recordVerdict writes what the panel decided into the receipt.
func (c *checkout) recordVerdict(j review.Judgement, f *state) {
	f.Receipt.Verdict, f.wanted, f.judged = j.Decision, j.Counted, f.Head
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
	f.Fail(attempts.Review, attempts.QualityGate, why)
}

func (c *checkout) subject(a engine.Attempt, f *state) review.Subject {
	s := review.Subject{
		EpicTitle: c.o.Epic.Title, TaskID: a.Task.ID, TaskTitle: a.Task.Title, Description: a.Task.Description,
		Criteria: scope(a, f).Criteria, Base: a.Base, Head: f.Head, Files: f.Receipt.FilesChanged, DiffStat: f.Receipt.DiffStat,
		EarlierFindings: text.FirstOf(f.earlier, a.EarlierFindings), Answer: f.answered,
	}
	s.DiffStat = redact.Redactor{Redactor: c.o.Secrets}.Stat(s.DiffStat, s.Files)
	for _, w := range f.weakened {
		s.Weakened = append(s.Weakened, w.File+" "+w.Issue)
	}
	for _, d := range f.decisive {
		s.Decisive = append(s.Decisive, d.File+" "+d.Issue)
	}
	s.Checks = results(f.Receipt.Checks)
	return s
}

func (g *workspace) relative(path string) string {
	if rel, err := filepath.Rel(g.o.Root, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}
