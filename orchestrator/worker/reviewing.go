package worker

import (
	"context"
	"slices"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/changes"
	"relay/orchestrator/collect"
	"relay/orchestrator/panel"
	"relay/orchestrator/secrets"
	"relay/orchestrator/verdict"
	"relay/reanchor/git"
	"relay/review"
)

// room gives a reviewer a clean checkout of a commit, until leave is called.
type room func(ctx context.Context, head string) (repo *git.Repo, leave func(), err error)

// reviewing asks the reviewers about the work.
type reviewing struct {
	t     *attempt
	rooms room // in which they read a commit, each in its own; nil: they read in the checkout
}

// review has the panel judge base..head.
func (rv *reviewing) review(ctx context.Context) error {
	t := rv.t
	f := &t.f
	t.ev.Panel = &verdict.Panel{}
	if len(t.run.o.Review.Reviewers) == 0 || f.Head == t.a.Base && !t.ev.DoneAlready() {
		panel.RecordProofs(&f.Result, t.a, nil)
		return nil
	}
	t.ev.Guard = nil // reviewers run code, too
	s := t.c.panelSession(t.a, f.Folder(t.files.Review))
	s.Attempt.Closed = slices.Concat(t.a.Closed, panel.Limits(f.Unable))
	if rv.rooms != nil {
		s.Room = func(ctx context.Context) (*git.Repo, func(), error) { return rv.rooms(ctx, f.Head) }
	}
	about := rv.subject()
	answers, err := s.Ask(ctx, about, f.Usage)
	f.Usage = answers.Usage
	f.Notes = append(f.Notes, answers.Notes...)
	f.Receipt.Refused = append(f.Receipt.Refused, answers.Refused...)
	if err != nil {
		return err
	}
	j := panel.Judge(answers.Opinions, rv.scope(), t.run.o.Review.Strictness)
	f.Receipt.Review = &attempts.Reviewed{Rounds: f.Rounds, Split: j.Split, Opinions: answers.Opinions, Deferred: j.Deferred, Noted: j.Noted}
	panel.RecordProofs(&f.Result, t.a, answers.Opinions)
	answers.RecordMissing(&f.Result)
	if len(answers.Missing) > 0 && (j.Decision == "" || j.Decision == review.Approved) {
		p := t.ev.Panel
		if p.Missing, p.Seconded = answers.Absent(), j.Decision == review.Approved; p.Replaced() {
			rv.recordDecision(j)
			p.Approved = false
			return nil
		}
		f.Receipt.Review.Earlier, f.Receipt.Review.Answer = about.EarlierFindings, f.Answered
		return nil
	}
	rv.recordDecision(j)
	return nil
}

// recordDecision writes what the panel decided into receipt and evidence.
func (rv *reviewing) recordDecision(j review.Judgement) {
	t := rv.t
	f, p := &t.f, t.ev.Panel
	f.Receipt.Verdict, f.Wanted, f.Judged = j.Decision, j.Counted, f.Head
	if p.Approved = j.Decision == review.Approved; p.Approved {
		return
	}
	f.Receipt.Findings = review.Markdown(j.Counted)
	p.Blocked, p.Wants, p.First = j.Decision == review.Blocked, j.Decision != review.Blocked, j.Summary
	if len(j.Counted) > 0 {
		p.First = j.Counted[0].InShort()
	}
	if p.Blocked || f.Rounds >= t.run.o.Review.Rounds {
		return
	}
	again := collect.Repeated(f.Before, f.Wanted)
	if p.MayMend = again == ""; !p.MayMend {
		f.Note("review", "the same finding twice, so no further round: "+again)
	}
}

// scope is what findings about the attempt may point at.
func (rv *reviewing) scope() review.Scope {
	t := rv.t
	s := review.Scope{Files: t.f.Receipt.FilesChanged, Found: slices.Concat(t.f.Weakened, t.f.Steering)}
	for _, criterion := range t.a.Task.Criteria {
		s.Criteria = append(s.Criteria, criterion.Text)
	}
	return s
}

// subject is what reviewers are asked about the attempt.
func (rv *reviewing) subject() review.Subject {
	t := rv.t
	f, o := &t.f, t.run.o
	s := review.Subject{
		EpicTitle: o.Epic.Title, TaskID: t.a.Task.ID, TaskTitle: t.a.Task.Title, Description: t.a.Task.Description,
		Criteria: rv.scope().Criteria, Base: t.a.Base, Head: f.Head, Files: f.Receipt.FilesChanged, DiffStat: f.Receipt.DiffStat,
		EarlierFindings: plaintext.FirstOf(f.Earlier, t.a.EarlierFindings), Answer: f.Answered, DoneAlready: t.ev.DoneAlready(),
	}
	s.DiffStat = secrets.Cleaner{Redactor: o.Secrets}.Stat(s.DiffStat, s.Files)
	for _, w := range f.Weakened {
		s.Weakened = append(s.Weakened, w.File+" "+w.Issue)
	}
	s.Weakened = append(s.Weakened, verdict.Questions(&t.ev)...)
	for _, w := range f.Steering {
		s.Decisive = append(s.Decisive, w.File+" "+w.Issue)
	}
	for _, p := range f.Found.Old.Changed {
		if !changes.IsTest(p) {
			s.Decisive = append(s.Decisive, p+" was changed, and the task does not name it under files")
		}
	}
	s.Checks = panel.CheckResults(f.Receipt.Checks)
	return s
}
