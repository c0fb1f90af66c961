// Package panel has reviewers judge a commit: it asks each of them through its CLI, in a checkout where what it changes does not
// count, keeps every answer in the ledger as soon as it is given, and says who could not be asked. What a panel decides by
// its answers, package review says; what that means for an attempt, package worker.
package panel

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/redact"
	"relay/reanchor"
	"relay/review"
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
	Repo    *reanchor.Git // of the attempt
	Folder  string        // of the answers of this round
	Env     []string      // of the reviewers
	// Room gives a reviewer a checkout of its own; nil: all read in Repo, one after another.
	Room func(ctx context.Context) (repo *reanchor.Git, leave func(), err error)
	// Unsteer has a reviewer's checkout configure agent CLIs as the user had them, until back is called.
	Unsteer func(ctx context.Context, repo *reanchor.Git, head string) (back func() error, err error)

	mu    sync.Mutex
	usage attempts.Usage            // of the attempt: the agent's, and of the answers so far
	live  map[string]attempts.Usage // of the reviewers that are still at it
	notes []attempts.Note

	unkept attempts.Usage // what of usage is in no event yet
}

// Answers is what came of a question.
type Answers struct {
	Opinions []attempts.Opinion // in the order of the panel
	Missing  []*UnableError     // who has given no opinion
	Usage    attempts.Usage     // of the attempt with its reviews
	Notes    []attempts.Note
}

// Ask asks all reviewers, side by side where each has a checkout of its own. used is what the attempt has used so far. The error is
// a fault of relay's own machine; usage and notes are there with an error too.
func (s *Session) Ask(ctx context.Context, about review.Subject, used attempts.Usage) (Answers, error) {
	s.usage = used
	opinions, missing, err := s.askAll(ctx, about)
	return Answers{Opinions: opinions, Missing: missing, Usage: s.usage, Notes: s.notes}, err
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
	var list []review.Opinion
	for _, s := range opinions {
		list = append(list, review.Opinion{Reviewer: s.Reviewer, Verdict: s.Verdict})
	}
	return list
}

// Record makes durable what reviewers have said of an attempt under way.
func (p *Panel) Record(a engine.Attempt, h attempts.ReviewProgress) error {
	return p.Append(attempts.Event{
		Type: attempts.TypeReviewed, Task: a.Task.ID, Attempt: a.Number, Reviewed: redact.Redactor{Redactor: p.Options.Secrets}.ReviewProgress(h),
	})
}

// relative names a file as a user sees it, from the root of the repository.
func (p *Panel) relative(path string) string {
	if rel, err := filepath.Rel(p.Options.Root, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}
