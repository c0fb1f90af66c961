package worker

import (
	"context"
	"path/filepath"
	"slices"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/panel"
	"relay/orchestrator/redact"
	"relay/orchestrator/text"
	"relay/review"
)

// panel returns what all sessions of reviewers share.
func (g *workspace) panel() panel.Panel {
	return panel.Panel{Options: g.o, Append: g.ledger.Append, Emit: g.emit, Now: g.now}
}

// panelSession returns a session in which reviewers read in the checkout itself, one after another.
func (c *checkout) panelSession(a engine.Attempt, folder string) *panel.Session {
	return &panel.Session{Panel: c.panel(), Attempt: a, Repo: c.repo, Folder: folder, Env: turnsIn(c).agentEnv(a, ""), Unsteer: c.useTrusted}
}

// review has the panel judge base..head. A reviewer that cannot be asked, or gives no verdict, never approves: unless
// another one has refused, the attempt ends uncharged, with its work kept.
func (c verifier) review(ctx context.Context, d *panel.Session, f *state) error {
	if len(c.o.Review.Reviewers) == 0 || f.Head == d.Attempt.Base {
		panel.RecordProofs(&f.Result, d.Attempt, nil)
		return nil
	}
	d.Attempt.Closed = slices.Concat(d.Attempt.Closed, panel.Limits(f.Unable))
	s := c.reviewSubject(d.Attempt, f)
	answers, err := d.Ask(ctx, s, f.Usage)
	f.Usage = answers.Usage
	f.Notes = append(f.Notes, answers.Notes...)
	if err != nil {
		return err
	}
	j := panel.Judge(answers.Opinions, scope(d.Attempt, f), c.o.Review.Strictness)
	f.Receipt.Review = &attempts.Reviewed{Rounds: f.rounds, Split: j.Split, Opinions: answers.Opinions, Deferred: j.Deferred, Noted: j.Noted}
	panel.RecordProofs(&f.Result, d.Attempt, answers.Opinions)
	answers.RecordMissing(&f.Result)
	if len(answers.Missing) > 0 && (j.Decision == "" || j.Decision == review.Approved) {
		answers.FailUnreviewed(&f.Result)
		f.Receipt.Review.Earlier, f.Receipt.Review.Answer = s.EarlierFindings, f.answered
		return nil
	}
	f.recordVerdict(j)
	return nil
}

// scope is what findings about an attempt may point at.
func scope(a engine.Attempt, f *state) review.Scope {
	s := review.Scope{Files: f.Receipt.FilesChanged, Found: slices.Concat(f.Weakened, f.Decisive)}
	for _, criterion := range a.Task.Criteria {
		s.Criteria = append(s.Criteria, criterion.Text)
	}
	return s
}

// recordVerdict writes what the panel decided into the receipt.
func (f *state) recordVerdict(j review.Judgement) {
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
		why += ": " + j.Counted[0].InShort()
	} else if j.Summary != "" {
		why += ": " + j.Summary
	}
	f.Fail(attempts.Review, attempts.QualityGate, why)
}

// reviewSubject is what reviewers are asked about an attempt.
func (c verifier) reviewSubject(a engine.Attempt, f *state) review.Subject {
	s := review.Subject{
		EpicTitle: c.o.Epic.Title, TaskID: a.Task.ID, TaskTitle: a.Task.Title, Description: a.Task.Description,
		Criteria: scope(a, f).Criteria, Base: a.Base, Head: f.Head, Files: f.Receipt.FilesChanged, DiffStat: f.Receipt.DiffStat,
		EarlierFindings: text.FirstOf(f.earlier, a.EarlierFindings), Answer: f.answered,
	}
	s.DiffStat = redact.Redactor{Redactor: c.o.Secrets}.Stat(s.DiffStat, s.Files)
	for _, w := range f.Weakened {
		s.Weakened = append(s.Weakened, w.File+" "+w.Issue)
	}
	for _, d := range f.Decisive {
		s.Decisive = append(s.Decisive, d.File+" "+d.Issue)
	}
	s.Checks = panel.CheckResults(f.Receipt.Checks)
	return s
}

func (g *workspace) relative(path string) string {
	if rel, err := filepath.Rel(g.o.Root, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}
