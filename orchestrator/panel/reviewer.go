package panel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"relay/attempts"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/engine"
	"relay/orchestrator/relayfiles"
	"relay/orchestrator/secrets"
	"relay/orchestrator/verdict"
	"relay/reanchor/git"
	"relay/review"
	"relay/runners"
	"relay/runners/sandbox"
)

// askReviewer asks a reviewer for its opinion, unless it has been asked the same before. Changes in its checkout end
// there.
func (s *Session) askReviewer(ctx context.Context, r engine.Reviewer, about review.Subject) (attempts.Opinion, error) {
	about.Focus, about.Instructions = r.Focus, r.Instructions
	question, err := s.question(ctx, about)
	if err != nil {
		return attempts.Opinion{}, err
	}
	if before, ok := answered(s.Attempt, r, question); ok {
		before.Head = about.Head
		s.tally.note("review", r.Name+" was asked the same before, and its answer counts: nothing has changed since")
		return before, nil
	}
	if unable := closed(s.Attempt, r.Name, s.Now()); unable != nil {
		return attempts.Opinion{}, unable
	}
	s.Emit(engine.Event{Task: s.Attempt.Task.ID, Kind: engine.KindReviewing, Detail: runners.Event{Text: r.Name}})
	repo := s.Repo
	if s.Room != nil {
		own, leave, err := s.Room(ctx)
		if err != nil {
			return attempts.Opinion{}, err
		}
		defer leave()
		repo = own
	}
	back, err := s.Unsteer(ctx, repo, about.Head)
	if err != nil {
		return attempts.Opinion{}, err
	}
	opinion, err := s.ask(ctx, r, repo, about)
	opinion.Question = question
	if s.Room == nil {
		err = errors.Join(err, back())
	}
	if err == nil {
		err = s.keep(opinion)
	}
	return opinion, err
}

// ask has a reviewer read a checkout and say what it thinks of it.
func (s *Session) ask(ctx context.Context, r engine.Reviewer, repo *git.Repo, about review.Subject) (attempts.Opinion, error) {
	p := &reviewer{session: s, who: r, root: repo.Root()}
	v, asked, err := review.Ask(ctx, p, about)
	if errors.Is(err, review.ErrNoVerdict) {
		return attempts.Opinion{}, &UnableError{
			name: r.Name, fault: verdict.NoVerdict(),
			detail: fmt.Sprintf("no verdict, asked %d times; %s; its answers are in %s", asked, p.said(), plaintext.Relative(s.Options.Root, filepath.Join(s.Folder, r.Name))),
		}
	}
	if unable, ok := errors.AsType[*UnableError](err); ok && unable.fault.Output {
		unable.detail += "; what it printed is in " + plaintext.Relative(s.Options.Root, filepath.Join(s.Folder, r.Name))
	}
	return attempts.Opinion{Reviewer: r.Name, CLI: r.CLI, Model: p.model, Head: about.Head, Verdict: v}, err
}

// keep makes an answer durable: it is paid for. The whole epic is not an attempt of a task: its answers go into a
// review that is not over.
func (s *Session) keep(opinion attempts.Opinion) error {
	if s.Attempt.Task.ID != engine.WholeEpic {
		return s.Record(s.Attempt, attempts.ReviewProgress{Opinions: []attempts.Opinion{opinion}})
	}
	opinion.Decision = opinion.Verdict.Decision
	r := &attempts.EpicReview{
		Base: s.Attempt.Base, Head: opinion.Head, Why: "not every reviewer has answered yet", Usage: s.tally.take(),
		Reviewed: attempts.Reviewed{Opinions: []attempts.Opinion{opinion}},
	}
	r = secrets.Clean(secrets.Cleaner{Redactor: s.Options.Secrets}, r)
	return s.Append(attempts.Event{Type: attempts.TypeEpicReviewed, EpicReviewed: r})
}

// reviewer asks one reviewer's CLI. Each question is a fresh process with its own folder.
type reviewer struct {
	session *Session
	who     engine.Reviewer
	root    string
	asked   int
	last    string // answer
	model   string // that answered
}

// said returns text that says what the reviewer answered last.
func (r *reviewer) said() string {
	best := plaintext.MostTelling(plaintext.TellingLines(r.last))
	if best == "" {
		return "it said nothing"
	}
	return "it said: " + best
}

// answerFiles names the files of one answer in a folder.
func answerFiles(folder string) relayfiles.Files {
	p := relayfiles.In(folder)
	p.Brief = filepath.Join(folder, "prompt.md")
	return p
}

// request returns a request to a reviewer's CLI with the files of an answer.
func (s *Session) request(p relayfiles.Files, root string) runners.Request {
	req := p.Request(&s.Options.Limits, s.Options.Review.Wall)
	req.Mark, req.Question, req.Dir, req.Env, req.Role = s.Attempt.Mark()+"/review", true, root, s.Env, sandbox.Reviewer
	return req
}

// Ask puts one prompt to the reviewer's CLI.
func (r *reviewer) Ask(ctx context.Context, prompt []byte) (string, error) {
	s, o, name := r.session, r.session.Options, r.who.Name
	folder := ""
	for there := error(nil); there == nil; { // a killed run may have left answers: their cost is read from them
		r.asked++
		folder = filepath.Join(s.Folder, name, fmt.Sprint(r.asked))
		_, there = os.Lstat(folder)
	}
	p := answerFiles(folder)
	if err := p.Give(o.Dir, []byte(o.Secrets.Except(string(prompt), o.Plan))); err != nil {
		return "", err
	}
	runner, err := o.NewRunner(name, o.Supervisor)
	if err != nil {
		return "", &UnableError{name: name, fault: verdict.ReviewerEnd(runners.CannotStart), detail: err.Error()}
	}
	req := s.request(p, r.root)
	if req.Result, err = relayfiles.Out(p.Result, s.Attempt.Mark(), false); err != nil {
		return "", err
	}
	req.Schema = review.Schema()
	asked := relayfiles.Asked{CLI: r.who.CLI, Dir: r.root}
	if err := p.NoteAsked(o.Dir, asked); err != nil {
		return "", err
	}
	tell := func(sum attempts.Usage) {
		s.Emit(engine.Event{Task: s.Attempt.Task.ID, Kind: engine.KindUsage, Usage: sum, Delivered: true})
	}
	req.Observe = func(e runners.Event) {
		if e.Kind == runners.EventUsage {
			s.tally.spend(name, runners.Report{Usage: e.Usage}, false, tell)
		}
	}
	report, err := runner.Run(ctx, req)
	asked.Model, r.model = report.Model, report.Model
	if err = errors.Join(err, p.NoteAsked(o.Dir, asked), relayfiles.Collect(o.Secrets, req.Result, p.Result)); err != nil {
		return "", err
	}
	s.tally.spend(name, report, true, tell)
	r.last = report.FinalText
	switch report.Outcome {
	case runners.Claimed:
		return report.FinalText, nil
	case runners.NoResult, runners.BadResult:
		return "", nil // asked again, and then no verdict: never an approval
	default:
		return "", unableTo(name, report)
	}
}

// UnableError means that a reviewer has given no opinion. None of it is the agent's fault.
type UnableError struct {
	name    string
	fault   verdict.ReviewerFault
	detail  string
	resetAt time.Time
}

func (e *UnableError) Error() string { return "reviewer " + e.name + ": " + e.detail }

// unableTo reports why a reviewer could not be asked.
func unableTo(name string, r runners.Report) *UnableError {
	fault := verdict.ReviewerEnd(r.Outcome)
	return &UnableError{name: name, fault: fault, detail: plaintext.FirstOf(r.Detail, fault.Words), resetAt: r.ResetAt}
}

// closed reports why a reviewer is not to be asked now, as far as that was known when the attempt began; nil when it may
// be.
func closed(a engine.Attempt, name string, now time.Time) *UnableError {
	c, yes := a.NotBefore(name, now)
	if !yes {
		return nil
	}
	detail := fmt.Sprintf("not asked before %s%s", plaintext.LocalTime(c.Until), plaintext.Because(c.Why))
	return &UnableError{name: name, fault: verdict.ReviewerClosed(c.Outcome, c.Named), detail: detail}
}

// RecordMissing writes into a result who has given no opinion, and what that says of them.
func (a Answers) RecordMissing(f *engine.Result) {
	f.Unable = slices.DeleteFunc(f.Unable, func(u engine.Unable) bool { // in an earlier round
		return slices.ContainsFunc(a.Opinions, func(s attempts.Opinion) bool { return s.Reviewer == u.Name })
	})
	r := f.Receipt.Review
	for _, e := range a.Missing {
		r.Missing = append(r.Missing, attempts.Missing{Reviewer: e.name, Why: e.detail})
		if e.fault.News {
			f.Unable = append(f.Unable, engine.Unable{Name: e.name, Why: e.detail, ResetAt: e.resetAt, Outcome: e.fault.Outcome})
		}
	}
}

// Limits returns the limits that reviewers reached in an earlier round.
func Limits(unable []engine.Unable) []attempts.Cooldown {
	return each.Of(unable, func(u engine.Unable) attempts.Cooldown {
		return attempts.Cooldown{Runner: u.Name, Until: u.ResetAt, Named: true, Why: u.Why}
	})
}

// Absent lists who has given no opinion.
func (a Answers) Absent() []verdict.Absent {
	return each.Of(a.Missing, func(e *UnableError) verdict.Absent { return verdict.Absent{Fault: e.fault, Why: e.Error()} })
}

// UsedBefore is what the reviewers of a killed run have used, by what they have left of their answers below the folder.
func (s *Session) UsedBefore(ctx context.Context) (sum attempts.Usage, err error) {
	walked := filepath.WalkDir(s.Folder, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() || d.Name() != "transcript.jsonl" {
			return err
		}
		folder := filepath.Dir(path)
		used, err := s.usedFor(ctx, folder, filepath.Base(filepath.Dir(folder)))
		sum.Add(used)
		return err
	})
	return sum, walked
}

// usedFor is what a reviewer of a killed run has used for the answer in a folder.
func (s *Session) usedFor(ctx context.Context, folder, reviewer string) (attempts.Usage, error) {
	p := answerFiles(folder)
	sup, _ := p.Ended()
	runner, err := s.Options.NewRunner(reviewer, sup)
	if err != nil {
		return attempts.Usage{}, nil //nolint:nilerr // it is no longer configured: its answers cannot be read
	}
	req := s.request(p, s.Repo.Root())
	req.Ended = true
	report, err := runner.Run(ctx, req)
	if err != nil {
		return attempts.Usage{}, fmt.Errorf("read what %s has used: %w", reviewer, err)
	}
	return engine.UsageOf(report.Usage), nil
}
