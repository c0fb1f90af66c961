// Package panel has reviewers judge a commit: it asks each of them through its CLI, in a checkout where what it changes does not
// count, keeps every answer in the ledger as soon as it is given, and says who could not be asked. Package
// review decides by the answers of a panel; package worker applies that to an attempt.
package panel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"relay/attempts"
	"relay/epic"
	"relay/epic/each"
	"relay/orchestrator/engine"
	"relay/orchestrator/secrets"
	"relay/orchestrator/verdict"
	"relay/reanchor/git"
	"relay/review"
	"relay/runners"
)

// Panel is what all sessions of a run share.
type Panel struct {
	Options *engine.LocalOptions
	Append  func(...attempts.Event) error // to the ledger
	Emit    func(engine.Event)            // what goes on; never waits
	Now     func() time.Time
}

// Session is one question to the panel: about which attempt, and where each reviewer reads.
type Session struct {
	Panel
	Attempt engine.Attempt
	Repo    *git.Repo // of the attempt
	Folder  string    // of the answers of this round
	Env     []string  // of the reviewers
	// Room gives a reviewer a checkout of its own; nil: all read in Repo, one after another.
	Room func(ctx context.Context) (repo *git.Repo, leave func(), err error)
	// Unsteer has a reviewer's checkout configure agent CLIs as the user had them, until back is called.
	Unsteer func(ctx context.Context, repo *git.Repo, head string) (back func() error, err error)

	tally tally
}

// tally is what has come of a question so far besides its answers. Reviewers that are asked side by side add to it.
type tally struct {
	mu      sync.Mutex
	notes   []attempts.Note
	refused []string                  // by the sandbox
	usage   attempts.Usage            // of the attempt: the agent's, and of the answers so far
	unkept  attempts.Usage            // what of usage is in no event yet
	live    map[string]attempts.Usage // of the reviewers that are still at it
}

func (t *tally) note(kind, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.notes = append(t.notes, attempts.Note{Kind: kind, Text: text})
}

// spend takes in what a reviewer has used for an answer, or so far for one that is not over, and tells what the attempt has used. It also
// takes in what the sandbox refused the reviewer.
func (t *tally) spend(name string, r runners.Report, over bool, tell func(sum attempts.Usage)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.live == nil {
		t.live = make(map[string]attempts.Usage)
	}
	if t.live[name] = engine.UsageOf(r.Usage); over {
		delete(t.live, name)
		t.usage.Add(engine.UsageOf(r.Usage))
		t.unkept.Add(engine.UsageOf(r.Usage))
		t.refused = append(t.refused, strings.Fields(r.Exit.Refused)...)
	}
	sum := t.usage
	for _, more := range t.live {
		sum.Add(more)
	}
	tell(sum)
}

// take returns the usage that is in no event yet, for the next one; nil: none.
func (t *tally) take() *attempts.Usage {
	t.mu.Lock()
	defer t.mu.Unlock()
	used := t.unkept
	if t.unkept = (attempts.Usage{}); used == (attempts.Usage{}) {
		return nil
	}
	return &used
}

// Answers is what came of a question.
type Answers struct {
	Opinions []attempts.Opinion // in the order of the panel
	Missing  []*UnableError     // who has given no opinion
	Usage    attempts.Usage     // of the attempt with its reviews
	Notes    []attempts.Note
	Refused  []string // by the sandbox
}

// Ask asks all reviewers, side by side where each has a checkout of its own. used is what the attempt has used so far. The error is
// a fault of relay's own machine; usage and notes are there with an error too.
func (s *Session) Ask(ctx context.Context, about review.Subject, used attempts.Usage) (Answers, error) {
	s.tally.usage = used
	opinions, missing, err := s.askAll(ctx, about)
	return Answers{Opinions: opinions, Missing: missing, Usage: s.tally.usage, Notes: s.tally.notes, Refused: s.tally.refused}, err
}

func (s *Session) askAll(ctx context.Context, about review.Subject) (opinions []attempts.Opinion, missing []*UnableError, err error) {
	panel := s.Options.Review.Reviewers
	answers, failed := make([]attempts.Opinion, len(panel)), make([]error, len(panel))
	var asking errgroup.Group
	if s.Room == nil {
		asking.SetLimit(1)
	}
	for i, r := range panel {
		asking.Go(func() error {
			answers[i], failed[i] = s.askReviewer(ctx, r, about)
			return nil
		})
	}
	_ = asking.Wait() // no member of it fails
	for i := range panel {
		var unable *UnableError
		switch {
		case failed[i] == nil:
			opinions = append(opinions, answers[i])
		case errors.As(failed[i], &unable):
			missing = append(missing, unable)
		default:
			return nil, nil, failed[i]
		}
	}
	return opinions, missing, nil
}

// Judge decides by the answers of a panel, and writes into each what of its decision counts.
func Judge(opinions []attempts.Opinion, scope review.Scope, strictness review.Strictness) review.Judgement {
	j := review.Judge(reviewOpinions(opinions), scope, strictness)
	for i := range opinions {
		opinions[i].Decision = j.Votes[i].Decision
	}
	return j
}

func reviewOpinions(opinions []attempts.Opinion) []review.Opinion {
	return each.Of(opinions, func(s attempts.Opinion) review.Opinion {
		return review.Opinion{Reviewer: s.Reviewer, Verdict: s.Verdict}
	})
}

// Record makes durable what reviewers have said of an attempt under way.
func (p *Panel) Record(a engine.Attempt, h attempts.ReviewProgress) error {
	return p.Append(attempts.Event{
		Type: attempts.TypeReviewed, Task: a.Task.ID, Attempt: a.Number, Reviewed: secrets.Clean(secrets.Cleaner{Redactor: p.Options.Secrets},
			&h),
	})
}

// ReviewEpic asks the panel about the whole epic up to head, and then has clean put right what its members have changed.
func (s *Session) ReviewEpic(
	ctx context.Context, head string, deferred []string, clean func(context.Context, *engine.Result) error,
) (r engine.ReviewedEpic, err error) {
	f := engine.Result{Outcome: verdict.EpicReviewed(), Head: head}
	about, err := s.epicSubject(ctx, head, deferred)
	if err != nil {
		return r, errors.Join(err, clean(ctx, &f))
	}
	answers, asking := s.Ask(ctx, about, attempts.Usage{})
	r.Usage, f.Notes, f.Receipt.Refused = answers.Usage, answers.Notes, answers.Refused
	f.NoteRefused()
	if err := errors.Join(asking, clean(ctx, &f)); err != nil {
		return r, err
	}
	f.Outcome = verdict.EpicReviewed() // relay has restored its files, and reports that
	r.Review = s.epicReview(about, &f, answers)
	r.Review.Usage, r.Result = s.tally.take(), f
	return r, nil
}

// epicSubject returns what the panel is asked about the epic.
func (s *Session) epicSubject(ctx context.Context, head string, deferred []string) (review.Subject, error) {
	plan := s.Options.Epic
	about := review.Subject{EpicTitle: plan.Title, Description: plan.Description, Base: s.Attempt.Base, Head: head, Deferred: deferred}
	names, err := s.Repo.Names(ctx, about.Base, head)
	if err != nil && !errors.As(err, new(*git.TooManyError)) {
		return about, err
	}
	about.Files = each.Of(names, func(n git.Change) string { return n.Path })
	stat, err := s.Repo.Stat(ctx, about.Base, head)
	about.DiffStat = secrets.Cleaner{Redactor: s.Options.Secrets}.Stat(strings.TrimSpace(stat), about.Files)
	for i := range plan.Tasks {
		t := &plan.Tasks[i]
		about.Tasks = append(about.Tasks, t.ID+": "+t.Title)
		about.Criteria = append(about.Criteria, each.Of(t.Criteria, func(c epic.Criterion) string { return t.ID + ": " + c.Text })...)
	}
	return about, err
}

// epicReview returns what the panel came to. A reviewer that could not be asked, or gave no verdict, never approves.
func (s *Session) epicReview(about review.Subject, f *engine.Result, answers Answers) attempts.EpicReview {
	j := Judge(answers.Opinions, review.Scope{Files: about.Files, Criteria: about.Criteria, Whole: true}, s.Options.Review.Strictness)
	f.Receipt.Review = &attempts.Reviewed{Split: j.Split, Opinions: answers.Opinions, Deferred: j.Deferred, Noted: j.Noted}
	answers.RecordMissing(f)
	r := &attempts.EpicReview{
		Base: about.Base, Head: about.Head, Decision: j.Decision, Summary: j.Summary, Findings: j.Counted, Reviewed: *f.Receipt.Review,
	}
	if len(answers.Missing) > 0 && (j.Decision == "" || j.Decision == review.Approved) {
		f.Rule(nil, verdict.NotReviewed(answers.Absent()))
		r.Decision, r.Findings, r.Why = "", nil, f.Receipt.ErrorSummary
	}
	return secrets.Clean(secrets.Cleaner{Redactor: s.Options.Secrets}, *r)
}

// question names what a reviewer is asked about a subject: the same for the same trees, whatever the commits are called.
func (s *Session) question(ctx context.Context, about review.Subject) (string, error) {
	out, err := s.Repo.Run(ctx, git.Call{Args: []string{"rev-parse", about.Base + "^{tree}", about.Head + "^{tree}"}})
	if err != nil {
		return "", err
	}
	about.Base, about.Head, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
	sum := sha256.Sum256(review.Prompt(about))
	return hex.EncodeToString(sum[:]), nil
}

// answered finds what a reviewer said when it was asked the same, in an earlier attempt at the task or in this one before
// its run was killed. Only the ledger counts: an agent can write files.
func answered(a engine.Attempt, r engine.Reviewer, question string) (attempts.Opinion, bool) {
	var opinions []attempts.Opinion
	for _, earlier := range a.BriefInput.Record.Attempts {
		if earlier.Receipt.Review != nil {
			opinions = append(opinions, earlier.Receipt.Review.Opinions...)
		}
	}
	if a.ReviewProgress != nil {
		opinions = append(opinions, a.ReviewProgress.Opinions...)
	}
	at := slices.IndexFunc(opinions, func(s attempts.Opinion) bool {
		return s.Reviewer == r.Name && s.Question == question
	})
	if at < 0 {
		return attempts.Opinion{}, false
	}
	return opinions[at], true
}

// RecordProofs writes into a result how each acceptance criterion of the attempt was proved.
func RecordProofs(f *engine.Result, a engine.Attempt, opinions []attempts.Opinion) {
	if len(a.Task.Criteria) == 0 {
		return
	}
	criteria := each.Of(a.Task.Criteria, func(c epic.Criterion) review.Criterion { return review.Criterion{Text: c.Text, Check: c.Check} })
	if f.Receipt.Review == nil {
		f.Receipt.Review = &attempts.Reviewed{}
	}
	f.Receipt.Review.Proofs = review.Table(criteria, CheckResults(f.Receipt.Checks), reviewOpinions(opinions), f.Head)
}

// CheckResults lists the runs of acceptance commands on the work, leaving out those before it.
func CheckResults(runs []attempts.CheckRun) []review.CheckResult {
	var list []review.CheckResult
	for _, run := range runs {
		if run.Phase != attempts.PhaseBaseline {
			fixed := run.Phase == attempts.PhaseTask && run.Attribution == attempts.FixedByTask
			list = append(list, review.CheckResult{Name: run.Name, Exit: run.ExitCode, Log: run.Log, LogSHA256: run.SHA256, Fixed: fixed})
		}
	}
	return list
}
